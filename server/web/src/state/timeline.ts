// The timeline of the open session. What entries make is built when entries change; what
// streams is laid over it, so a delta costs no more than the text it adds. An item that did
// not change stays the same object.

import { Field, ItemType, Kind, SessionStatus, Source, type Entry } from "../protocol.gen.ts";
import { callOf, outputAfter } from "./entries.ts";
import { footOf } from "./foot.ts";
import { fold, group } from "./groups.ts";
import { callItem, itemOf } from "./item.ts";
import { bufferKey, callKey } from "./keys.ts";
import { activePath, attemptOf, childrenOf } from "./path.ts";
import type { AppState, Buffer, Call, RunState, SessionState, StandingCall, Timeline, TimelineItem } from "./types.ts";

const nothing: Timeline = { items: [], earlier: "start", liveRun: "" };

/** A selector with a memory: one for each place that shows a timeline. */
export function timelineSelector(): (state: AppState) => Timeline {
  let base: Base | null = null;
  return (state) => {
    const { open } = state;
    if (!open) {
      base = null;
      return nothing;
    }
    const next: Inputs = {
      entries: open.entries, calls: open.calls, leaf: open.leaf,
      standing: state.standing.get(open.id)?.calls, going: goingRun(state, open.id), over: overRuns(state, open.id),
    };
    if (!base || !same(base.inputs, next)) {
      base = build(next, base?.items ?? []);
    }
    const earlier = open.earlier;
    return { items: live(base, state, open), earlier, liveRun: liveRun(state, open.id) };
  };
}

interface Inputs {
  entries: SessionState["entries"];
  calls: SessionState["calls"];
  leaf: string | null;
  standing: readonly StandingCall[] | undefined;
  /** the run that is at work, "" when none is */
  going: string;
  /** the run that has no terminal frame yet, "" when every run is over */
  over: string;
}

interface Base {
  inputs: Inputs;
  items: readonly TimelineItem[];
}

function same(a: Inputs, b: Inputs): boolean {
  return (Object.keys(a) as (keyof Inputs)[]).every((k) => a[k] === b[k]);
}

/** The run of a session that has no terminal frame yet; "" = none. */
export function liveRun(state: AppState, session: string): string {
  let newest: RunState | null = null;
  for (const run of state.runs.values()) {
    if (run.session === session && run.phase !== "ended" && (!newest || run.cursor >= newest.cursor)) {
      newest = run;
    }
  }
  const told = state.rows.get(session)?.live_run_id ?? "";
  return newest?.id ?? (state.runs.get(told)?.phase === "ended" ? "" : told);
}

function overRuns(state: AppState, session: string): string {
  return state.rows.has(session) || state.list === "ready" ? liveRun(state, session) : "?";
}

function goingRun(state: AppState, session: string): string {
  return state.rows.get(session)?.status === SessionStatus.Resumable ? "" : liveRun(state, session);
}

function build(inputs: Inputs, before: readonly TimelineItem[]): Base {
  const path = activePath({ entries: inputs.entries, leaf: inputs.leaf ?? "" });
  const children = childrenOf(inputs.entries);
  const upto = Math.max(-1, ...path.filter((e) => e.kind === Kind.Compaction).map((e) => (e.payload as { upto_seq: number }).upto_seq));
  const items: TimelineItem[] = [];
  const runs = runsOf(path);
  for (const [i, run] of runs.entries()) {
    items.push(...runItems(run, inputs, children, upto, i === runs.length - 1));
  }
  return { inputs, items: keep(before, items) };
}

/** The path cut where the run changes. */
function runsOf(path: readonly Entry[]): Entry[][] {
  const runs: Entry[][] = [];
  for (const entry of path) {
    const last = runs.at(-1);
    if (last && last[0]?.run_id === entry.run_id) {
      last.push(entry);
    } else {
      runs.push([entry]);
    }
  }
  return runs;
}

function runItems(entries: readonly Entry[], inputs: Inputs, children: Map<string, Entry[]>, upto: number, newest: boolean): TimelineItem[] {
  const run = entries[0]?.run_id ?? "";
  const lastAnswer = entries.findLast((e) => isAnswer(e))?.seq ?? 0;
  const drawn: (TimelineItem | null)[] = [];
  let texts = 0;
  for (const entry of entries) {
    const compacted = entry.seq <= upto;
    if (callOf(entry)?.type === ItemType.FunctionCall) {
      drawn.push(call(entry, inputs, compacted, entry.seq > lastAnswer));
      continue;
    }
    const item = itemOf(entry, compacted);
    if (item?.is === "user") {
      drawn.push({ ...item, injected: texts > 0, attempt: attemptOf(entry, children.get(entry.parent_id) ?? []) });
      texts++;
    } else {
      drawn.push(item);
      texts += isAnswer(entry) ? 1 : 0; // a text behind an answer came in between
    }
  }
  const items = fold(group(drawn));
  // Of a run that was answered anew only the text stands on the path: the newer one tells how it went.
  const answered = newest || entries.some((e) => e.source.type !== Source.User);
  const over = answered && run !== "" && run !== inputs.over && inputs.over !== "?";
  const last = entries[entries.length - 1];
  if (over && last) {
    items.push({
      is: "foot", key: `${run}:foot`, run, seq: last.seq, entry: null, compacted: last.seq <= upto, foot: footOf(entries, children),
    });
  }
  return items;
}

