// Frames of the socket, applied to a draft. The numbers in brackets are the points of the
// page's reducer contract (brief 12).

import {
  Code, Phase, ServerType, parseFrame,
  type RunDelta, type RunEntry, type RunGap, type RunStarted, type ServerFrame,
} from "../protocol.gen.ts";
import type { Draft, OpenSession } from "./draft.ts";
import { putEntry, rollTo } from "./entries.ts";
import { bufferKey } from "./keys.ts";
import { sessionFrame } from "./rows.ts";
import { sayStanding } from "./standing.ts";
import type { RunEnd, RunState } from "./types.ts";

type Writable = { -readonly [K in keyof RunState]: RunState[K] };

/** Applies one frame as it came from the socket. */
export function applyFrame(d: Draft, text: string): void {
  const parsed = parseFrame(text);
  switch (parsed.is) {
    case "malformed":
      d.s.malformedFrames++;
      return;
    case "unknown": {
      d.s.unknownFrames++;
      const payload = parsed.frame.payload as { run_id?: unknown } | null;
      if (parsed.frame.seq !== undefined && typeof payload?.run_id === "string") {
        accept(d, payload.run_id, parsed.frame.seq);
      }
      return;
    }
    case "known":
      applyKnown(d, parsed.frame);
  }
}

function applyKnown(d: Draft, frame: ServerFrame): void {
  switch (frame.type) {
    case ServerType.AuthOK:
      if (d.s.me && d.s.me.logId !== frame.payload.log_id) {
        restored(d);
      }
      d.s.me = { owner: frame.payload.owner, allow: frame.payload.allow, logId: frame.payload.log_id };
      return;
    case ServerType.RunStarted:
      return started(d, frame.payload, frame.seq);
    case ServerType.RunEntry:
      return entry(d, frame.payload, frame.seq);
    case ServerType.RunGap:
      return gap(d, frame.payload);
    case ServerType.RunCompaction: {
      const row = d.row(frame.payload.session_id);
      if (row) {
        row.compacting = frame.payload.phase === Phase.Started;
      }
      return;
    }
    case ServerType.RunError:
      if (frame.seq === undefined) {
        return refused(d, frame.payload.run_id ?? "", frame.payload.code);
      }
      return terminal(d, frame.payload.run_id ?? "", frame.seq, {
        how: "error", code: frame.payload.code, message: frame.payload.message,
      });
    case ServerType.RunOutput:
      return terminal(d, frame.payload.run_id, frame.seq, { how: "output", text: frame.payload.final_output });
    case ServerType.RunCancelled:
      return terminal(d, frame.payload.run_id, frame.seq, {
        how: "cancelled", reason: frame.payload.reason, message: frame.payload.message ?? "",
      });
    case ServerType.RunDelta:
    case ServerType.RunAgentStart:
    case ServerType.RunInterrupted:
    case ServerType.RunDiagnostic:
      return within(d, frame);
    default:
      return sessionFrame(d, frame);
  }
}

/** Frames that only ever stand inside a run. */
function within(d: Draft, frame: ServerFrame & { payload: { run_id: string } }): void {
  const run = accept(d, frame.payload.run_id, frame.seq);
  if (!run) {
    return;
  }
  switch (frame.type) {
    case ServerType.RunDelta:
      run.diagnostic = null;
      return delta(d, run, frame.payload, frame.seq ?? run.cursor);
    case ServerType.RunAgentStart:
      run.agent = frame.payload.agent_name;
      return;
    case ServerType.RunInterrupted: {
      run.phase = "parked";
      const calls = frame.payload.pending.map((call) => ({ ...call, run_id: run.id }));
      sayStanding(d, run.session, run.cursor, calls);
      return news(d, run.session, run.cursor);
    }
    case ServerType.RunDiagnostic: {
      const { type, code = "", message = "" } = frame.payload;
      const count = run.diagnostic?.type === type ? run.diagnostic.count + 1 : 1;
      run.diagnostic = { type, code, message, count };
    }
  }
}

