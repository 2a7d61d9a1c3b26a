// What the page holds. Everything here comes from the wire, or is named local; the
// reducer (reduce.ts) is the only writer, the components only read. All of it is
// immutable: a changed thing is a new object, so a component may compare by identity.

import type {
  Approval, Code, Display, Entry, InboxItem, LogEvent, Open, Queue, RESTCode, Session, SessionStatus,
} from "../protocol.gen.ts";

// ---- the connection ---------------------------------------------------------------

export type ConnectionPhase = "signed_out" | "connecting" | "catching_up" | "live" | "waiting" | "offline";

/** Why the connection is as it is; chooses the words, never the behaviour. */
export type ConnectionReason =
  | "" | "token_unknown" | "token_revoked" | "rate_limited" | "restarting" | "no_answer" | "server_error";

export interface ConnectionState {
  phase: ConnectionPhase;
  reason: ConnectionReason;
  /** local epoch ms: since when there is no live connection; 0 while there is */
  downSince: number;
  /** local epoch ms of the next try; 0 = none is due */
  retryAt: number;
}

// ---- all sessions -----------------------------------------------------------------

/** A session as the list shows it: the wire's object, and what frames said of it since. */
export interface SessionRow extends Session {
  /** highest seq that is worth a person's look: an entry, a terminal frame, an approval */
  newsSeq: number;
  /** tick of the newest word on it: a reading that began before says less */
  touchedAt: number;
  /** a history is being summarised */
  compacting: boolean;
}

/** A call that waits for a person. */
export interface StandingCall {
  run_id: string;
  session_id: string;
  tool_call_id: string;
  tool_name: string;
  /** JSON text; null = not read yet */
  arguments: string | null;
  /** when it was asked for; null = not read yet */
  created_at: string | null;
}

/** The standing calls of a session, as one position of its log has them. */
export interface Standing {
  /** the position */
  seq: number;
  /** tick of the newest change */
  at: number;
  calls: readonly StandingCall[];
}

export type RunPhase = "running" | "parked" | "ended";

export type RunEnd =
  | { how: "output"; text: string }
  | { how: "error"; code: Open<Code>; message: string }
  | { how: "cancelled"; reason: string; message: string };

/** A hole in the stream of a run, lastGood < seq < next, until it is filled. */
export interface Hole {
  lastGood: number;
  next: number;
  /** log positions in it */
  dropped: number;
  /** stream: subscribed again; log: read over REST; failed: the reading failed, try again */
  by: "stream" | "log" | "failed";
}

export interface RunState {
  id: string;
  session: string;
  agent: string;
  phase: RunPhase;
  /** seq of the newest numbered frame applied; 0 = none */
  cursor: number;
  /** seq of its newest entry that a read named: until the cursor is there it is being replayed */
  upto: number;
  /** numbered frames are discarded until the stream asked for begins: the first frame below; 0 = none */
  awaitBelow: number;
  /** the highest number discarded meanwhile: one that is not higher comes from the new stream too */
  discarded: number;
  hole: Hole | null;
  end: RunEnd | null;
  /** tick of the terminal frame; 0 while open */
  endedAt: number;
  /** the newest diagnostic with no content after it */
  diagnostic: { type: string; code: string; message: string; count: number } | null;
}

// ---- the open session ---------------------------------------------------------------

/** Streamed text that no entry has replaced yet. The key is bufferKey(entry_id, field). */
export interface Buffer {
  entry: string;
  field: string;
  run: string;
  /** of its first delta: where it stands */
  seq: number;
  text: string;
  /** streamed behind a hole that is still open: joined to text when that is filled */
  tail: string;
}

/** Where a call or its output stands in the log. */
export interface CallPoint {
  id: string;
  seq: number;
  output: boolean;
}

export type PageLoad = "none" | "loading" | "ready" | "failed";

