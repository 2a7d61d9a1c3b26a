// The items of a timeline, by run: each hangs on one rail.

import type { TimelineItem } from "../../state/types.ts";

export interface RunItems {
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
  return runs;
}

/** Whether an item is something new to a person, not a mark of the page. */
export function isNews(item: TimelineItem): boolean {
  return item.is !== "hole" && item.is !== "replaying" && item.is !== "diagnostic" && item.is !== "foot";
}