/** Takes a frame of a run by its number, or says that it is not to be applied (12.2, 12.7). */
function accept(d: Draft, id: string, seq: number | undefined): Writable | null {
  const run = d.run(id);
  if (!run) {
    return null; // it ended, and was forgotten
  }
  if (seq === undefined) {
    return run;
  }
  if (run.awaitBelow > 0) {
    if (seq >= run.awaitBelow && seq > run.discarded) {
      run.discarded = seq;
      return null;
    }
    run.awaitBelow = 0;
  }
  if (seq <= run.cursor) {
    return null;
  }
  if (run.phase === "ended") {
    d.fault();
    return null;
  }
  run.cursor = seq;
  if (run.hole?.by === "stream" && seq >= run.hole.next - 1) {
    run.hole = null;
  }
  return run;
}

function newRun(id: string, session: string): RunState {
  return {
    id, session, agent: "", phase: "running", cursor: 0, upto: 0, awaitBelow: 0, discarded: 0, hole: null, end: null, endedAt: 0,
    diagnostic: null,
  };
}

function started(d: Draft, payload: RunStarted, seq: number | undefined): void {
  const { run_id, session_id } = payload;
  if (!d.s.runs.has(run_id)) {
    const upto = [...(d.session(session_id)?.s.entries.values() ?? [])].findLast((e) => e.run_id === run_id)?.seq ?? 0;
    d.runs.set(run_id, { ...newRun(run_id, session_id), upto });
  }
  const run = accept(d, run_id, seq);
  if (!run || run.phase === "ended") {
    return;
  }
  if (seq !== undefined) {
    run.phase = "running";
    sayStanding(d, session_id, seq, []);
  }
}

function entry(d: Draft, payload: RunEntry, seq: number | undefined): void {
  const { run_id, session_id } = payload;
  const position = seq ?? payload.entry.seq;
  const open = d.session(session_id);
  if (open && putEntry(d, open, payload.entry)) {
    open.s.logSeq = Math.max(open.s.logSeq, payload.entry.seq);
    rollTo(open, payload.entry); // also of a frame that is discarded: an entry is true wherever it comes from
  }
  if (run_id !== "") {
    const run = accept(d, run_id, seq);
    if (!run) {
      return;
    }
    run.diagnostic = null;
  }
  news(d, session_id, position);
}

function delta(d: Draft, run: RunState, payload: RunDelta, seq: number): void {
  const open = d.session(run.session);
  const key = bufferKey(payload.entry_id, payload.field);
  if (!open || open.s.closed.has(key)) {
    return;
  }
  append(open, key, run, payload, seq);
}

function append(open: OpenSession, key: string, run: RunState, payload: RunDelta, seq: number): void {
  const buffer = open.s.buffers.get(key) ?? {
    entry: payload.entry_id, field: payload.field, run: run.id, seq, text: "", tail: "",
  };
  const behind = run.hole !== null && run.hole.by !== "stream" && seq >= run.hole.next;
  open.buffers.set(key, behind
    ? { ...buffer, tail: buffer.tail + payload.delta }
    : { ...buffer, text: buffer.text + payload.delta });
}

function terminal(d: Draft, id: string, seq: number | undefined, end: RunEnd): void {
  const run = accept(d, id, seq);
  if (!run || run.phase === "ended") {
    return;
  }
  run.phase = "ended";
  run.end = end;
  run.endedAt = d.s.tick;
  run.diagnostic = null;
  sayStanding(d, run.session, run.cursor, []);
  news(d, run.session, run.cursor);
  if (d.s.open?.id === run.session) {
    d.want({ want: "page", session: run.session }); // what it left in buffers is dropped only then (12.9)
  } else {
    d.runs.delete(id);
  }
}

/** A hole in the stream (12.7). */
function gap(d: Draft, { run_id, last_good, next, dropped }: RunGap): void {
  const run = d.run(run_id);
  if (!run) {
    return;
  }
  if (next > 0 && run.cursor >= next - 1 && run.awaitBelow === 0) {
    return; // what was dropped was had before
  }
  if (d.s.open?.id !== run.session) {
    // Nothing is kept of this run but whether it waits for somebody.
    run.cursor = Math.max(run.cursor, next - 1);
    run.awaitBelow = 0;
    d.want({ want: "session", session: run.session });
    return;
  }
  d.s.caughtUp = false;
  if (next === 0) {
    run.cursor = Math.max(run.cursor, last_good);
    run.awaitBelow = 0;
    d.want({ want: "subscribe", run: run_id, from: run.cursor });
    return;
  }
  if (run.hole && run.hole.by !== "stream") {
    // The log is being read: it is read further, and what came behind the hole is in it too.
    run.hole = { ...run.hole, next, by: "log", dropped: next - run.hole.lastGood - 1 };
    dropTails(d, run);
    run.cursor = next - 1;
    d.want({ want: "frames", run: run_id, from: run.hole.lastGood, next });
    return;
  }
  const from = run.cursor; // at last_good, or behind it where this page had more than was sent here
  if (run.hole && last_good <= run.cursor) {
    // The stream that was asked for has the same hole: the log has no holes.
    run.hole = { lastGood: from, next, dropped: next - from - 1, by: "log" };
    run.cursor = next - 1;
    run.awaitBelow = 0;
    d.want({ want: "frames", run: run_id, from, next });
    return;
  }
  run.hole = { lastGood: from, next, dropped, by: "stream" };
  run.cursor = from;
  run.awaitBelow = next;
  run.discarded = 0;
  d.want({ want: "subscribe", run: run_id, from });
}

