// The rows of the log inspector: events, and folds of chunks.

import { EventType, type LogEvent } from "../../protocol.gen.ts";

export type LogRow =
  | { is: "event"; event: LogEvent }
  /** a run of chunks of one type, as one row */
  | { is: "fold"; type: string; from: number; to: number; events: readonly LogEvent[] };

/** Events kept at once: those that are read now push out the ones at the other end. */
export const mostRows = 2_000;
const chunkTypes: readonly string[] = [EventType.AssistantChunk, EventType.ReasoningChunk, EventType.ToolProgress];

/** Whether an event is a streamed piece. */
function isChunk(event: LogEvent): boolean {
  return chunkTypes.includes(event.type);
}

/** Rows of events; with fold, two or more chunks of a type in a row become one. */
export function logRows(events: readonly LogEvent[], filter: string, fold: boolean): LogRow[] {
  const wanted = filter.trim().toLowerCase();
  const rows: LogRow[] = [];
  for (const event of events) {
    if (wanted !== "" && !`${event.type} ${JSON.stringify(event.payload)}`.toLowerCase().includes(wanted)) {
      continue;
    }
    const last = rows[rows.length - 1];
    if (fold && isChunk(event)) {
      if (last?.is === "fold" && last.type === event.type) {
        rows[rows.length - 1] = { ...last, to: event.seq, events: [...last.events, event] };
        continue;
      }
      rows.push({ is: "fold", type: event.type, from: event.seq, to: event.seq, events: [event] });
    } else {
      rows.push({ is: "event", event });
    }
  }
  return rows.map((row) => (row.is === "fold" && row.events.length === 1 && row.events[0] ? { is: "event", event: row.events[0] } : row));
}

/** Both, by seq, without holes: what does not join is dropped for what was just read. */
export function merged(before: readonly LogEvent[], read: readonly LogEvent[]): readonly LogEvent[] {
  const first = before[0]?.seq ?? 0;
  const last = before[before.length - 1]?.seq ?? -1;
  const from = read[0]?.seq ?? 0;
  const to = read[read.length - 1]?.seq ?? 0;
  if (before.length === 0 || from > last + 1 || to < first - 1) {
    return read;
  }
  const after = read.filter((event) => event.seq > last);
  if (after.length > 0) {
    return [...before, ...after].slice(-mostRows);
  }
  return [...read.filter((event) => event.seq < first), ...before].slice(0, mostRows);
}
