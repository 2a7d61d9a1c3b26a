// A server made of a recorded log, with everything that a network does to what it says:
// delays, cuts, lag. It answers as the run wire and REST do, from the log alone.

import { readdirSync, readFileSync } from "node:fs";
import { initialState, reduce } from "../src/state/reduce.ts";
import type { AppState, Input, Want } from "../src/state/types.ts";
import type { Entry, PendingCall, Session } from "../src/protocol.gen.ts";

const folder = "../project/testdata/logs";

interface Frame {
  type: string;
  seq?: number;
  payload: { run_id?: string; session_id?: string; entry?: Entry; pending?: PendingCall[]; resumed?: boolean };
}

interface Recorded {
  frames?: Frame[];
  leaf: string;
}

export type Log = readonly Recorded[];

export function logs(): Log[] {
  return readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, "utf8").trim().split("\n").map((line) => JSON.parse(line) as Recorded));
}

/** Numbers that look random and are the same each time. */
export function dice(seed: number): (n: number) => number {
  let x = seed * 2654435761 + 1;
  return (n) => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) % n;
  };
}

export const session = "s1";
const terminals = ["run.output", "run.error", "run.cancelled"];
const auth = JSON.stringify({ type: "auth.ok", payload: { owner: "o", allow: ["watch"], agents: null, log_id: "log" } });

export class World {
  state: AppState = initialState();
  /** events written so far */
  at = 1;
  readonly #log: Log;
  readonly #roll: (n: number) => number;
  readonly #pageSize: number;
  /** the most frames that a replay gives, before it leaves out what is between */
  readonly #replayLimit: number;
  /** frames on their way; null = no connection */
  #wire: string[] | null = null;
  /** of each run on this connection: seq of its last numbered frame sent; lag = what is being left out */
  #streams = new Map<string, { sent: number; lag: boolean; missed: boolean }>();
  /** readings on their way back */
  #answers: (() => Input)[] = [];
  #wants: Want[] = [];

  constructor(log: Log, roll: (n: number) => number, o: { pageSize?: number; replayLimit?: number } = {}) {
    this.#log = log;
    this.#roll = roll;
    this.#pageSize = o.pageSize ?? 1_000;
    this.#replayLimit = o.replayLimit ?? 1_000;
  }

  get over(): boolean {
    return this.at >= this.#log.length;
  }

  give(...inputs: Input[]): void {
    this.state = reduce(this.state, ...inputs);
    this.#wants.push(...this.state.wants);
    this.state = reduce(this.state, { is: "wants_taken" });
  }

