// The reducer: (state, inputs) → state. No clock, no DOM, no request in it. What it wants
// read it says in `wants`; the driver reads it and brings it back as an input.

import type { Entry } from "../protocol.gen.ts";
import { Draft, initialSession, initialState, type OpenSession } from "./draft.ts";
import { putEntry, rollLeaf } from "./entries.ts";
import { applyFrame, fillHole, fromTheStart } from "./frames.ts";
import { forget, inboxFailed, putRow, readInbox, readList, readNews } from "./rows.ts";
import { readApprovals } from "./standing.ts";
import type { AppState, Input, PageRead, RunState } from "./types.ts";

export { initialState };

/** Applies inputs in order; one batch copies each container at most once. */
export function reduce(state: AppState, ...inputs: readonly Input[]): AppState {
  const d = new Draft(state);
  for (const input of inputs) {
    d.s.tick++;
    apply(d, input);
    settle(d);
  }
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
      return readApprovals(d, input.startedAt, input.approvals);
    case "session":
      return putRow(d, input.session, input.startedAt);
    case "session_absent":
      return forget(d, input.session);
    case "news":
      return readNews(d, input.session, input.lastSeq, input.seq);
    case "page":
      return page(d, input.page);
    case "page_loading":
      return pageState(d, input.session, input.before, "loading", "");
    case "page_failed":
      return pageState(d, input.session, input.before, "failed", input.problem);
    case "inbox":
      return readInbox(d, input.session, input.startedAt, input.items);
    case "inbox_failed":
      return inboxFailed(d, input.session);
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
    const { s } = d.session(d.s.open.id) as OpenSession;
    s.newestThen = [...s.entries.values()].reduce((newest, e) => (e.seq > newest.seq ? e : newest), { id: "", seq: -1 }).id;
    d.want({ want: "page", session: d.s.open.id });
    d.want({ want: "inbox", session: d.s.open.id });
  }
}

/** Live again when the reads are merged and the open run has come to what they named. */
function settle(d: Draft): void {
  const { s } = d;
  if (s.caughtUp && s.open && s.open.upto < s.open.logSeq && s.open.oldest !== "") {
    (d.session(s.open.id) as OpenSession).s.upto = s.open.logSeq; // live, every entry comes
  }
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
  d.s.open = initialSession(id, d.s.tick);
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
  if (read.before === "" && read.startedAt >= d.s.connectedAt && isOfAnotherLog(open, read)) {
    d.want({ want: "reopen", session: read.session });
    return;
  }
  for (const raw of read.entries) {
    putEntry(d, open, raw);
  }
  if (read.before === "") {
    newest(d, open, read);
  }
  cover(open, read);
  pageLeaf(d, open, read);
}

/**
 * A log only grows. Where a newest page goes back far enough and does not have what was here
 * before the connection, a backup took the place of its log.
 */
function isOfAnotherLog({ s }: OpenSession, read: PageRead): boolean {
  const then = s.entries.get(s.newestThen);
  const page = read.entries as readonly Entry[];
  const lowest = read.first ? 0 : (page[0]?.seq ?? 0);
  return then !== undefined && then.seq >= lowest && !page.some((e) => e.id === then.id);
}

/**
 * Keeps entries without a hole: a newest page that does not reach down to what is here takes
 * its place, and what is older is read again when somebody wants it.
 */
function cover(open: OpenSession, read: PageRead): void {
  const { s } = open;
  const start = read.entries[0] as Entry | undefined;
  const from = s.entries.get(s.oldest)?.seq ?? 0;
  const lowest = read.first || !start ? 0 : start.seq;
  if (read.before === "") {
    const joins = s.oldest !== "" && lowest <= s.upto + 1;
    if (!joins) {
      for (const entry of s.entries.values()) {
        if (entry.seq < lowest) {
          open.entries.delete(entry.id);
        }
      }
    }
    s.upto = Math.max(s.upto, read.logSeq);
    if (!joins || lowest < from) {
      s.oldest = start?.id ?? "";
      s.earlier = read.first ? "start" : "more";
    }
    return;
  }
  const end = s.entries.get(read.before)?.seq ?? -1;
  if (s.oldest !== "" && end >= from) {
    s.oldest = start && start.seq < from ? start.id : s.oldest;
    s.earlier = read.first ? "start" : "more";
  } else if (s.earlier === "loading") {
    s.earlier = "more";
  }
}

function newest(d: Draft, open: OpenSession, read: PageRead): void {
  open.s.load = "ready";
  open.s.problem = "";
  open.s.pageReadAt = read.startedAt;
  open.s.logSeq = Math.max(open.s.logSeq, read.logSeq);
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

/**
 * The leaf as pages have it: the newest entry on the path. It may stand on an older page
 * than the newest one; then those are read until it is found. A page whose reading began
 * before the leaf was moved says nothing of it.
 */
function pageLeaf(d: Draft, open: OpenSession, read: PageRead): void {
  const { s } = open;
  if (s.branchedAt <= read.startedAt && (read.before === "" || read.before === s.leafBefore)) {
    const entries = read.entries as readonly Entry[];
    const leaf = entries.findLast((e) => e.on_path === true)?.id ?? (read.first ? "" : null);
    if (read.before === "") {
      s.leafSeq = read.logSeq;
    }
    s.leafBefore = leaf === null ? (entries[0]?.id ?? "") : "";
    s.leaf = leaf ?? s.leaf;
    if (s.leafBefore !== "") {
      d.want({ want: "earlier", session: s.id, before: s.leafBefore });
    }
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
