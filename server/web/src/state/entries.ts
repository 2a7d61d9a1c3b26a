// Entries of the open session: put by id, wholesale, from either side and in any order
// (brief 12.4); and the leaf, which they move (12.8).

import { Field, ItemType, Kind, parseEntry, Source, type Entry, type FunctionCall, type FunctionCallOutput, type InboxItem } from "../protocol.gen.ts";
import type { Draft, OpenSession } from "./draft.ts";
import { textOf } from "./item.ts";
import { bufferKey, callKey } from "./keys.ts";
import type { CallPoint } from "./types.ts";

/** The payload of a call or of its output, else null. */
export function callOf(entry: Entry): FunctionCall | FunctionCallOutput | null {
  if (entry.kind !== Kind.Item) {
    return null;
  }
  const payload = entry.payload as { type?: unknown; call_id?: unknown };
  const isCall = payload.type === ItemType.FunctionCall || payload.type === ItemType.FunctionCallOutput;
  return isCall && typeof payload.call_id === "string" ? (payload as FunctionCall | FunctionCallOutput) : null;
}

/**
 * The call that an output ends: the nearest one before it in its run with that id. Points
 * are of one (run, call id), in log order.
 */
function callBefore(points: readonly CallPoint[], outputSeq: number): CallPoint | undefined {
  return points.findLast((p) => !p.output && p.seq < outputSeq);
}

/** The output that ends a call, if it has come. */
export function outputAfter(points: readonly CallPoint[], callSeq: number): CallPoint | undefined {
  const next = points.find((p) => p.seq > callSeq);
  return next?.output ? next : undefined;
}

/** Puts one entry as it came from a frame or a page; false when it is no entry at all. */
export function putEntry(d: Draft, open: OpenSession, raw: unknown): boolean {
  const parsed = parseEntry(raw);
  if (parsed.is === "malformed") {
    d.fault();
    return false;
  }
  const { entry } = parsed;
  if (open.s.entries.has(entry.id)) {
    return true; // an event never changes, so neither does its entry
  }
  // Where an entry stands is derived here; what a side said of it would make two states of one.
  open.entries.set(entry.id, entry.on_path && !entry.compacted ? entry : { ...entry, on_path: true, compacted: false });
  close(open, entry.id, Field.Text);
  close(open, entry.id, Field.Reasoning);
  pair(open, entry);
  arrive(open, entry);
  return true;
}

/** Whether the entry of a text that waits no more is there already. */
export function hasCome(open: OpenSession, item: InboxItem): boolean {
  for (const entry of open.s.entries.values()) {
    if (entry.source.type === Source.User && entry.created_at >= item.queued_at && saidIn(entry) === item.text) {
      return true;
    }
  }
  return false;
}

function saidIn(entry: Entry): string {
  return textOf((entry.payload as { content?: unknown }).content).text;
}

/** A text that waited has come: its entry takes the place of its chip. */
function arrive(open: OpenSession, entry: Entry): void {
  if (open.s.leaving.size === 0 || entry.source.type !== Source.User) {
    return;
  }
  const text = saidIn(entry);
  const came = open.s.inbox.find((i) => open.s.leaving.has(i.input_id) && i.text === text);
  if (came) {
    open.s.inbox = open.s.inbox.filter((i) => i !== came);
    open.s.leaving = new Set([...open.s.leaving].filter((id) => id !== came.input_id));
  }
}

/** Drops what was streamed of a part, and whatever of it still comes. */
function close(open: OpenSession, entry: string, field: string): void {
  const key = bufferKey(entry, field);
  open.closed.add(key);
  if (open.s.buffers.has(key)) {
    open.buffers.delete(key);
  }
}

function pair(open: OpenSession, entry: Entry): void {
  const call = callOf(entry);
  if (!call) {
    return;
  }
  const key = callKey(entry.run_id, call.call_id);
  const output = call.type === ItemType.FunctionCallOutput;
  const points = [...(open.s.calls.get(key) ?? []), { id: entry.id, seq: entry.seq, output }];
  points.sort((a, b) => a.seq - b.seq);
  open.calls.set(key, points);
  const ended = output ? callBefore(points, entry.seq)?.id : outputAfter(points, entry.seq) && entry.id;
  if (ended) {
    close(open, ended, Field.ToolOutput);
  }
}

/** Moves the leaf to an entry that came, and on along those that came before it. */
export function rollTo(open: OpenSession, entry: Entry): void {
  if (entry.parent_id === open.s.leaf && entry.seq > open.s.leafSeq) {
    rollLeaf(open, entry.seq < open.s.logSeq ? open.s.entries.values() : [entry]);
  }
}

/** Moves the leaf along entries that stand behind the position where it was said. */
export function rollLeaf(open: OpenSession, entries: Iterable<Entry>): void {
  const { s } = open;
  if (s.leaf === null) {
    return;
  }
  const later = [...entries].filter((e) => e.seq > s.leafSeq).sort((a, b) => a.seq - b.seq);
  for (const entry of later) {
    if (entry.parent_id === s.leaf) {
      s.leaf = entry.id;
    }
  }
}
