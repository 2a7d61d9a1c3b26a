// Which calls wait for a person. Three sources say it: frames of runs, session objects and
// the list of approvals (brief 12.6). The first two name a position of the log, so the
// later position wins; the last has none, so it yields to whatever came after its reading began.

import type { Approval, Session } from "../protocol.gen.ts";
import type { Draft } from "./draft.ts";
import { callKey } from "./keys.ts";
import type { StandingCall } from "./types.ts";

type Told = Omit<StandingCall, "session_id" | "created_at" | "arguments"> & { arguments?: string };

/** What stands in a session at a position of its log. */
export function sayStanding(d: Draft, session: string, seq: number, told: readonly Told[]): void {
  const before = d.s.standing.get(session);
  if (before && seq < before.seq) {
    rememberArguments(d, session, told);
    return;
  }
  const known = new Map(before?.calls.map((c) => [same(c), c]));
  const calls = told.map((t): StandingCall => {
    const old = known.get(same(t));
    return {
      run_id: t.run_id,
      session_id: session,
      tool_call_id: t.tool_call_id,
      tool_name: t.tool_name,
      arguments: t.arguments ?? old?.arguments ?? null,
      created_at: old?.created_at ?? null,
    };
  });
  d.standing.set(session, { seq, at: d.s.tick, calls });
  if (calls.some((c) => c.created_at === null)) {
    d.want({ want: "approvals" }); // neither of the two says when it was asked, and session objects hold no arguments
  }
}

/** The approvals of all sessions, read from a tick on. */
export function readApprovals(d: Draft, startedAt: number, approvals: readonly Approval[]): void {
  if (startedAt < d.s.approvalsReadAt) {
    return; // one that was started later has said more
  }
  d.s.approvalsReadAt = startedAt;
  const bySession = new Map<string, Approval[]>();
  for (const approval of approvals) {
    bySession.set(approval.session_id, [...(bySession.get(approval.session_id) ?? []), approval]);
  }
  for (const session of new Set([...d.s.standing.keys(), ...bySession.keys()])) {
    const before = d.s.standing.get(session);
    const listed = bySession.get(session) ?? [];
    if (before && before.at > startedAt) {
      const told = new Map(listed.map((a) => [same(a), a]));
      const calls = before.calls.map((c) => {
        const a = told.get(same(c));
        return a ? { ...c, arguments: a.arguments, created_at: a.created_at } : c;
      });
      d.standing.set(session, { ...before, calls });
      continue;
    }
    const calls = listed.map(({ run_id, session_id, tool_call_id, tool_name, arguments: args, created_at }) => ({
      run_id, session_id, tool_call_id, tool_name, arguments: args, created_at,
    }));
    if (calls.length > 0 || (before && before.calls.length > 0)) {
      d.standing.set(session, { seq: before?.seq ?? 0, at: d.s.tick, calls });
    }
  }
}

/** A session object names its standing calls, without their arguments. */
export function standingOfSession(d: Draft, session: Session): void {
  const before = d.s.standing.get(session.id);
  if (session.pending.length > 0 || (before && before.calls.length > 0)) {
    sayStanding(d, session.id, session.last_seq, session.pending);
  }
}

function rememberArguments(d: Draft, session: string, told: readonly Told[]): void {
  const standing = d.s.standing.get(session);
  if (!standing?.calls.some((c) => c.arguments === null)) {
    return;
  }
  const args = new Map(told.map((t) => [same(t), t.arguments ?? null]));
  const calls = standing.calls.map((c) => (c.arguments === null ? { ...c, arguments: args.get(same(c)) ?? null } : c));
  d.standing.set(session, { ...standing, calls });
}

function same(call: { run_id: string; tool_call_id: string }): string {
  return callKey(call.run_id, call.tool_call_id);
}
