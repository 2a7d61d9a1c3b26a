// One batch of inputs changes a state once: the first write to a container copies it, later
// writes go into the copy. Outside the reducer nothing of this is seen.

import type { AppState, Buffer, CallPoint, RunState, SessionRow, SessionState, Standing, Want } from "./types.ts";
import type { Entry } from "../protocol.gen.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export function initialState(): AppState {
  return {
    tick: 0,
    me: null,
    caughtUp: false,
    list: "none",
    connectedAt: 0,
    listReadAt: 0,
    approvalsReadAt: 0,
    rows: new Map(),
    runs: new Map(),
    standing: new Map(),
    open: null,
    wants: [],
    unknownFrames: 0,
    malformedFrames: 0,
    faults: 0,
  };
}

export function initialSession(id: string, openedAt: number): SessionState {
  return {
    id,
    openedAt,
    load: "loading",
    problem: "",
    oldest: "",
    upto: -1,
    entries: new Map(),
    calls: new Map(),
    leaf: null,
    leafSeq: 0,
    logSeq: 0,
    leafBefore: "",
    earlier: "more",
    branchedAt: 0,
    pageReadAt: 0,
    newestThen: "",
    inbox: [],
    inboxLoad: "none",
    inboxAt: 0,
    leaving: new Set(),
    buffers: new Map(),
    closed: new Set(),
  };
}

export class Draft {
  readonly s: Mutable<AppState>;
  #owned = new WeakSet<object>();

  constructor(base: AppState) {
    this.s = { ...base };
  }

  get rows(): Map<string, SessionRow> {
    return (this.s.rows = this.#map(this.s.rows));
  }

  get runs(): Map<string, RunState> {
    return (this.s.runs = this.#map(this.s.runs));
  }

  get standing(): Map<string, Standing> {
    return (this.s.standing = this.#map(this.s.standing));
  }

  /** A run to be written to, if it is known. */
  run(id: string): Mutable<RunState> | undefined {
    const run = this.s.runs.get(id);
    if (!run || this.#owned.has(run)) {
      return run;
    }
    const copy = this.#own({ ...run });
    this.runs.set(id, copy);
    return copy;
  }

  /** A row to be written to, if it is known. */
  row(id: string): Mutable<SessionRow> | undefined {
    const row = this.s.rows.get(id);
    if (!row || this.#owned.has(row)) {
      return row;
    }
    const copy = this.#own({ ...row });
    this.rows.set(id, copy);
    return copy;
  }

  /** The open session to be written to, if it has this id. */
  session(id: string): OpenSession | undefined {
    const open = this.s.open;
    if (!open || open.id !== id) {
      return undefined;
    }
    if (!this.#owned.has(open)) {
      this.s.open = this.#own({ ...open });
    }
    return new OpenSession(this.s.open as Mutable<SessionState>, this);
  }

  want(want: Want): void {
    const same = JSON.stringify(want);
    if (!this.s.wants.some((w) => JSON.stringify(w) === same)) {
      this.s.wants = [...this.s.wants, want];
    }
  }

  /** Something came that the protocol rules out: it is dropped, and counted. */
  fault(): void {
    this.s.faults++;
  }

  #own<T extends object>(value: T): T {
    this.#owned.add(value);
    return value;
  }

  #map<K, V>(map: ReadonlyMap<K, V>): Map<K, V> {
    return this.#owned.has(map) ? (map as Map<K, V>) : this.#own(new Map(map));
  }

  /** For OpenSession only. */
  own = {
    map: <K, V>(map: ReadonlyMap<K, V>): Map<K, V> => this.#map(map),
    set: <V>(set: ReadonlySet<V>): Set<V> => (this.#owned.has(set) ? (set as Set<V>) : this.#own(new Set(set))),
  };
}

/** The open session inside a draft. */
export class OpenSession {
  readonly s: Mutable<SessionState>;
  readonly #draft: Draft;

  constructor(s: Mutable<SessionState>, draft: Draft) {
    this.s = s;
    this.#draft = draft;
  }

  get entries(): Map<string, Entry> {
    return (this.s.entries = this.#draft.own.map(this.s.entries));
  }

  get calls(): Map<string, readonly CallPoint[]> {
    return (this.s.calls = this.#draft.own.map(this.s.calls));
  }

  get buffers(): Map<string, Buffer> {
    return (this.s.buffers = this.#draft.own.map(this.s.buffers));
  }

  get closed(): Set<string> {
    return (this.s.closed = this.#draft.own.set(this.s.closed));
  }
}