function dropTails(d: Draft, run: RunState): void {
  const open = d.session(run.session);
  for (const [key, buffer] of open?.s.buffers ?? []) {
    if (buffer.run === run.id && buffer.tail !== "") {
      open?.buffers.set(key, { ...buffer, tail: "" });
    }
  }
}

/** The log between the edges of a hole was read as frames: they go where they belong. */
export function fillHole(d: Draft, id: string, from: number, next: number, frames: readonly string[]): void {
  const run = d.run(id);
  if (!run?.hole || run.hole.lastGood !== from || run.hole.next !== next) {
    return; // another hole is there by now, with a reading of its own
  }
  const open = d.session(run.session);
  for (const text of frames) {
    const parsed = parseFrame(text);
    if (!open || parsed.is !== "known" || (parsed.frame.seq ?? from + 1) <= from) {
      continue;
    }
    const { frame } = parsed;
    if (frame.type === ServerType.RunEntry) {
      putEntry(d, open, frame.payload.entry);
      rollTo(open, frame.payload.entry);
    } else if (frame.type === ServerType.RunDelta && (frame.seq ?? from) < next) {
      const key = bufferKey(frame.payload.entry_id, frame.payload.field);
      if (!open.s.closed.has(key)) {
        append(open, key, run, frame.payload, frame.seq ?? from + 1);
      }
    }
  }
  run.hole = null;
  d.want({ want: "page", session: run.session }); // for the entries; and what an ended run left is dropped
  for (const [key, buffer] of open?.s.buffers ?? []) {
    if (buffer.run === id && buffer.tail !== "") {
      open?.buffers.set(key, { ...buffer, text: buffer.text + buffer.tail, tail: "" });
    }
  }
}

/** The server's file is another one now, a backup as a rule: nothing that was read holds. */
function restored(d: Draft): void {
  d.rows.clear();
  d.runs.clear();
  d.standing.clear();
  d.s.list = "none";
  if (d.s.open) {
    d.want({ want: "reopen", session: d.s.open.id });
  }
}

/** A subscription was refused. */
function refused(d: Draft, id: string, code: string): void {
  const run = d.run(id);
  if (!run) {
    return;
  }
  run.awaitBelow = 0;
  run.hole = null;
  if (d.s.open?.id !== run.session) {
    return;
  }
  if (code === Code.BadFrame) {
    // The cursor is from another life of the log: nothing read from it holds.
    d.want({ want: "reopen", session: run.session });
  } else if (code === Code.StreamError) {
    d.want({ want: "subscribe", run: id, from: run.cursor, late: true });
  } else {
    const row = d.s.rows.get(run.session);
    if (code === Code.RunNotFound && row && row.live_run_id !== id) {
      d.runs.delete(id); // of another log, too
    }
    d.want({ want: "page", session: run.session });
  }
}

function news(d: Draft, session: string, seq: number): void {
  const row = d.row(session);
  if (row) {
    row.newsSeq = Math.max(row.newsSeq, seq);
    row.last_seq = Math.max(row.last_seq, seq);
  }
}

/** Asks for a run's stream from its start: the open session needs all of it. */
export function fromTheStart(d: Draft, id: string): void {
  const run = d.run(id);
  if (!run) {
    return;
  }
  run.awaitBelow = run.cursor > 0 ? run.cursor + 1 : 0;
  run.discarded = 0;
  run.cursor = 0;
  run.hole = null;
  d.want({ want: "subscribe", run: id, from: 0 });
}

