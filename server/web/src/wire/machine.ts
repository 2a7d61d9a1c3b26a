// The connection as a state machine: (state, event, now) → (state, effects). No timer, no
// socket in it; socket.ts drives it. All times are local epoch milliseconds.

import type { ConnectionPhase, ConnectionReason, ConnectionState } from "../state/types.ts";

export const ms = {
  /** a live connection that has been silent this long is probed: browsers hide pings */
  silence: 45_000,
  /** a probe that takes longer failed */
  probe: 5_000,
  /** the socket has this long to reach what a probe read */
  lag: 3_000,
  /** no auth.ok this long after dialling: the try failed */
  auth: 15_000,
  /** live this long, and the next delay is short again */
  steady: 10_000,
  firstDelay: 500,
  maxDelay: 15_000,
} as const;

/** WebSocket close codes that mean something here. */
export const close = { goingAway: 1001, policy: 1008, tooBig: 1009 } as const;

export interface Machine {
  phase: ConnectionPhase;
  reason: ConnectionReason;
  /** which socket: events of another one are ignored */
  socket: number;
  /** tries since the last steady connection */
  tries: number;
  /** closes before auth.ok, in a row */
  unheard: number;
  /** since when it is live; 0 = it is not */
  liveSince: number;
  downSince: number;
  retryAt: number;
  /** when the server was last heard */
  heardAt: number;
  /** when dialling began */
  dialledAt: number;
  probing: boolean;
  /** the server has taken this token before */
  accepted: boolean;
}

export type MachineEvent =
  | { on: "token" }
  | { on: "sign_out" }
  | { on: "opened"; socket: number }
  | { on: "auth_ok"; socket: number }
  | { on: "frame"; socket: number }
  | { on: "closed"; socket: number; code: number }
  | { on: "caught_up" }
  | { on: "fell_behind" }
  | { on: "online" }
  | { on: "offline" }
  | { on: "visible" }
  | { on: "retry_now" }
  | { on: "tick" }
  /** a REST call of any kind: 0 = no answer */
  | { on: "rest"; status: number }
  | { on: "probe_ok" }
  | { on: "probe_failed" }
  /** frames that make no sense: this stream is not to be trusted */
  | { on: "garbled" };

export type Effect =
  | { do: "dial"; socket: number }
  | { do: "drop"; socket: number }
  | { do: "authenticate"; socket: number }
  /** read the session over REST and compare */
  | { do: "probe" }
  /** one REST call finds out why no socket comes about */
  | { do: "ask_why" }
  | { do: "forget_token" }
  | { do: "connected" }
  | { do: "disconnected" }
  | { do: "note"; what: string };

export interface Step {
  machine: Machine;
  effects: readonly Effect[];
}

export function initialMachine(online: boolean, now: number): Machine {
  return {
    phase: online ? "signed_out" : "offline", reason: "", socket: 0, tries: 0, unheard: 0,
    liveSince: 0, downSince: now, retryAt: 0, heardAt: 0, dialledAt: 0, probing: false, accepted: false,
  };
}

/** What the page shows of it. */
export function viewOf(m: Machine): ConnectionState {
  return { phase: m.phase, reason: m.reason, downSince: m.phase === "live" ? 0 : m.downSince, retryAt: m.phase === "waiting" ? m.retryAt : 0 };
}

/** random is in [0, 1). hasToken says whether there is one to dial with. */
export function step(m: Machine, event: MachineEvent, now: number, random: number, hasToken: boolean): Step {
  if ("socket" in event && event.socket !== m.socket) {
    return { machine: m, effects: [] };
  }
  switch (event.on) {
    case "token":
      return fresh({ ...m, tries: 0, unheard: 0, reason: "", accepted: false }, now);
    case "sign_out":
      return signOut(m, "", now);
    case "opened":
      return { machine: { ...m, heardAt: now }, effects: [{ do: "authenticate", socket: m.socket }] };
    case "auth_ok":
      return m.phase === "connecting"
        ? { machine: { ...m, phase: "catching_up", unheard: 0, reason: "", accepted: true, heardAt: now }, effects: [{ do: "connected" }] }
        : { machine: m, effects: [] };
    case "frame":
      return { machine: { ...m, heardAt: now }, effects: [] };
    case "closed":
      return closed(m, event.code, now, random);
    case "caught_up":
      return m.phase === "catching_up"
        ? { machine: { ...m, phase: "live", liveSince: now, downSince: 0, heardAt: now }, effects: [] }
        : { machine: m, effects: [] };
    case "fell_behind":
      return m.phase === "live" ? { machine: { ...m, phase: "catching_up", downSince: now }, effects: [] } : { machine: m, effects: [] };
    case "offline":
      return m.phase === "signed_out" ? { machine: m, effects: [] } : lose({ ...m, phase: "offline", retryAt: 0 }, m, now);
    case "online":
    case "visible":
    case "retry_now":
      return wake(m, event.on, now, hasToken);
    case "tick":
      return tick(m, now, random);
    case "rest":
      return rest(m, event.status, now, random);
    case "probe_ok":
      return { machine: { ...m, probing: false, heardAt: now }, effects: [] };
    case "probe_failed":
      return m.phase === "live" || m.phase === "catching_up"
        ? wait({ ...m, probing: false, reason: "no_answer" }, m, now, random)
        : { machine: { ...m, probing: false }, effects: [] };
    case "garbled":
      return m.phase === "live" || m.phase === "catching_up" ? wait(m, m, now, random) : { machine: m, effects: [] };
  }
}