function call(entry: Entry, inputs: Inputs, compacted: boolean, lastStep: boolean): Call {
  const id = callOf(entry)?.call_id ?? "";
  const output = outputAfter(inputs.calls.get(callKey(entry.run_id, id)) ?? [], entry.seq);
  return callItem(entry, {
    compacted, lastStep,
    result: (output && inputs.entries.get(output.id)) ?? null,
    standing: inputs.standing?.find((c) => c.run_id === entry.run_id && c.tool_call_id === id) ?? null,
    going: entry.run_id !== "" && entry.run_id === inputs.going,
  });
}

function isAnswer(entry: Entry): boolean {
  const payload = entry.payload as { type?: unknown; role?: unknown };
  return entry.kind === Kind.Item && payload.type === ItemType.Message && payload.role === "assistant";
}

/** What streams, over what stands: texts to come, output so far, holes. */
function live(base: Base, state: AppState, open: SessionState): readonly TimelineItem[] {
  const run = state.runs.get(liveRun(state, open.id)) ?? [...state.runs.values()].find((r) => r.session === open.id);
  if (!run && open.buffers.size === 0) {
    return base.items;
  }
  const items = open.buffers.size === 0 ? [...base.items] : base.items.map((item) => withOutput(item, open.buffers));
  const hole = run?.hole;
  if (run && hole) {
    const at = items.findIndex((i) => i.seq > hole.lastGood && i.run === run.id);
    const item = extra(`${run.id}:hole`, run.id, hole.lastGood);
    items.splice(at < 0 ? items.length : at, 0, { ...item, is: "hole", hole });
  }
  for (const buffer of [...open.buffers.values()].sort((a, b) => a.seq - b.seq)) {
    const item = provisional(buffer);
    if (item) {
      items.push(item);
    }
  }
  if (run && run.phase !== "ended") {
    if (run.cursor > 0 && run.cursor < run.upto) {
      const at = items.findIndex((i) => i.run === run.id);
      const item = extra(`${run.id}:replaying`, run.id, run.cursor);
      items.splice(at < 0 ? items.length : at, 0, { ...item, is: "replaying", at: run.cursor, upto: run.upto });
    }
    if (run.diagnostic) {
      const { code, message, count } = run.diagnostic;
      items.push({ ...extra(`${run.id}:diagnostic`, run.id, run.cursor), is: "diagnostic", code, message, count });
    }
  }
  return items;
}

function extra(key: string, run: string, seq: number) {
  return { key, run, seq, entry: null, compacted: false };
}

function provisional({ entry, field, run, seq, text }: Buffer): TimelineItem | null {
  const base = { key: entry, run, seq, entry: null, compacted: false };
  switch (field) {
    case Field.Text:
      return { ...base, is: "prose", text, streaming: true, incomplete: false, parts: [] };
    case Field.Reasoning:
      return { ...base, is: "reasoning", text, streaming: true };
    default:
      return null; // tool_output stands in its call; an unknown field is shown nowhere
  }
}

function withOutput(item: TimelineItem, buffers: SessionState["buffers"]): TimelineItem {
  if (item.is === "call") {
    const buffer = item.result ? undefined : buffers.get(bufferKey(item.key, Field.ToolOutput));
    return buffer ? { ...item, output: buffer.text } : item;
  }
  if (item.is === "group") {
    const calls = item.calls.map((c) => withOutput(c, buffers) as Call);
    return calls.some((c, i) => c !== item.calls[i]) ? { ...item, calls } : item;
  }
  return item;
}

/** Items that are what they were stay the objects they were. */
function keep(before: readonly TimelineItem[], items: TimelineItem[]): TimelineItem[] {
  const old = new Map(before.map((item) => [item.key, item]));
  return items.map((item) => {
    const was = old.get(item.key);
    return was && equal(was, item) ? was : item;
  });
}

/** Entries and what hangs on them never change, so these are compared by identity. */
const wholes = new Set(["entry", "result", "display", "payload", "parts"]);

function equal(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) {
    return true;
  }
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    return false;
  }
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(x);
  return keys.length === Object.keys(y).length &&
    keys.every((k) => Object.is(x[k], y[k]) || (!wholes.has(k) && equal(x[k], y[k])) || (k === "parts" && none(x[k]) && none(y[k])));
}

function none(parts: unknown): boolean {
  return Array.isArray(parts) && parts.length === 0;
}
