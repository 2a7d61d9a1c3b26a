// What the list and the header show, from the state alone.

import { SessionStatus } from "../protocol.gen.ts";
import type { AppState, SessionRow, StandingCall } from "./types.ts";

export interface Groups {
  needs: readonly SessionRow[];
  pinned: readonly SessionRow[];
  recent: readonly SessionRow[];
}

/** What the list shows. */
type Listed = Pick<AppState, "rows" | "standing">;

const none: readonly StandingCall[] = []; // always the same, so that nothing looks new

/**
 * The list in its groups; a session is in one only. Sorted by the last text of a person, else
 * by creation: what agents write never moves a row.
 */
export function groupsOf(state: Listed): Groups {
  const needs: SessionRow[] = [];
  const pinned: SessionRow[] = [];
  const recent: SessionRow[] = [];
  for (const row of state.rows.values()) {
    (needsPerson(state, row) ? needs : row.pinned ? pinned : recent).push(row);
  }
  for (const rows of [needs, pinned, recent]) {
    rows.sort((a, b) => compare(personal(b), personal(a)) || compare(a.id, b.id));
  }
  return { needs, pinned, recent };
}

function personal(row: SessionRow): string {
  return row.last_input_at ?? row.created_at;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function needsPerson(state: Listed, row: SessionRow): boolean {
  return row.status === SessionStatus.RequiresAction || callsOf(state.standing, row.id).length > 0;
}

/** The calls that wait for a person in a session, in order of asking. */
export function callsOf(standing: AppState["standing"], session: string): readonly StandingCall[] {
  return standing.get(session)?.calls ?? none;
}

/** The calls that wait in all sessions; the tab's title counts them. */
export function waitingCalls(standing: AppState["standing"]): number {
  let n = 0;
  for (const { calls } of standing.values()) {
    n += calls.length;
  }
  return n;
}

/** Something worth a look came behind the read mark: the highest seq that a person has seen. */
export function isUnread(row: SessionRow, readMark: number): boolean {
  return row.newsSeq > readMark;
}

/** The session that "/" leads to; "" = there is none. */
export function landing(state: Listed, lastOpened: string): string {
  const { needs, pinned, recent } = groupsOf(state);
  return (needs[0] ?? state.rows.get(lastOpened) ?? [...pinned, ...recent].sort((a, b) => compare(personal(b), personal(a)))[0])?.id ?? "";
}

/** Where the log that is shown ends: for "the log up to #1 698". */
export function shownUpto(state: AppState): number {
  const { open } = state;
  if (!open) {
    return 0;
  }
  let seq = 0;
  for (const entry of open.entries.values()) {
    seq = Math.max(seq, entry.seq);
  }
  for (const run of state.runs.values()) {
    if (run.session === open.id) {
      seq = Math.max(seq, run.cursor);
    }
  }
  return seq;
}