function isUp(m: Machine): boolean {
  return m.phase === "live" || m.phase === "catching_up";
}

function fresh(m: Machine, now: number): Step {
  return m.phase === "offline" ? { machine: m, effects: [] } : dial(m, now);
}

function dial(m: Machine, now: number): Step {
  const socket = m.socket + 1;
  const machine: Machine = { ...m, phase: "connecting", socket, dialledAt: now, retryAt: 0, liveSince: 0, probing: false, downSince: m.downSince || now };
  const effects: Effect[] = m.socket > 0 ? [{ do: "drop", socket: m.socket }] : [];
  return { machine, effects: [...effects, { do: "dial", socket }] };
}

/** The connection is gone, whatever takes its place: its socket is never heard again. */
function lose(next: Machine, before: Machine, now: number): Step {
  const effects: Effect[] = [{ do: "drop", socket: before.socket }];
  if (isUp(before)) {
    effects.push({ do: "disconnected" });
  }
  return { machine: { ...next, socket: before.socket + 1, liveSince: 0, probing: false, downSince: before.downSince || now }, effects };
}

function wait(m: Machine, before: Machine, now: number, random: number): Step {
  const steady = before.liveSince > 0 && now - before.liveSince >= ms.steady;
  const tries = steady ? 0 : m.tries;
  const delay = random * Math.min(ms.maxDelay, ms.firstDelay * 2 ** tries);
  return lose({ ...m, phase: "waiting", tries: tries + 1, retryAt: now + delay }, before, now);
}

function signOut(m: Machine, reason: ConnectionReason, now: number): Step {
  const lost = lose({ ...m, phase: "signed_out", reason, retryAt: 0, tries: 0, unheard: 0 }, m, now);
  return { machine: lost.machine, effects: [...lost.effects, { do: "forget_token" }] };
}

function closed(m: Machine, code: number, now: number, random: number): Step {
  if (code === close.policy) {
    return signOut(m, m.accepted ? "token_revoked" : "token_unknown", now);
  }
  const reason: ConnectionReason = code === close.goingAway ? "restarting" : m.reason === "restarting" ? "restarting" : "no_answer";
  const unheard = isUp(m) ? 0 : m.unheard + 1;
  const { machine, effects } = wait({ ...m, reason, unheard }, m, now, random);
  const more: Effect[] = [];
  if (unheard >= 2) {
    more.push({ do: "ask_why" });
  }
  if (code === close.tooBig) {
    more.push({ do: "note", what: "a frame of this page was too big for the server" });
  }
  return { machine, effects: [...effects, ...more] };
}

function wake(m: Machine, by: "online" | "visible" | "retry_now", now: number, hasToken: boolean): Step {
  if (isUp(m)) {
    return by === "retry_now" || m.probing ? { machine: m, effects: [] } : probe(m);
  }
  if (m.phase === "offline" && by !== "online") {
    return { machine: m, effects: [] };
  }
  if (m.phase === "offline" || m.phase === "waiting") {
    return hasToken ? dial(m, now) : { machine: { ...m, phase: "signed_out" }, effects: [] };
  }
  return { machine: m, effects: [] };
}

function probe(m: Machine): Step {
  return { machine: { ...m, probing: true }, effects: [{ do: "probe" }] };
}

function tick(m: Machine, now: number, random: number): Step {
  if (m.phase === "waiting" && now >= m.retryAt) {
    return dial(m, now);
  }
  if (m.phase === "connecting" && now - m.dialledAt >= ms.auth) {
    return closed(m, 1006, now, random);
  }
  if (isUp(m) && !m.probing && now - m.heardAt >= ms.silence) {
    return probe(m);
  }
  return { machine: m, effects: [] };
}

function rest(m: Machine, status: number, now: number, random: number): Step {
  if (m.phase === "signed_out") {
    return { machine: m, effects: [] };
  }
  if (status === 401) {
    return signOut(m, m.accepted ? "token_revoked" : "token_unknown", now);
  }
  if (isUp(m)) {
    return { machine: m, effects: [] };
  }
  const reason: ConnectionReason = status === 429 ? "rate_limited" : status >= 500 ? "server_error" : status === 0 ? "no_answer" : m.reason;
  if (status === 429 && m.phase === "waiting") {
    const retryAt = Math.max(m.retryAt, now + ms.maxDelay * (0.5 + random / 2)); // a full minute would hide an end of it
    return { machine: { ...m, reason, retryAt }, effects: [] };
  }
  return { machine: { ...m, reason }, effects: [] };
}
