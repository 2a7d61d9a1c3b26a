// Which group a session stands in, and where: no output of an agent ever moves a row.

import { SessionStatus } from "../../protocol.gen.ts";
import type { SessionRow } from "../../state/types.ts";

export interface Groups {
  need: readonly SessionRow[];
  pinned: readonly SessionRow[];
  recent: readonly SessionRow[];
}

/** Newest text by a person first, else newest creation. A session is in one group only. */
export function grouped(rows: Iterable<SessionRow>): Groups {
  const need: SessionRow[] = [];
  const pinned: SessionRow[] = [];
  const recent: SessionRow[] = [];
  const sorted = [...rows].sort((a, b) => Date.parse(asked(b)) - Date.parse(asked(a)) || (a.id < b.id ? -1 : 1));
  for (const row of sorted) {
    if (row.status === SessionStatus.RequiresAction) {
      need.push(row);
    } else if (row.pinned) {
      pinned.push(row);
    } else {
      recent.push(row);
    }
  }
  return { need, pinned, recent };
}

/** When a person last wrote to it. */
export function asked(row: SessionRow): string {
  return row.last_input_at ?? row.created_at;
}

/** The order of the screen, as ids. */
export function sequence(groups: Groups): string[] {
  return [...groups.need, ...groups.pinned, ...groups.recent].map((row) => row.id);
}

/**
 * Keeps the rows where they were while somebody points at the list: what is said of them
 * is new, where they stand is not. What is gone goes, what is new waits at its end.
 */
export function held(before: Groups, now: Groups): Groups {
  const rows = new Map([...now.need, ...now.pinned, ...now.recent].map((row) => [row.id, row]));
  const take = (group: readonly SessionRow[]): SessionRow[] =>
    group.flatMap(({ id }) => {
      const row = rows.get(id);
      rows.delete(id);
      return row ? [row] : [];
    });
  const kept = { need: take(before.need), pinned: take(before.pinned), recent: take(before.recent) };
  return { ...kept, recent: [...kept.recent, ...rows.values()] };
}

/** Whether a title holds what is looked for, letter case aside. */
export function matches(row: SessionRow, query: string): boolean {
  return (row.title + "\n" + row.id).toLocaleLowerCase().includes(query.trim().toLocaleLowerCase());
}