/** The one session whose entries are kept. */
export interface SessionState {
  id: string;
  /** tick of the opening: another one while it stays open means that its log is another one */
  openedAt: number;
  /** the newest page; absent: no such session (any more) */
  load: "loading" | "ready" | "failed" | "absent";
  /** words of the failed read */
  problem: string;
  /** the entry from which on all are here, up to the log position upto; "" = none is */
  oldest: string;
  upto: number;
  /**
   * By id. Where they stand now (on_path, compacted)
   * follows from leaf and checkpoints, so the members of that name here mean nothing.
   */
  entries: ReadonlyMap<string, Entry>;
  /** calls and outputs of one (run, call id), in log order; the key is callKey */
  calls: ReadonlyMap<string, readonly CallPoint[]>;
  /** the newest entry of the active path; "" = the root; null = on a page not read yet */
  leaf: string | null;
  /** log position at which the leaf was said: later entries move it */
  leafSeq: number;
  /** log position that the newest reading of its entries, or frame of an entry, named */
  logSeq: number;
  /** the leaf stands on a page before this entry, which must be read again; "" = it is known */
  leafBefore: string;
  /** pages before the oldest entry */
  earlier: "more" | "loading" | "failed" | "start";
  /** tick of the newest branch: a page whose reading began before it says no leaf */
  branchedAt: number;
  /** tick when the reading of the newest page began; 0 = none was read */
  pageReadAt: number;
  /** the newest entry that was here at the last connecting: "" = none was */
  newestThen: string;
  inbox: readonly InboxItem[];
  inboxLoad: PageLoad;
  /** tick of the newest inbox */
  inboxAt: number;
  /** ids of waiting texts that were read or taken back: they wait for their entry, or for the reading that tells which */
  leaving: ReadonlySet<string>;
  buffers: ReadonlyMap<string, Buffer>;
  closed: ReadonlySet<string>;
}

/** Something the log showed that must be read. The driver does it and empties the list. */
export type Want =
  | { want: "list" }
  | { want: "approvals" }
  | { want: "session"; session: string }
  | { want: "page"; session: string }
  | { want: "earlier"; session: string; before: string }
  /** nothing known of it holds: its log is another one */
  | { want: "reopen"; session: string }
  | { want: "inbox"; session: string }
  /** late: not at once, the server had trouble with it */
  | { want: "subscribe"; run: string; from: number; late?: true }
  | { want: "frames"; run: string; from: number; next: number };

export interface AppState {
  /** grows with every input; a read that began at a tick yields to what came after it */
  tick: number;
  /** logId: of the server's file; what was read holds for it alone */
  me: { owner: string; allow: readonly string[]; logId: string } | null;
  /** the reads after auth.ok are merged and the open runs have come to what they named */
  caughtUp: boolean;
  list: PageLoad;
  /** ticks of the newest auth.ok, and of when the readings that followed began */
  connectedAt: number;
  listReadAt: number;
  approvalsReadAt: number;
  rows: ReadonlyMap<string, SessionRow>;
  runs: ReadonlyMap<string, RunState>;
  /** by session; without calls where it is known that none stands */
  standing: ReadonlyMap<string, Standing>;
  open: SessionState | null;
  wants: readonly Want[];
  /** frames that were of an unknown type, malformed, or against the contract */
  unknownFrames: number;
  malformedFrames: number;
  faults: number;
}

// ---- the timeline: what selectors make of a SessionState -----------------------------

/** One of several entries with the same parent. ids are oldest first. */
export interface Attempt {
  index: number;
  ids: readonly string[];
}

interface ItemBase {
  /** the entry's id, also while it is provisional: the same node on the screen */
  key: string;
  /** "" outside a run */
  run: string;
  /** order in the log; of a provisional item the seq of its first piece */
  seq: number;
  /** null while provisional */
  entry: Entry | null;
  /** a checkpoint stands for it in what the model reads */
  compacted: boolean;
}

export type CallState =
  /** no output yet, the run goes on */
  | "running"
  /** waits for a person */
  | "standing"
  | "done"
  | "failed"
  /** the run is over, or not going on, and no output ever came */
  | "open";

export interface Call extends ItemBase {
  is: "call";
  callId: string;
  name: string;
  /** JSON text */
  arguments: string;
  state: CallState;
  standing: StandingCall | null;
  /** output so far while it runs, else of its output entry */
  output: string;
  result: Entry | null;
  /** of the output entry, else derived from the call */
  display: Display;
  startedAt: string;
  /** ms; null where the log does not tell it: results of a group come in call order */
  duration: number | null;
  /** of the last step of its run: a small diff stands open */
  lastStep: boolean;
}

