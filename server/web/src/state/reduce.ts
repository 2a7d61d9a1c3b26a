// The reducer: (state, inputs) → state. No clock, no DOM, no request in it. What it wants
// read it says in `wants`; the driver reads it and brings it back as an input.

import type { Entry } from "../protocol.gen.ts";
import { Draft, initialSession, initialState, type OpenSession } from "./draft.ts";
import { putEntry, rollLeaf } from "./entries.ts";
import { applyFrame, fillHole, fromTheStart } from "./frames.ts";
import { forget, putRow, readList } from "./rows.ts";
import { readApprovals } from "./standing.ts";
import type { AppState, Input, PageRead, RunState } from "./types.ts";

export { initialState };

/** Applies inputs in order; one batch copies each container at most once. */
export function reduce(state: AppState, ...inputs: readonly Input[]): AppState {
  const d = new Draft(state);
  for (const input of inputs) {
    d.s.tick++;
    apply(d, input);
  }
  settle(d);
  return d.s;
}

function apply(d: Draft, input: Input): void {
  switch (input.is) {
    case "frame":
      return applyFrame(d, input.text);
    case "connected":
      return connected(d);
    case "disconnected":
      d.s.caughtUp = false;
      return;
    case "signed_out":
      Object.assign(d.s, initialState(), { tick: d.s.tick });
      return;
    case "list":
      return readList(d, input.startedAt, input.sessions);
    case "list_loading":
      d.s.list = d.s.list === "ready" ? "ready" : "loading";
      return;
    case "list_failed":
      d.s.list = d.s.list === "ready" ? "ready" : "failed";
      return;
    case "approvals":
      d.s.approvalsReadAt = input.startedAt;
      return readApprovals(d, input.startedAt, input.approvals);
    case "session":
      return putRow(d, input.session, input.startedAt);
    case "session_absent":
      return forget(d, input.session);
    case "page":
      return page(d, input.page);
    case "page_loading":
      return pageState(d, input.session, input.before, "loading", "");
    case "page_failed":
      return pageState(d, input.session, input.before, "failed", input.problem);
    case "inbox": {
      const open = d.session(input.session);
      if (open && open.s.inboxAt <= input.startedAt) {
        open.s.inbox = input.items;
        open.s.inboxLoad = "ready";
        open.s.inboxAt = d.s.tick;
      }
      return;
    }
    case "inbox_failed": {
      const open = d.session(input.session);
      if (open && open.s.inboxLoad !== "ready") {
        open.s.inboxLoad = "failed";
      }
      return;
    }
    case "frames":
      return fillHole(d, input.run, input.from, input.next, input.frames);
    case "frames_failed":
      return hole(d, input.run, "failed");
    case "retry_hole":
      return hole(d, input.run, "log");
    case "open":
      return open(d, input.session);
    case "close":
      return leave(d);
    case "wants_taken":
      d.s.wants = [];
  }
}

/** After auth.ok everything is read again, and open runs are replayed by the server (12.6). */
function connected(d: Draft): void {
  d.s.caughtUp = false;
  d.s.connectedAt = d.s.tick;
  d.want({ want: "list" });
  d.want({ want: "approvals" });
  for (const { id, session } of d.s.runs.values()) {
    if (session !== d.s.open?.id) {
      d.runs.delete(id); // comes again if it is still open
      continue;
    }
    const run = d.run(id) as { -readonly [K in keyof RunState]: RunState[K] };
    run.awaitBelow = 0; // what was asked of the old socket does not come any more
    if (run.hole?.by === "failed") {
      hole(d, id, "log");
    }
  }
  if (d.s.open) {
    d.want({ want: "page", session: d.s.open.id });
    d.want({ want: "inbox", session: d.s.open.id });
  }
}

/** Live again when the reads are merged and the open run has come to what they named. */
function settle(d: Draft): void {
  const { s } = d;
  if (s.caughtUp || s.connectedAt === 0 || s.list !== "ready" || s.listReadAt < s.connectedAt) {
    return;
  }
  if (s.approvalsReadAt < s.connectedAt) {
    return;
  }
  const { open } = s;
  if (open && open.load !== "absent") {
    const behind = [...s.runs.values()].some((r) => r.session === open.id && isBehind(r));
    if (open.pageReadAt < s.connectedAt || behind) {
      return;
    }
  }
  s.caughtUp = true;
}

