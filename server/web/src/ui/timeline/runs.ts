// The items of a timeline, by run: each hangs on one rail.

import { activePath } from "../../state/path.ts";
import type { Call, SessionState, TimelineItem } from "../../state/types.ts";

type Own = Omit<RunItems, "key">;

export interface RunItems {
  /** the same while items come in above or below */
  key: string;
  /** "" = outside a run */
  run: string;
  items: readonly TimelineItem[];
}

export function runsOf(items: readonly TimelineItem[]): RunItems[] {
  const runs: { run: string; items: TimelineItem[] }[] = [];
  for (const item of items) {
    const last = runs[runs.length - 1];
    if (last && last.run === item.run) {
      last.items.push(item);
    } else {
      runs.push({ run: item.run, items: [item] });
    }
  }
  return keyed(runs.reduce(joined, []));
}

/** A run that stands here more than once is counted from the newest: older ones may yet come in. */
function keyed(runs: readonly Own[]): RunItems[] {
  const times = new Map<string, number>();
  return runs.toReversed().map((own) => {
    const n = (times.get(own.run) ?? 0) + 1;
    times.set(own.run, n);
    return { ...own, key: `run ${own.run} ${n}` };
  }).reverse();
}

/**
 * A text that another run answers (regenerated, or gone on with) stands on the rail of that
 * run: its own has nothing left on this path but the text, and a foot that counts nothing.
 */
function joined(done: Own[], next: Own): Own[] {
  const before = done[done.length - 1];
  const onlyText = before?.items.every((item) => item.is === "user" || item.is === "foot") === true;
  if (!before || !onlyText || next.run === "" || before.run === "" || next.items[0]?.is === "user") {
    return [...done, next];
  }
  const texts = before.items.filter((item) => item.is === "user");
  return [...done.slice(0, -1), { run: next.run, items: [...texts, ...next.items] }];
}

/** Whether an item is something new to a person, not a mark of the page. */
export function isNews(item: TimelineItem): boolean {
  return item.is !== "hole" && item.is !== "replaying" && item.is !== "diagnostic" && item.is !== "foot";
}

/** Whether an item shows an entry: its own, one of its calls, or what a call gave. */
export function holds(item: TimelineItem, entry: string): boolean {
  const ofCall = (call: Call): boolean => call.key === entry || call.result?.id === entry;
  switch (item.is) {
    case "call":
      return ofCall(item);
    case "group":
    case "folded":
      return item.calls.some(ofCall);
    default:
      return item.key === entry;
  }
}

/**
 * The entry that is marked where an address names this one: an answer that only calls is
 * drawn by its calls, the first of them stands for it.
 */
export function drawnFor(open: Pick<SessionState, "entries" | "leaf"> | null, items: readonly TimelineItem[], entry: string): string {
  const isDrawn = (id: string): boolean => items.some((item) => holds(item, id));
  if (!open?.entries.has(entry) || isDrawn(entry)) {
    return entry;
  }
  const path = activePath(open);
  const at = path.findIndex((e) => e.id === entry);
  const behind = at < 0 ? [] : path.slice(at + 1);
  return behind.find((e) => e.run_id === path[at]?.run_id && isDrawn(e.id))?.id ?? entry;
}