export type TimelineItem =
  | (ItemBase & { is: "user"; text: string; attempt: Attempt | null; injected: boolean })
  | (ItemBase & { is: "prose"; text: string; streaming: boolean; incomplete: boolean; parts: readonly unknown[] })
  | (ItemBase & { is: "reasoning"; text: string; streaming: boolean })
  | Call
  /** calls with no other entry between them: they ran together */
  | (ItemBase & { is: "group"; calls: readonly Call[] })
  /** finished good calls of serial steps without text between */
  | (ItemBase & { is: "folded"; calls: readonly Call[] })
  | (ItemBase & { is: "partial"; field: string; text: string })
  | (ItemBase & { is: "failure"; code: string; message: string })
  | (ItemBase & { is: "cancelled"; reason: string; message: string })
  | (ItemBase & { is: "compaction"; summary: string; upto: number })
  | (ItemBase & { is: "unknown"; kind: string; payload: unknown })
  | (ItemBase & { is: "hole"; hole: Hole })
  | (ItemBase & { is: "replaying"; at: number; upto: number })
  | (ItemBase & { is: "diagnostic"; code: string; message: string; count: number })
  | (ItemBase & { is: "foot"; foot: RunFoot });

/** One line under a finished run, counted from its entries. */
export interface RunFoot {
  steps: number;
  /** ms, last entry − first entry */
  duration: number;
  /** null = no provider told any */
  inputTokens: number | null;
  outputTokens: number | null;
  /** some step's figures are missing, so the sums are a lower bound */
  partial: boolean;
  /** null = not reported */
  cost: number | null;
  /** attempts to answer the same text */
  attempt: Attempt | null;
  /** the person's text that it answers, to branch to; "" = none */
  userEntry: string;
  /** its last entry, to fork behind */
  lastEntry: string;
  /** all its prose, to copy */
  text: string;
}

export interface Timeline {
  items: readonly TimelineItem[];
  earlier: SessionState["earlier"];
  /** of the run that is open, else "" */
  liveRun: string;
}

// ---- inputs of the reducer ------------------------------------------------------------

/** A page of history. startedAt: the tick when its reading began. */
export interface PageRead {
  session: string;
  startedAt: number;
  /** X-Log-Seq */
  logSeq: number;
  entries: readonly unknown[];
  /** "" = the newest page, else the entry it ends before */
  before: string;
  /** fewer than asked for came: the log begins here */
  first: boolean;
}

export type Input =
  | { is: "frame"; text: string }
  | { is: "connected" }
  | { is: "disconnected" }
  | { is: "signed_out" }
  | { is: "list"; startedAt: number; sessions: readonly Session[] }
  | { is: "list_loading" }
  | { is: "list_failed" }
  | { is: "approvals"; startedAt: number; approvals: readonly Approval[] }
  | { is: "session"; startedAt: number; session: Session }
  | { is: "session_absent"; session: string }
  /** the newest entry of a session whose log ended at lastSeq; −1 = it has none */
  | { is: "news"; session: string; lastSeq: number; seq: number }
  | { is: "page"; page: PageRead }
  | { is: "page_loading"; session: string; before: string }
  | { is: "page_failed"; session: string; before: string; problem: string }
  | { is: "inbox"; session: string; startedAt: number; items: readonly InboxItem[] }
  | { is: "inbox_failed"; session: string }
  /** the frames that filled a hole: read from the log, all of it */
  | { is: "frames"; run: string; from: number; next: number; frames: readonly string[] }
  | { is: "frames_failed"; run: string }
  | { is: "retry_hole"; run: string }
  | { is: "open"; session: string }
  | { is: "close" }
  | { is: "wants_taken" };

// ---- commands --------------------------------------------------------------------------

/** What became of a thing a person did. Nothing is shown that the wire has not said. */
export type Outcome<T = undefined> =
  | { ok: true; value: T }
  | {
      ok: false;
      /** a REST code, or unreachable: nobody knows whether it arrived */
      code: Open<RESTCode> | "unreachable" | "signed_out";
      status: number;
      message: string;
    };

export type { Approval, Entry, InboxItem, LogEvent, Queue, Session, SessionStatus };
