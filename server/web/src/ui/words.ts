// The words of the page for what the wire says. Unknown values get the general words,
// with the value itself beside them.

import { CancelReason, Code, Queue, RESTCode, SessionStatus } from "../protocol.gen.ts";
import type { ConnectionState, Outcome, SessionRow, StandingCall } from "../state/types.ts";
import type { Glyph } from "./icons.tsx";
import { plural } from "./format.ts";

/** How a session looks: its sign, its line, and the chip of its header ("" = none). */
export interface Look {
  glyph: Glyph;
  line: string;
  chip: string;
  tone: "" | "need-text";
}

/**
 * standing: what is known of its calls that wait; live: whether the page hears the server
 * now; unread: something came since it was seen.
 */
export function sessionLook(row: SessionRow, standing: readonly StandingCall[], live: boolean, unread: boolean): Look {
  const look = lookOf(row, standing, unread);
  if (live || look.chip === "") {
    return look;
  }
  const chip = `Last known: ${look.chip.toLowerCase().replace("…", "")}`;
  return look.glyph === "run" ? { ...look, glyph: "off", line: chip, chip } : { ...look, chip };
}

/** The same, were it so now. */
function lookOf(row: SessionRow, standing: readonly StandingCall[], unread: boolean): Look {
  switch (row.status) {
    case SessionStatus.RequiresAction:
      return { glyph: "need", line: waits(row, standing), chip: "Needs you", tone: "need-text" };
    case SessionStatus.Running:
      return { glyph: "run", line: "Running", chip: "Running", tone: "" };
    case SessionStatus.Stopping:
      return { glyph: "run", line: "Stopping…", chip: "Stopping…", tone: "" };
    case SessionStatus.Resumable:
      return { glyph: "open", line: "Paused in the middle of a run", chip: "Paused", tone: "" };
    case SessionStatus.Failed:
      return { glyph: "fail", line: "Failed", chip: "Failed", tone: "" };
    case SessionStatus.Idle:
      return { glyph: "idle", line: unread ? "Finished" : "Idle", chip: "", tone: "" };
    default:
      return { glyph: "idle", line: row.status, chip: row.status, tone: "" };
  }
}

function waits(row: SessionRow, standing: readonly StandingCall[]): string {
  const n = row.pending_count;
  const first = standing[0] ?? row.pending[0];
  return n === 1 && first ? `${first.tool_name} waits for approval` : `${plural(n, "call")} wait${n === 1 ? "s" : ""} for approval`;
}

const minted = /^[0-9a-f]{16}$/; // an id that nobody chose, and nobody reads

/** A session's name, also when it has none yet: it gets one at the end of its first run. */
export function titleOf(row: { id: string; title: string }): string {
  return row.title.trim() !== "" ? row.title : minted.test(row.id) ? "New session" : row.id;
}

/** The word at the foot of the list; now is local epoch ms. */
export function connectionWord(c: ConnectionState, now: number): string {
  switch (c.phase) {
    case "live":
      return "Live";
    case "catching_up":
      return "Catching up";
    case "connecting":
      return "Connecting";
    case "waiting":
      return `Retrying in ${Math.max(1, Math.ceil((c.retryAt - now) / 1_000))} s`;
    case "offline":
      return "Offline";
    default:
      return "";
  }
}

/** Whether the server can be asked for things now; what it has said may not all be here yet. */
export function connected(c: ConnectionState): boolean {
  return c.phase === "live" || c.phase === "catching_up";
}

export function connectionGlyph(c: ConnectionState): Glyph {
  return c.phase === "live" ? "live" : c.phase === "catching_up" || c.phase === "connecting" ? "run" : "off";
}

/** What is known about why there is no connection. */
export function connectionReason(c: ConnectionState): string {
  switch (c.reason) {
    case "token_unknown":
      return "This token is not known to the server.";
    case "token_revoked":
      return "This token was revoked. Sign in again; drafts are kept.";
    case "rate_limited":
      return "Too many tries from this address. Wait a minute.";
    case "restarting":
      return "The server is restarting.";
    case "no_answer":
    case "server_error":
      return "The server does not answer.";
    default:
      return "";
  }
}

export type Refused = Extract<Outcome, { ok: false }>;

/** Why something a person did was refused. */
export function refusal(o: Refused): string {
  switch (o.code) {
    case "unreachable":
      return "The server does not answer.";
    case "signed_out":
    case RESTCode.Unauthorized:
      return "This token was revoked. Sign in again; drafts are kept.";
    case RESTCode.RateLimited:
      return "Too many tries from this address. Wait a minute.";
    case Code.SessionBusy:
      return "A run has just started. Your text can be queued.";
    case Code.RunNotFound:
      return "That run has ended.";
    case Code.Config:
      return `The agent cannot start: ${o.message}`;
    case Code.PersistError:
      return `The server cannot write: ${sentence(o.message)} Reading still works.`;
    case Code.ApprovalFailed:
      return "Already decided.";
    default:
      return o.message === "" ? `The server refused: ${o.code}` : sentence(capital(o.message));
  }
}

/** Ends a text with a stop, once. */
export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : text + ".";
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** How a run was cut; reason is an open vocabulary. */
export function cancelWords(reason: string): string {
  switch (reason) {
    case CancelReason.Superseded:
      return "Replaced by a newer message.";
    case CancelReason.Shutdown:
      return "Stopped by a server shutdown.";
    default:
      return "Stopped. The text above is what had arrived.";
  }
}

/** Whether cancelWords say all there is to a reason. */
export function isCancelReason(reason: string): boolean {
  return Object.values<string>(CancelReason).includes(reason);
}

export interface QueueWords {
  queue: Queue;
  name: string;
  hint: string;
}

export const queues: readonly QueueWords[] = [
  { queue: Queue.Steer, name: "Steer", hint: "Read before the next step" },
  { queue: Queue.NextTurn, name: "Next turn", hint: "Read if another step comes, else by the next run" },
  { queue: Queue.FollowUp, name: "Follow-up", hint: "Read when the run would end; it then goes on" },
];

/** Words of a queue; one that is not known is named as it is. */
export function queueWords(queue: string): { name: string; hint: string } {
  return queues.find((q) => q.queue === queue) ?? { name: queue, hint: "" };
}
