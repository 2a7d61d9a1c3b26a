// The list of sessions: read as a whole, then patched by frames (brief 12.8).

import { ServerType, type InboxItem, type ServerFrame, type Session } from "../protocol.gen.ts";
import type { Draft, OpenSession } from "./draft.ts";
import { hasCome } from "./entries.ts";
import { standingOfSession } from "./standing.ts";
import type { SessionRow } from "./types.ts";

/** Applies a frame about a session, not about what one of its runs does. */
export function sessionFrame(d: Draft, frame: ServerFrame): void {
  switch (frame.type) {
    case ServerType.SessionCreated:
    case ServerType.SessionUpdated:
      return putRow(d, frame.payload.session, d.s.tick);
    case ServerType.SessionDeleted:
      return forget(d, frame.payload.session_id);
    case ServerType.SessionTitleUpdated: {
      const { session_id, title } = frame.payload;
      return patch(d, session_id, { title });
    }
    case ServerType.SessionStatus: {
      const { session_id, status, live_run_id, pending_count } = frame.payload;
      return patch(d, session_id, { status, live_run_id, pending_count });
    }
    case ServerType.SessionBranched: {
      const open = d.session(frame.payload.session_id);
      if (open) {
        open.s.leaf = frame.payload.leaf;
        open.s.leafSeq = Math.max(open.s.leafSeq, ...[...open.s.entries.values()].map((e) => e.seq));
        open.s.branchedAt = d.s.tick;
        d.want({ want: "page", session: open.s.id });
      }
      return;
    }
    case ServerType.SessionInbox: {
      const open = d.session(frame.payload.session_id);
      if (open) {
        waiting(d, open, frame.payload.items);
      }
    }
  }
}

/**
 * What waits now. A text that waits no more was read or taken back: it is shown until its
 * entry comes, or until a reading says that it is gone.
 */
function waiting(d: Draft, open: OpenSession, items: readonly InboxItem[]): void {
  const still = new Set(items.map((i) => i.input_id));
  const left = open.s.inbox.filter((i) => !still.has(i.input_id) && !hasCome(open, i));
  open.s.inbox = [...left, ...items];
  open.s.leaving = new Set(left.map((i) => i.input_id));
  open.s.inboxLoad = "ready";
  open.s.inboxAt = d.s.tick;
  if (left.length > 0) {
    d.want({ want: "inbox", session: open.s.id });
  }
}

/** The inbox, read from a tick on: whatever waits no more is gone. */
export function readInbox(d: Draft, session: string, startedAt: number, items: readonly InboxItem[]): void {
  const open = d.session(session);
  if (open && open.s.inboxAt <= startedAt) {
    open.s.inbox = items;
    open.s.inboxLoad = "ready";
    open.s.inboxAt = d.s.tick;
    open.s.leaving = new Set();
  }
}

export function inboxFailed(d: Draft, session: string): void {
  const open = d.session(session);
  if (open && open.s.inboxLoad !== "ready") {
    open.s.inboxLoad = "failed";
  }
}

/** The newest entry of a session whose log ended at lastSeq: what stands behind it is bookkeeping. */
export function readNews(d: Draft, session: string, lastSeq: number, seq: number): void {
  const row = d.row(session);
  if (row && row.last_seq === lastSeq) {
    row.newsSeq = seq;
  }
}

type Patch = { [K in keyof Session]?: Session[K] | undefined };

function patch(d: Draft, id: string, members: Patch): void {
  const row = d.row(id);
  if (!row) {
    d.want({ want: "session", session: id });
    return;
  }
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) {
      delete (row as unknown as Record<string, unknown>)[name];
    } else {
      (row as unknown as Record<string, unknown>)[name] = value;
    }
  }
  row.touchedAt = d.s.tick;
}

/** A session object, from a frame or from a reading that began at a tick. */
export function putRow(d: Draft, session: Session, startedAt: number): void {
  const before = d.s.rows.get(session.id);
  if (before && before.touchedAt > startedAt) {
    d.want({ want: "session", session: session.id }); // a frame that came since says more, but not all
    return;
  }
  standingOfSession(d, session);
  const row: SessionRow = {
    ...session,
    last_seq: Math.max(session.last_seq, before?.last_seq ?? 0),
    newsSeq: before && d.s.caughtUp ? before.newsSeq : Math.max(session.last_seq, before?.newsSeq ?? 0),
    compacting: before?.compacting ?? false,
    touchedAt: d.s.tick,
  };
  d.rows.set(session.id, row);
  if (startedAt < d.s.tick && d.s.open?.id === session.id) {
    overtaken(d, session);
  }
}

/** The whole list, read from a tick on. */
export function readList(d: Draft, startedAt: number, sessions: readonly Session[]): void {
  if (startedAt < d.s.listReadAt) {
    return; // one that was started later has said more
  }
  d.s.list = "ready";
  d.s.listReadAt = startedAt;
  const listed = new Set(sessions.map((s) => s.id));
  for (const [id, row] of d.s.rows) {
    if (!listed.has(id) && row.touchedAt <= startedAt) {
      forget(d, id);
    }
  }
  for (const session of sessions) {
    putRow(d, session, startedAt);
  }
}

/** A run of the open session that ended while nobody listened: how it ended is asked for. */
function overtaken(d: Draft, row: Session): void {
  for (const run of d.s.runs.values()) {
    const over = run.session === row.id && run.phase !== "ended" && run.id !== row.live_run_id && run.cursor <= row.last_seq;
    if (over) {
      d.want({ want: "subscribe", run: run.id, from: run.cursor });
    }
  }
}

export function forget(d: Draft, id: string): void {
  d.rows.delete(id);
  d.standing.delete(id);
  for (const run of d.s.runs.values()) {
    if (run.session === id) {
      d.runs.delete(run.id);
    }
  }
  const open = d.session(id);
  if (open) {
    open.s.load = "absent";
  }
}