function isBehind(run: RunState): boolean {
  return run.phase !== "ended" && (run.cursor < run.upto || (run.hole !== null && run.hole.by !== "failed"));
}

function open(d: Draft, id: string): void {
  leave(d);
  d.s.open = initialSession(id);
  d.want({ want: "page", session: id });
  d.want({ want: "inbox", session: id });
  if (!d.s.rows.has(id)) {
    d.want({ want: "session", session: id });
  }
  for (const run of d.s.runs.values()) {
    if (run.session === id && run.phase !== "ended") {
      fromTheStart(d, run.id);
    }
  }
}

function leave(d: Draft): void {
  const left = d.s.open;
  d.s.open = null;
  for (const { id, session, phase } of d.s.runs.values()) {
    if (session !== left?.id || phase === "ended") {
      continue; // an ended one stays known: frames of it may be on their way
    }
    const run = d.run(id) as { -readonly [K in keyof RunState]: RunState[K] };
    // A replay that is under way is of no use any more; the cursor stands where it would have led.
    run.cursor = Math.max(run.cursor, run.awaitBelow - 1);
    run.awaitBelow = 0;
    run.hole = null;
    run.upto = 0;
  }
}

function pageState(d: Draft, session: string, before: string, state: "loading" | "failed", problem: string): void {
  const open = d.session(session);
  if (!open) {
    return;
  }
  if (before !== "") {
    open.s.earlier = state;
  } else if (open.s.load !== "ready" && open.s.load !== "absent") {
    open.s.load = state;
    open.s.problem = problem;
  }
}

function page(d: Draft, read: PageRead): void {
  const open = d.session(read.session);
  if (!open) {
    return;
  }
  if (read.before === "" && read.startedAt < open.s.pageReadAt) {
    return; // one that was started later has said more
  }
  const oldest = (read.entries[0] as Entry | undefined)?.id;
  const joins = read.first || oldest === undefined || open.s.entries.has(oldest);
  if (read.before === "" && !joins) {
    detach(open, (read.entries[0] as Entry).seq);
  }
  for (const raw of read.entries) {
    putEntry(d, open, raw);
  }
  if (read.before === "") {
    newest(d, open, read);
  } else {
    open.s.earlier = read.first ? "start" : "more";
  }
  pageLeaf(d, open, read);
}

/** Entries older than a page that does not reach down to them are read again when they are wanted. */
function detach(open: OpenSession, below: number): void {
  for (const entry of open.s.entries.values()) {
    if (entry.seq < below) {
      open.entries.delete(entry.id);
    }
  }
  open.s.earlier = "more";
}

function newest(d: Draft, open: OpenSession, read: PageRead): void {
  open.s.load = "ready";
  open.s.problem = "";
  open.s.pageReadAt = read.startedAt;
  open.s.logSeq = Math.max(open.s.logSeq, read.logSeq);
  if (read.first) {
    open.s.earlier = "start";
  }
  for (const raw of read.entries as readonly Entry[]) {
    const run = raw.run_id ? d.run(raw.run_id) : undefined;
    if (run && run.phase !== "ended") {
      run.upto = Math.max(run.upto, raw.seq);
    }
  }
  for (const [key, buffer] of open.s.buffers) {
    const run = d.s.runs.get(buffer.run);
    if (!run || (run.phase === "ended" && run.endedAt <= read.startedAt)) {
      open.buffers.delete(key);
    }
  }
}

/** The leaf as a page has it, unless the leaf was moved since the reading began. */
function pageLeaf(d: Draft, open: OpenSession, read: PageRead): void {
  const { s } = open;
  const says = read.before === "" ? s.branchedAt <= read.startedAt : s.leaf === null;
  if (says) {
    const leaf = (read.entries as readonly Entry[]).findLast((e) => e.on_path === true)?.id;
    s.leaf = leaf ?? (read.first ? "" : null);
    s.leafSeq = Math.max(read.before === "" ? read.logSeq : s.leafSeq, 0);
  }
  if (s.leaf === null) {
    d.want({ want: "earlier", session: s.id });
  }
  rollLeaf(open, s.entries.values());
}

function hole(d: Draft, id: string, by: "log" | "failed"): void {
  const run = d.run(id);
  if (!run?.hole) {
    return;
  }
  run.hole = { ...run.hole, by };
  if (by === "log") {
    d.want({ want: "frames", run: id, from: run.hole.lastGood, next: run.hole.next });
  }
}
