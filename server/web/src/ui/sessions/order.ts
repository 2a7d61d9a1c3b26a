// Where a session stands in the list while somebody looks at it.

import type { Groups } from "../../state/select.ts";
import type { SessionRow } from "../../state/types.ts";
import { titleOf } from "../words.ts";

/** When a person last wrote to it. */
export function asked(row: SessionRow): string {
  return row.last_input_at ?? row.created_at;
}

/** The order of the screen, as ids. */
export function sequence(groups: Groups): string[] {
  return [...groups.needs, ...groups.pinned, ...groups.recent].map((row) => row.id);
}

/**
 * Keeps the rows where they were while somebody points at the list: what is said of them
 * is new, where they stand is not. What is gone goes, what is new waits at its end.
 */
export function held(before: Groups, now: Groups): Groups {
  const rows = new Map([...now.needs, ...now.pinned, ...now.recent].map((row) => [row.id, row]));
  const take = (group: readonly SessionRow[]): SessionRow[] =>
    group.flatMap(({ id }) => {
      const row = rows.get(id);
      rows.delete(id);
      return row ? [row] : [];
    });
  const kept = { needs: take(before.needs), pinned: take(before.pinned), recent: take(before.recent) };
  return { ...kept, recent: [...kept.recent, ...rows.values()] };
}

/** Whether a name or an id holds what is looked for, letter case aside. */
export function matches(row: SessionRow, query: string): boolean {
  return (titleOf(row) + "\n" + row.id).toLocaleLowerCase().includes(query.trim().toLocaleLowerCase());
}
