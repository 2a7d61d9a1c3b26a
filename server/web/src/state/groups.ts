// Calls that belong together (brief 6.6, 6.7), found from the entries alone.

import type { Call, TimelineItem } from "./types.ts";

/**
 * Calls with no other entry between them ran together. null stands for an entry that draws
 * nothing, and ends a group like any other.
 */
export function group(drawn: readonly (TimelineItem | null)[]): TimelineItem[] {
  const items: TimelineItem[] = [];
  let run: Call[] = [];
  const flush = () => {
    const [first] = run;
    if (first && run.length > 1) {
      // Results come in call order, so only the first of them tells how long its call took.
      const calls = run.map((call, i) => (i === 0 ? call : { ...call, duration: null }));
      items.push({ ...base(first, ":group"), is: "group", calls });
    } else if (first) {
      items.push(first);
    }
    run = [];
  };
  for (const item of drawn) {
    if (item?.is === "call") {
      run.push(item);
      continue;
    }
    flush();
    if (item) {
      items.push(item);
    }
  }
  flush();
  return items;
}

/** Finished good calls of serial steps with nothing drawn between them become one line. */
export function fold(items: readonly TimelineItem[]): TimelineItem[] {
  const folded: TimelineItem[] = [];
  let run: TimelineItem[] = [];
  const flush = () => {
    const calls = run.flatMap((item) => callsOf(item));
    const [first] = calls;
    if (first && run.length > 1) {
      folded.push({ ...base(first, ":folded"), is: "folded", calls });
    } else {
      folded.push(...run);
    }
    run = [];
  };
  for (const item of items) {
    if (folds(item)) {
      run.push(item);
      continue;
    }
    flush();
    folded.push(item);
  }
  flush();
  return folded;
}

function callsOf(item: TimelineItem): readonly Call[] {
  return item.is === "call" ? [item] : item.is === "group" ? item.calls : [];
}

/** A diff of the last step stays in view; so does whatever runs, waits or failed. */
function folds(item: TimelineItem): boolean {
  const calls = callsOf(item);
  return calls.length > 0 && calls.every((c) => c.state === "done" && !(c.lastStep && c.display.renderer === "diff"));
}

function base(first: Call, suffix: string) {
  return { key: first.key + suffix, run: first.run, seq: first.seq, entry: null, compacted: first.compacted };
}