  /** The server writes one more event. */
  write(): void {
    const { frames = [] } = this.#log[this.at++] as Recorded;
    const luck = this.#roll(3) === 0; // a connection that lagged goes on, or it does not yet
    frames.forEach((f) => this.#say(f, luck || frames.some((g) => g.type === "run.started" || terminals.includes(g.type))));
    if (this.#wire && frames.some((f) => f.type === "run.started" || terminals.includes(f.type))) {
      this.#wire.push(JSON.stringify({ type: "session.status", payload: this.#status() }));
    }
  }

  connect(): void {
    this.#wire = [auth];
    this.#streams.clear();
    const run = this.#openRun();
    if (run) {
      this.#replay(run, 0);
    }
    this.give({ is: "frame", text: this.#wire.shift() as string }, { is: "connected" });
  }

  cut(): void {
    if (this.#wire) {
      this.#wire = null;
      this.give({ is: "disconnected" });
    }
  }

  /** From now on this connection is too slow for a run, until catchUp. */
  lag(): void {
    for (const stream of this.#streams.values()) {
      stream.lag = true;
    }
  }

  /** One thing of what can happen next, chosen by the dice: a frame arrives, a reading is sent, an answer arrives. */
  step(): boolean {
    const can: (() => void)[] = [];
    if (this.#wire && this.#wire.length > 0) {
      can.push(() => this.give({ is: "frame", text: this.#wire?.shift() as string }));
    }
    if (this.#wants.length > 0) {
      can.push(() => this.#ask(this.#wants.splice(this.#roll(this.#wants.length), 1)[0] as Want));
    }
    if (this.#answers.length > 0) {
      can.push(() => this.give((this.#answers.splice(this.#roll(this.#answers.length), 1)[0] as () => Input)()));
    }
    can[this.#roll(can.length || 1)]?.();
    return can.length > 0;
  }

  /** Until nothing is on its way any more. */
  settle(): void {
    this.#endLag();
    for (let i = 0; this.step(); i++) {
      if (i > 100_000) {
        throw new Error("the page never comes to rest");
      }
    }
  }

  /** A connection that has caught up goes on with the newest frame. */
  #endLag(): void {
    for (const [run, stream] of this.#streams) {
      const newest = this.#framesOf(run).filter((f) => f.seq !== undefined).at(-1);
      if (stream.lag && newest?.seq !== undefined && newest.seq > stream.sent) {
        const group = (this.#log[newest.seq] as Recorded).frames ?? [];
        group.filter((f) => f.payload.run_id === run).forEach((f) => this.#say(f, true));
      }
      stream.lag = false;
    }
  }

  /** Sends a frame; one that is not sure is left out for a connection that lags. */
  #say(frame: Frame, sure: boolean): void {
    if (!this.#wire) {
      return;
    }
    const run = frame.payload.run_id;
    if (!run) {
      this.#wire.push(JSON.stringify(frame));
      return;
    }
    const stream = this.#streams.get(run) ?? { sent: 0, lag: false, missed: false };
    this.#streams.set(run, stream);
    if (stream.lag) {
      if (!sure) {
        stream.missed = true;
        return;
      }
      stream.lag = false;
      if (stream.missed) {
        this.#gap(run, stream.sent, frame.seq ?? this.#seqOf(frame)); // a group goes whole
      }
      stream.missed = false;
    }
    this.#wire.push(JSON.stringify(frame));
    stream.sent = frame.seq ?? stream.sent;
  }

  #gap(run: string, good: number, next: number): void {
    this.#wire?.push(JSON.stringify({ type: "run.gap", payload: { run_id: run, dropped: next - good - 1, last_good: good, next } }));
  }

  #replay(run: string, from: number): void {
    const frames = this.#framesOf(run).filter((f) => (f.seq ?? this.#seqOf(f)) > from);
    const numbered = frames.filter((f) => f.seq !== undefined);
    const stream = { sent: Math.max(from, this.#streams.get(run)?.sent ?? 0), lag: false, missed: false };
    this.#streams.set(run, stream);
    const skipped = numbered[numbered.length - this.#replayLimit];
    let good = from;
    for (const frame of frames) {
      const seq = frame.seq ?? this.#seqOf(frame);
      if (skipped && frame.type !== "run.started" && seq < (skipped.seq as number)) {
        continue;
      }
      if (skipped && frame.type !== "run.started" && good >= 0) {
        this.#gap(run, good, skipped.seq as number);
        good = -1;
      }
      this.#wire?.push(JSON.stringify(frame));
      if (good >= 0) {
        good = Math.max(good, seq);
      }
      stream.sent = Math.max(stream.sent, frame.seq ?? 0);
    }
  }

  /** A frame without a number stands at the number of its group. */
  #seqOf(frame: Frame): number {
    return this.#log.findIndex((r) => r.frames?.includes(frame));
  }

  #framesOf(run: string): Frame[] {
    return this.#written().flatMap((r) => r.frames ?? []).filter((f) => f.payload.run_id === run);
  }

  #written(): Log {
    return this.#log.slice(0, this.at);
  }

  #openRun(): string {
    const ends = this.#written().flatMap((r) => r.frames ?? []).filter((f) => f.type === "run.started" || terminals.includes(f.type));
    const last = ends.at(-1);
    return last?.type === "run.started" ? (last.payload.run_id ?? "") : "";
  }

  #pending(): { tool_call_id: string; tool_name: string; run_id: string; arguments: string }[] {
    const run = this.#openRun();
    const last = this.#framesOf(run).filter((f) => f.type === "run.interrupted" || f.type === "run.started").at(-1);
    return run === "" ? [] : (last?.payload.pending ?? []).map((p) => ({ ...p, run_id: run }));
  }

  #status() {
    const run = this.#openRun();
    const pending = this.#pending().length;
    return { session_id: session, status: pending > 0 ? "requires_action" : run ? "running" : "idle", ...(run ? { live_run_id: run } : {}), pending_count: pending };
  }

  #object(): Session {
    const { session_id: _, ...status } = this.#status();
    const time = "2026-08-18T04:10:00.000000Z";
    return {
      id: session, title: "", agent: "default", pinned: false, parent_id: null, created_at: time, updated_at: time, bytes: 0,
      last_seq: this.at - 1, pending: this.#pending().map(({ arguments: __, ...p }) => p), ...status,
    };
  }

  #page(before: string): { entries: Entry[]; first: boolean } {
    const written = this.#written();
    const all = written.flatMap((r) => r.frames ?? []).flatMap((f) => f.payload.entry ?? []);
    const path = new Set<string>();
    const byId = new Map(all.map((e) => [e.id, e]));
    for (let e = byId.get(written.at(-1)?.leaf ?? ""); e; e = byId.get(e.parent_id)) {
      path.add(e.id);
    }
    const end = before === "" ? all.length : all.findIndex((e) => e.id === before);
    const entries = all.slice(Math.max(0, end - this.#pageSize), end).map((e) => ({ ...e, on_path: path.has(e.id) }));
    return { entries, first: entries.length < this.#pageSize };
  }

  /** The request reaches the server now; what it answers arrives some time later. */
  #ask(want: Want): void {
    const startedAt = this.state.tick;
    const answer = (input: Input) => this.#answers.push(() => input);
    switch (want.want) {
      case "list":
        return void answer({ is: "list", startedAt, sessions: [this.#object()] });
      case "approvals": {
        const approvals = this.#pending().map((p) => ({ ...p, session_id: session, created_at: `asked for ${p.tool_call_id}` }));
        return void answer({ is: "approvals", startedAt, approvals });
      }
      case "session":
        return void answer({ is: "session", startedAt, session: this.#object() });
      case "inbox":
        return void answer({ is: "inbox", session, startedAt, items: [] });
      case "page":
        return void answer({ is: "page", page: { session, startedAt, logSeq: this.at - 1, before: "", ...this.#page("") } });
      case "earlier":
        return void answer({ is: "page", page: { session, startedAt, logSeq: this.at - 1, before: want.before, ...this.#page(want.before) } });
      case "reopen":
        return this.give({ is: "open", session });
      case "subscribe":
        if (this.#wire) {
          this.#replay(want.run, want.from);
        }
        return;
      case "frames": {
        const frames = this.#framesOf(want.run).filter((f) => this.#seqOf(f) > want.from && this.#seqOf(f) < want.next);
        return void answer({ is: "frames", run: want.run, from: want.from, next: want.next, frames: frames.map((f) => JSON.stringify(f)) });
      }
    }
  }

  /** Reads the page before the oldest entry. */
  earlier(): void {
    const before = this.state.open?.oldest ?? "";
    if (before !== "" && this.state.open?.earlier === "more") {
      const startedAt = this.state.tick;
      const page = { session, startedAt, logSeq: this.at - 1, before, ...this.#page(before) };
      this.#answers.push(() => ({ is: "page", page }));
    }
  }
}
