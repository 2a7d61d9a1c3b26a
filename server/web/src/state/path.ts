// The active path through a session's entries, and what stands beside it (brief 12.5).

import type { Entry } from "../protocol.gen.ts";
import type { Attempt, SessionState } from "./types.ts";

/** The entries from the oldest one read up to the leaf, each the parent of the next. */
export function activePath(open: Pick<SessionState, "entries" | "leaf">): Entry[] {
  const path: Entry[] = [];
  let at = open.leaf ? open.entries.get(open.leaf) : undefined;
  while (at) {
    path.push(at);
    const parent = open.entries.get(at.parent_id);
    at = parent && parent.seq < at.seq ? parent : undefined; // a parent is older: no circles
  }
  return path.reverse();
}

/** Entries by their parent, oldest first. */
export function childrenOf(entries: ReadonlyMap<string, Entry>): Map<string, Entry[]> {
  const children = new Map<string, Entry[]>();
  for (const entry of entries.values()) {
    const list = children.get(entry.parent_id);
    if (list) {
      list.push(entry);
    } else {
      children.set(entry.parent_id, [entry]);
    }
  }
  for (const list of children.values()) {
    list.sort((a, b) => a.seq - b.seq);
  }
  return children;
}

/** Where an entry stands among those with the same parent; null = it is the only one. */
export function attemptOf(entry: Entry, siblings: readonly Entry[]): Attempt | null {
  if (siblings.length < 2) {
    return null;
  }
  return { index: siblings.findIndex((e) => e.id === entry.id), ids: siblings.map((e) => e.id) };
}

/** The newest entry that descends from one: where a switch to it leads. */
export function newestBelow(id: string, entries: ReadonlyMap<string, Entry>): string {
  const children = childrenOf(entries);
  let newest = entries.get(id);
  const open = newest ? [newest] : [];
  for (let entry = open.pop(); entry; entry = open.pop()) {
    if (!newest || entry.seq > newest.seq) {
      newest = entry;
    }
    open.push(...(children.get(entry.id) ?? []));
  }
  return newest?.id ?? id;
}
