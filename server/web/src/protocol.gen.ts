// Code generated from server/protocol and turn/event by tsgen; DO NOT EDIT.

/** A name of an open vocabulary: known ones, and whatever else comes. */
export type Open<T extends string> = T | (string & {});

/**
 * Code says why a turn failed, in the one flat namespace that clients know.
 * The codes of the wires live with the wires.
 */
export const Code = {
  Unknown: "unknown",
  MaxTurns: "max_turns_exceeded",
  ModelBehavior: "model_behavior",
  ModelRefusal: "model_refusal",
  UserError: "user_error",
  ToolTimeout: "tool_timeout",
  ToolLoop: "tool_loop",
  ToolPanic: "tool_panic",
  Guardrail: "guardrail_tripwire",
  Sandbox: "sandbox_exec",
  MCP: "mcp",
  Provider: "provider_error",
  ContextOverflow: "context_overflow",
  Config: "config_error",
  /** a run is going on the session */
  SessionBusy: "session_busy",
  /** no such session of this owner */
  SessionNotFound: "session_not_found",
  /** no such run of this owner, or it has ended */
  RunNotFound: "run_not_found",
  /** the call is unknown, decided, foreign or ambiguous */
  ApprovalFailed: "approval_failed",
  /** the log could not be written */
  PersistError: "persist_error",
  /** the run's stream could not be served */
  StreamError: "stream_error",
  /** reserved: a resume that fails is told by run.diagnostic, and its run stays open */
  ResumeError: "resume_error",
  /** an unexpected error; details are in the server's log */
  Internal: "internal",
  /** malformed, unknown or impossible frame */
  BadFrame: "bad_frame",
  /** the token does not allow this verb */
  Forbidden: "forbidden",
} as const;
export type Code = (typeof Code)[keyof typeof Code];

/** SessionCreated is always seq 0. */
export interface EventSessionCreated {
  /** the calling session of a subagent, else null */
  parent_id: string | null;
}

/** TurnStart opens a turn. Its event id is the run id of the run wire. */
export interface EventTurnStart {
  /** name of the agent's definition */
  agent: string;
  /** ModeContinue, or "" */
  mode?: string;
}
export const EventModeContinue = "continue";

/** StepStart precedes the model request of a step. */
export interface EventStepStart {
  /** from 1, in its turn */
  n: number;
  /** provider/model */
  model: string;
}

/** UserMessage is the text that started a turn. */
export interface EventUserMessage {
  text: string;
  /** only where the sender gave one, or the run wire was used */
  input_id?: string;
}

/** ContextInjected is a text read from the inbox. */
export interface EventContextInjected {
  text: string;
  input_id?: string;
  queue?: string;
}

/** AssistantChunk is one non-empty delta of the answer. */
export interface EventAssistantChunk {
  text: string;
}

/** AssistantMessage is the model's reply: at most one text part, first, then its calls. */
export interface EventAssistantMessage {
  /** never null */
  parts: EventPart[];
  usage?: EventUsage;
  /** the provider's finish reason */
  stop?: string;
  /** cut by an abort; the text is what was streamed */
  partial?: boolean;
}
export const EventPartText = "text";
export const EventPartToolCall = "tool_call";

/** Part is one piece of a reply: text, or a tool call. */
export interface EventPart {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  /** an object */
  args?: unknown;
}

/** ToolCall is logged when a call is about to be handled, also when it will be refused. */
export interface EventToolCall {
  id: string;
  name: string;
  /** an object */
  args: unknown;
}

/** ToolResult ends a call. Exactly one of Content and Error is not null. */
export interface EventToolResult {
  id: string;
  /** any JSON */
  content: unknown;
  error: string | null;
  display?: unknown;
  cause?: string;
}

/** Usage is what the provider told of one request. A figure it left out is null. */
export interface EventUsage {
  prompt_tokens: number | null;
  completion_tokens: number | null;
  cost: number | null;
}

/** StepEnd closes a step whose calls all have results. */
export interface EventStepEnd {
  n: number;
  usage?: EventUsage;
}

/** Status is how a turn ended. */
export const EventStatus = {
  Completed: "completed",
  Cancelled: "cancelled",
  Rejected: "rejected",
  Empty: "empty",
  Failed: "failed",
} as const;
export type EventStatus = (typeof EventStatus)[keyof typeof EventStatus];

/** TurnEnd closes a turn. */
export interface EventTurnEnd {
  status: Open<EventStatus>;
  /** of a cancel, as its sender gave it */
  reason?: string;
  /** CauseSuperseded or CauseForked */
  cause?: string;
  /** when failed or rejected */
  error?: EventError;
}
export const EventCauseCancelled = "cancelled";
export const EventCauseSuperseded = "superseded";
export const EventCauseForked = "forked";
export const EventCauseExpired = "expired";

/** Error says why a turn failed; Code is one of the codes in code.go. */
export interface EventError {
  code: Open<Code>;
  message: string;
}

/** ApprovalRequested parks a call until somebody decides. */
export interface EventApprovalRequested {
  call_id: string;
  name: string;
  args: unknown;
}
export const EventApproved = "approved";
export const EventDenied = "denied";

/** ApprovalResolved decides the oldest undecided request of its call id. */
export interface EventApprovalResolved {
  call_id: string;
  verdict: string;
  reason?: string;
  by?: string;
  /** set when no person decided this call */
  cause?: string;
}

/** PolicyUpdated replaces the allow list; the last one wins. */
export interface EventPolicyUpdated {
  /** never null */
  patterns: string[];
  by?: string;
}

/** SessionCompacted stands for every event at or before UptoSeq. */
export interface EventSessionCompacted {
  upto_seq: number;
  summary: string;
  tokens_before?: number;
  tokens_after?: number;
}

/** SessionTitled names the session; the last one wins. */
export interface EventSessionTitled {
  title: string;
}

/** SessionForked marks the end of a copied prefix. */
export interface EventSessionForked {
  from: string;
  /** number of copied events, and the seq of this event */
  boundary: number;
}

/** ReasoningChunk is one delta of the model's reasoning. */
export interface EventReasoningChunk {
  text: string;
}

/** Reasoning stands directly before its step's message, in one append with it. */
export interface EventReasoning {
  text: string;
  summary?: unknown;
  /** the provider's own data */
  opaque?: unknown;
}
export const EventFieldReasoning = "reasoning";

/** Interrupted keeps text streamed by a step that never finished; no model sees it. */
export interface EventInterrupted {
  text: string;
  field?: string;
}

/** ToolProgress is output of a running call. */
export interface EventToolProgress {
  id: string;
  text: string;
}

/** ModelUpdated repoints a role of this agent, from the next step on. */
export interface EventModelUpdated {
  role: string;
  /** provider/model */
  model: string;
}

/** SessionBranched moved the leaf. */
export interface EventSessionBranched {
  to: string;
  previous: string;
}

/** Diagnostic tells what went on behind a run: a retry, a fallback, a failed resume. */
export interface EventDiagnostic {
  type: string;
  code?: Open<Code>;
  message?: string;
  details?: unknown;
}

/** Type names what an event records. The set is closed for writers, open for readers. */
export const EventType = {
  SessionCreated: "session/created",
  TurnStart: "turn/start",
  StepStart: "step/start",
  UserMessage: "user/message",
  ContextInjected: "context/injected",
  AssistantChunk: "assistant/chunk",
  AssistantMessage: "assistant/message",
  ToolCall: "tool/call",
  ToolResult: "tool/result",
  StepEnd: "step/end",
  TurnEnd: "turn/end",
  ApprovalRequested: "approval/requested",
  ApprovalResolved: "approval/resolved",
  PolicyUpdated: "policy/updated",
  SessionCompacted: "session/compacted",
  SessionTitled: "session/titled",
  SessionForked: "session/forked",
  ReasoningChunk: "assistant/reasoning_chunk",
  Reasoning: "assistant/reasoning",
  Interrupted: "assistant/interrupted",
  ToolProgress: "tool/progress",
  ModelUpdated: "model/updated",
  SessionBranched: "session/branched",
  Diagnostic: "run/diagnostic",
} as const;
export type EventType = (typeof EventType)[keyof typeof EventType];

/**
 * Auth is the first frame of a connection. Its members stand beside the type, it has no
 * payload: {"type":"auth","token":"…"}.
 */
export interface Auth {
  type: typeof ClientType.Auth;
  token: string;
}

/**
 * RunCreate starts a run. On a session whose run is parked it takes that run's place; a
 * run that a crash left open goes on with the input riding along.
 */
export interface RunCreate {
  session_id: string;
  /** "" answers the history as it stands */
  input: string;
  /** name of the definition to run under, for this run only */
  agent?: string;
}

/**
 * RunSubscribe replays a run from a cursor, then follows it; it replaces what this
 * connection heard of the run.
 */
export interface RunSubscribe {
  run_id: string;
  /** "I have everything up to and including"; 0 = nothing yet */
  from_seq?: number;
}

/** Mode says how a run is stopped; "" means ModeAbort. */
export const Mode = {
  /** stop now, in the middle of the stream */
  Abort: "abort",
  /** finish the step first */
  Graceful: "graceful",
} as const;
export type Mode = (typeof Mode)[keyof typeof Mode];

/** RunCancel stops a run. */
export interface RunCancel {
  run_id: string;
  mode?: Open<Mode>;
}

/** Queue says when a waiting text is read. */
export const Queue = {
  /** before the next step, and where the run would end: it goes on then */
  Steer: "steer",
  /** before the next step, if another one comes, else by the next run */
  NextTurn: "next_turn",
  /** where the run would end; it goes on then */
  FollowUp: "follow_up",
} as const;
export type Queue = (typeof Queue)[keyof typeof Queue];

/** RunInject puts a text into the inbox of an open run's session. */
export interface RunInject {
  run_id: string;
  queue: Open<Queue>;
  input: string;
}

/** ToolApprove lets a standing call run. */
export interface ToolApprove {
  tool_call_id: string;
  /** needed where several runs have the call id */
  run_id?: string;
  /** any scope means this call, once */
  scope?: string;
}

/** ToolReject denies a standing call. */
export interface ToolReject {
  tool_call_id: string;
  run_id?: string;
  /** the model reads it */
  reason?: string;
}

/** RESTCode is the code of a refused REST request, one for each HTTP status. */
export const RESTCode = {
  /** 400 */
  Validation: "validation",
  /** 401 */
  Unauthorized: "unauthorized",
  /** 403 */
  Forbidden: "forbidden",
  /** 404 */
  NotFound: "not_found",
  /** 409 */
  Conflict: "conflict",
  /** 413 */
  TooLarge: "too_large",
  /** 429 */
  RateLimited: "rate_limited",
  /** 500 */
  Internal: "internal",
  /** 502 */
  Upstream: "upstream",
  /** 503 */
  Unavailable: "unavailable",
} as const;
export type RESTCode = (typeof RESTCode)[keyof typeof RESTCode];

/** RESTError is the body of a refused REST request. */
export interface RESTError {
  error: RESTProblem;
}

/** RESTProblem says what was wrong and what to do. */
export interface RESTProblem {
  code: Open<RESTCode>;
  message: string;
}

/** Kind of an entry, an open vocabulary. */
export const Kind = {
  /** a message, a call, an output: a Responses item */
  Item: "item",
  /** a note that no model sees */
  Annotation: "annotation",
  /** a checkpoint: a summary of what stands before it */
  Compaction: "compaction",
  /** reserved */
  Terminal: "terminal",
  /** reserved */
  Custom: "custom",
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

/** Source says who made an entry, an open vocabulary. */
export const Source = {
  Model: "model",
  User: "user",
  Tool: "tool",
  /** reserved */
  Handoff: "handoff",
  ErrorHandler: "error_handler",
  Compaction: "compaction",
} as const;
export type Source = (typeof Source)[keyof typeof Source];

/**
 * Entry is one element of a session's history: the same members in the same order in a
 * frame and over REST. The first eight are always present, and always will be.
 */
export interface Entry {
  /** of the event */
  id: string;
  /** of the event: the session's log position */
  seq: number;
  kind: Open<Kind>;
  /** the entry before it on its branch; "" at a root */
  parent_id: string;
  source: EntrySource;
  /** a hint only; a tool chooses that of its result */
  display: Display;
  /** of an answer whose provider told it, else null */
  usage: Usage | null;
  payload: EntryPayload;
  /** the run it stands in; "" outside a run */
  run_id: string;
  /** the event's at */
  created_at: string;
  on_path: boolean;
  compacted: boolean;
}

/**
 * View is how an entry stands now. In a frame it is always on the path and not compacted;
 * over REST it is as it is when asked.
 */
export interface View {
  /** the leaf descends from it, or is it */
  on_path: boolean;
  /** a checkpoint on the path stands for it */
  compacted: boolean;
}

/** EntrySource says who made the entry. */
export interface EntrySource {
  type: Open<Source>;
}

/** Usage is what a provider told of one request. A figure it left out is null. */
export interface Usage {
  input_tokens: number | null;
  output_tokens: number | null;
  cost?: number;
}

/** DisplayKind says what a display shows; an unknown one is drawn as plain text. */
export const DisplayKind = {
  Message: "message",
  Reasoning: "reasoning",
  ToolCall: "tool_call",
  /** a call's output */
  Tool: "tool",
  Compaction: "compaction",
  Error: "error",
  Cancelled: "cancelled",
} as const;
export type DisplayKind = (typeof DisplayKind)[keyof typeof DisplayKind];

/** Display is a rendering hint. Everything that a correct timeline needs is in the payload. */
export interface Display {
  kind: Open<DisplayKind>;
  /** diff, terminal, table, todo, text, … */
  renderer?: string;
  title?: string;
  summary?: string;
  text?: string;
  call_id?: string;
  tool_name?: string;
  /** JSON text */
  arguments?: string;
  output?: string;
  is_error?: boolean;
  extra?: unknown;
}

/**
 * EntryPayload is the payload of an entry: what it is depends on the entry's kind, and
 * for KindItem on its type.
 */
export type EntryPayload =
  | UserMessage
  | AssistantMessage
  | Reasoning
  | FunctionCall
  | FunctionCallOutput
  | Checkpoint
  | PartialText
  | Failure
  | Cancellation;

/** ItemType names an item of the Responses vocabulary. */
export const ItemType = {
  Message: "message",
  Reasoning: "reasoning",
  FunctionCall: "function_call",
  FunctionCallOutput: "function_call_output",
} as const;
export type ItemType = (typeof ItemType)[keyof typeof ItemType];

/** Role of a message. */
export const Role = {
  User: "user",
  Assistant: "assistant",
} as const;
export type Role = (typeof Role)[keyof typeof Role];

/** ItemStatus tells whether an item is whole. */
export const ItemStatus = {
  Completed: "completed",
  /** cut by an abort, or by the provider's limit of length */
  Incomplete: "incomplete",
} as const;
export type ItemStatus = (typeof ItemStatus)[keyof typeof ItemStatus];

/** ContentType names a part of a message or of a reasoning. */
export const ContentType = {
  InputText: "input_text",
  OutputText: "output_text",
  SummaryText: "summary_text",
} as const;
export type ContentType = (typeof ContentType)[keyof typeof ContentType];

/** UserMessage is a text by a person or a program. */
export interface UserMessage {
  type: typeof ItemType.Message;
  role: typeof Role.User;
  content: InputText[];
}

/** InputText is a part of a UserMessage. */
export interface InputText {
  type: Open<ContentType>;
  text: string;
}

/**
 * AssistantMessage is an answer. Its calls are entries of their own; without a text the
 * content is empty, and a client draws nothing.
 */
export interface AssistantMessage {
  id: string;
  type: typeof ItemType.Message;
  role: typeof Role.Assistant;
  status: Open<ItemStatus>;
  content: OutputText[];
}

/** OutputText is a part of an AssistantMessage. */
export interface OutputText {
  type: Open<ContentType>;
  text: string;
  /** always empty */
  annotations: string[];
}

/** Reasoning is what the model thought before it answered. */
export interface Reasoning {
  id: string;
  type: typeof ItemType.Reasoning;
  /** SummaryText; a provider's own parts pass through */
  summary: unknown[];
}

/** SummaryText is a part of a Reasoning. */
export interface SummaryText {
  type: Open<ContentType>;
  text: string;
}

/** FunctionCall is a call of a tool. */
export interface FunctionCall {
  id: string;
  type: typeof ItemType.FunctionCall;
  status: Open<ItemStatus>;
  call_id: string;
  name: string;
  /** JSON text */
  arguments: string;
}

/**
 * FunctionCallOutput is what a call came to: its error, or its result; a result that is
 * no string stands as JSON text.
 */
export interface FunctionCallOutput {
  type: typeof ItemType.FunctionCallOutput;
  call_id: string;
  output: string;
}

/**
 * Checkpoint is the payload of KindCompaction: the summary stands for every entry of its
 * path at or before UptoSeq.
 */
export interface Checkpoint {
  summary: string;
  upto_seq: number;
  tokens_before?: number;
  tokens_after?: number;
}

/** PartialText is the annotation that keeps text of a step that never finished. */
export interface PartialText {
  partial: true;
  field: Open<Field>;
  text: string;
}

/** Failure is the annotation of a run that failed, as in its terminal frame. */
export interface Failure {
  code: Open<Code>;
  message: string;
}

/** Cancellation is the annotation of a run that was cancelled, as in its terminal frame. */
export interface Cancellation {
  reason: Open<CancelReason>;
  message?: string;
}

/** RunStatus is how a run stands. */
export const RunStatus = {
  Running: "running",
  /** a call waits for a verdict */
  Interrupted: "interrupted",
  /** open, and nobody runs it */
  Resumable: "resumable",
  Completed: "completed",
  Error: "error",
  Cancelled: "cancelled",
} as const;
export type RunStatus = (typeof RunStatus)[keyof typeof RunStatus];

/** Run is a run, over REST. */
export interface Run {
  run_id: string;
  session_id: string;
  status: Open<RunStatus>;
  /** of its turn/start */
  first_seq: number;
  /** of its turn/end; of the newest event while it is open */
  last_seq: number;
}

/** Approval is a standing call, over REST. */
export interface Approval {
  tool_call_id: string;
  tool_name: string;
  arguments: string;
  run_id: string;
  session_id: string;
  /** when it was asked for */
  created_at: string;
}

/** NewSession asks for a session. */
export interface NewSession {
  /** left out: one is made */
  id?: string;
  /** left out: the titler finds one */
  title?: string;
  /** name of its definition; left out: by its id, else the default */
  agent?: string;
}

/** SessionPatch changes a session; what is left out stays as it is. */
export interface SessionPatch {
  title?: string;
  pinned?: boolean;
}

/** BranchRequest moves a session's leaf. */
export interface BranchRequest {
  entry_id: string;
  /** to the entry's parent, to write the entry anew */
  exclusive?: boolean;
}

/** Branched is where a session's leaf went. */
export interface Branched {
  /** "" = the root */
  leaf: string;
  previous_leaf: string;
}

/** ForkRequest asks for a copy of a session up to an entry. */
export interface ForkRequest {
  /** id of the entry; left out: all of it */
  message_id?: string;
  /** up to the entry before it */
  exclusive?: boolean;
}

/** CompactionResult is what became of a compaction on demand. */
export interface CompactionResult {
  compacted: boolean;
  /** of what was replaced, if the provider told */
  tokens_before?: number;
  /** of the summary, likewise */
  tokens_after?: number;
  /** why nothing was compacted */
  reason?: string;
}

/** Policy is the list of tools that run without asking. */
export interface Policy {
  /** File.fnmatch globs over tool names */
  patterns: string[];
}

/**
 * UsageTotal sums what the providers told of a session's answers. What a fork copied was
 * paid for where it happened and does not count.
 */
export interface UsageTotal {
  answers: number;
  input_tokens: number;
  output_tokens: number;
  cost: number;
  /** every answer told both numbers of tokens */
  complete: boolean;
}

/** NewRun asks for a run. */
export interface NewRun {
  /** "" answers the history as it stands */
  input: string;
  /** name of the definition to run under, for this run only */
  agent?: string;
}

/**
 * RunOutcome is how a run that was asked for stands when the request is answered: one
 * that was waited for has a final output, or calls that wait, or a failure.
 */
export interface RunOutcome {
  run_id: string;
  session_id: string;
  status: Open<RunStatus>;
  final_output?: string;
  /** what waits for a verdict, in order of asking */
  interrupted?: PendingCall[];
  /** of a run that failed or was cancelled */
  error?: RESTProblem;
}

/** InjectRequest puts a text into the inbox of an open run's session. */
export interface InjectRequest {
  queue: Open<Queue>;
  input: string;
}

/** VerdictRequest decides a standing call. */
export interface VerdictRequest {
  /** needed where several runs have the call id */
  run_id?: string;
  /** of a rejection; the model reads it */
  reason?: string;
  /** of an approval; any scope means this call, once */
  scope?: string;
}

/** SearchHit is a place where the words that were searched for stand. */
export interface SearchHit {
  session_id: string;
  /** of the session */
  title: string;
  /** "" = it is the title that was found */
  entry_id: string;
  /** of the entry; -1 for a title */
  seq: number;
  snippet: string;
}

/** LogEvent is an event of a session's log, byte for byte as it is stored. */
export interface LogEvent {
  id: string;
  session_id: string;
  seq: number;
  at: string;
  type: string;
  payload: unknown;
}

/** AuthOK is sent once, when the token of the first frame was accepted. */
export interface AuthOK {
  owner: string;
  /** what the token may do: watch, inject, approve, admin */
  allow: string[];
  /** patterns of the sessions it reaches; null = all of the owner's */
  agents: string[] | null;
  /** identity of the file; another one than before: no cursor and nothing that was read holds */
  log_id: string;
}

/**
 * RunStarted is sent when a run begins and precedes every other frame of it. With
 * Resumed it is sent again when the last standing call was decided and, unnumbered,
 * when a run that a restart left open goes on.
 */
export interface RunStarted {
  run_id: string;
  session_id: string;
  resumed?: boolean;
}

/** RunAgentStart is sent when the first step of a run begins. */
export interface RunAgentStart {
  run_id: string;
  /** the definition the run runs under */
  agent_name: string;
}

/** Field says which part of an entry a delta belongs to. */
export const Field = {
  /** an answer; closed by its entry */
  Text: "text",
  /** what the model thinks; closed by its entry */
  Reasoning: "reasoning",
  /** what a running call prints; closed by the output entry of that call */
  ToolOutput: "tool_output",
} as const;
export type Field = (typeof Field)[keyof typeof Field];

/**
 * RunDelta is sent for each streamed piece of an entry. It appends to the buffer of
 * (EntryID, Field), which the finished entry replaces wholesale.
 */
export interface RunDelta {
  run_id: string;
  /** of the entry to come; of the call's entry for tool_output */
  entry_id: string;
  field: Open<Field>;
  delta: string;
}

/**
 * RunEntry is sent for each finished entry; it is authoritative. Outside a run, RunID is
 * "" and the frame is unnumbered.
 */
export interface RunEntry {
  run_id: string;
  session_id: string;
  /** an encoded Entry, the bytes that REST sends too */
  entry: Entry;
}

/**
 * RunInterrupted is sent when a call begins to wait for a verdict and when one of several
 * was decided. Pending replaces the list sent before.
 */
export interface RunInterrupted {
  run_id: string;
  /** what stands now, in order of asking; never empty */
  pending: PendingCall[];
}

/** PendingCall is a call that waits for a person's verdict. */
export interface PendingCall {
  tool_call_id: string;
  tool_name: string;
  /** JSON text */
  arguments: string;
}

/**
 * RunDiagnostic is sent for trouble that a run survived: a retry, a fallback, a failed
 * resume.
 */
export interface RunDiagnostic {
  run_id: string;
  type: string;
  code?: Open<Code>;
  message?: string;
  details?: unknown;
}

/** RunOutput is sent when a run ends by itself. Terminal. */
export interface RunOutput {
  run_id: string;
  /** text of its last answer, or "" */
  final_output: string;
}

/**
 * RunError is sent, numbered, when a run ends because it failed: terminal. Unnumbered it
 * refuses a frame, to the asking connection only, with the id that was asked for.
 */
export interface RunError {
  run_id?: string;
  session_id?: string;
  code: Open<Code>;
  message: string;
}

/** CancelReason says why a run was cancelled. */
export const CancelReason = {
  /** somebody stopped it */
  Stopped: "stopped",
  /** a newer run took its place */
  Superseded: "superseded",
  /** reserved */
  Shutdown: "shutdown",
} as const;
export type CancelReason = (typeof CancelReason)[keyof typeof CancelReason];

/** RunCancelled is sent when a run ends because it was cancelled. Terminal. */
export interface RunCancelled {
  run_id: string;
  reason: Open<CancelReason>;
  /** as the canceller gave it */
  message?: string;
}

/** Phase of a compaction. */
export const Phase = {
  Started: "started",
  Finished: "finished",
} as const;
export type Phase = (typeof Phase)[keyof typeof Phase];

/**
 * RunCompaction is sent, unnumbered, while a session's history is summarised. The
 * checkpoint itself is an entry.
 */
export interface RunCompaction {
  /** "" between runs */
  run_id: string;
  session_id: string;
  phase: Open<Phase>;
}

/**
 * RunGap is sent, unnumbered, to a connection that was too slow: what it missed of a live
 * run is dropped for it alone, and it goes on with the newest frame.
 */
export interface RunGap {
  run_id: string;
  /** log positions between the two, not all of which were frames */
  dropped: number;
  /** cursor to subscribe again from; 0 = the run's start */
  last_good: number;
  /** seq of the frame that follows; 0 = none will */
  next: number;
}

/** SessionStatus is what a session does now: the first of these that applies. */
export const SessionStatus = {
  /** a call waits for a verdict */
  RequiresAction: "requires_action",
  /** a cancel was accepted */
  Stopping: "stopping",
  Running: "running",
  /** a run is open and nobody runs it */
  Resumable: "resumable",
  /** the last run failed or was rejected */
  Failed: "failed",
  Idle: "idle",
} as const;
export type SessionStatus = (typeof SessionStatus)[keyof typeof SessionStatus];

/** Session is a session, in lists, over REST and in the frames that announce it. */
export interface Session {
  id: string;
  title: string;
  /** name of its definition */
  agent: string;
  pinned: boolean;
  /** the calling session of a subagent */
  parent_id: string | null;
  /** the session that it was copied from, which may be gone */
  forked_from?: string;
  /** UTC, six decimals, Z */
  created_at: string;
  updated_at: string;
  last_seq: number;
  /** the last text by a person */
  last_input_at?: string;
  /** size of its log */
  bytes: number;
  status: Open<SessionStatus>;
  live_run_id?: string;
  pending_count: number;
  /** the standing calls, in order of asking; never null */
  pending: SessionPending[];
  last_error?: Failure;
}

/** SessionPending is a standing call of a session. */
export interface SessionPending {
  tool_call_id: string;
  tool_name: string;
  run_id: string;
}

/** SessionCreated is sent when an owner's session was made. */
export interface SessionCreated {
  session: Session;
}

/**
 * SessionUpdated is sent when something of the session object changed that no other
 * frame tells.
 */
export interface SessionUpdated {
  session: Session;
}

/** SessionDeleted is sent when a session is gone. */
export interface SessionDeleted {
  session_id: string;
}

/** SessionTitleUpdated is sent when a session got a title, from a person or the titler. */
export interface SessionTitleUpdated {
  session_id: string;
  title: string;
}

/** SessionStatusChanged is sent when the status or the number of standing calls changed. */
export interface SessionStatusChanged {
  session_id: string;
  status: Open<SessionStatus>;
  live_run_id?: string;
  pending_count: number;
}

/** SessionBranched is sent when the leaf moved to another entry. */
export interface SessionBranched {
  session_id: string;
  /** "" = the root */
  leaf: string;
  previous: string;
}

/** SessionInbox is sent when what waits to be read changed; Items is all of it. */
export interface SessionInbox {
  session_id: string;
  /** in order of arrival; never null */
  items: InboxItem[];
}

/** InboxItem is a text that waits to be read. */
export interface InboxItem {
  input_id: string;
  queue: Open<Queue>;
  text: string;
  wake: boolean;
  /** UTC, six decimals, Z */
  queued_at: string;
}

/** ServerType names a frame from the server. */
export const ServerType = {
  AuthOK: "auth.ok",
  RunStarted: "run.started",
  RunAgentStart: "run.agent_start",
  RunDelta: "run.delta",
  RunEntry: "run.entry",
  RunInterrupted: "run.interrupted",
  RunDiagnostic: "run.diagnostic",
  RunOutput: "run.output",
  RunError: "run.error",
  RunCancelled: "run.cancelled",
  RunCompaction: "run.compaction",
  RunGap: "run.gap",
  SessionCreated: "session.created",
  SessionUpdated: "session.updated",
  SessionDeleted: "session.deleted",
  SessionTitleUpdated: "session.title_updated",
  SessionStatus: "session.status",
  SessionBranched: "session.branched",
  SessionInbox: "session.inbox",
} as const;
export type ServerType = (typeof ServerType)[keyof typeof ServerType];

/**
 * ClientType names a frame from a client. The set is closed: anything else is
 * answered by CodeBadFrame.
 */
export const ClientType = {
  Auth: "auth",
  RunCreate: "run.create",
  RunSubscribe: "run.subscribe",
  RunCancel: "run.cancel",
  RunInject: "run.inject",
  ToolApprove: "tool.approve",
  ToolReject: "tool.reject",
} as const;
export type ClientType = (typeof ClientType)[keyof typeof ClientType];

/** What each frame from the server holds. */
export interface ServerPayloads {
  [ServerType.AuthOK]: AuthOK;
  [ServerType.RunStarted]: RunStarted;
  [ServerType.RunAgentStart]: RunAgentStart;
  [ServerType.RunDelta]: RunDelta;
  [ServerType.RunEntry]: RunEntry;
  [ServerType.RunInterrupted]: RunInterrupted;
  [ServerType.RunDiagnostic]: RunDiagnostic;
  [ServerType.RunOutput]: RunOutput;
  [ServerType.RunError]: RunError;
  [ServerType.RunCancelled]: RunCancelled;
  [ServerType.RunCompaction]: RunCompaction;
  [ServerType.RunGap]: RunGap;
  [ServerType.SessionCreated]: SessionCreated;
  [ServerType.SessionUpdated]: SessionUpdated;
  [ServerType.SessionDeleted]: SessionDeleted;
  [ServerType.SessionTitleUpdated]: SessionTitleUpdated;
  [ServerType.SessionStatus]: SessionStatusChanged;
  [ServerType.SessionBranched]: SessionBranched;
  [ServerType.SessionInbox]: SessionInbox;
}

/** What each frame to the server holds. */
export interface ClientPayloads {
  [ClientType.RunCreate]: RunCreate;
  [ClientType.RunSubscribe]: RunSubscribe;
  [ClientType.RunCancel]: RunCancel;
  [ClientType.RunInject]: RunInject;
  [ClientType.ToolApprove]: ToolApprove;
  [ClientType.ToolReject]: ToolReject;
}

/** What each event of the log holds. */
export interface EventPayloads {
  [EventType.SessionCreated]: EventSessionCreated;
  [EventType.TurnStart]: EventTurnStart;
  [EventType.StepStart]: EventStepStart;
  [EventType.UserMessage]: EventUserMessage;
  [EventType.ContextInjected]: EventContextInjected;
  [EventType.AssistantChunk]: EventAssistantChunk;
  [EventType.AssistantMessage]: EventAssistantMessage;
  [EventType.ToolCall]: EventToolCall;
  [EventType.ToolResult]: EventToolResult;
  [EventType.StepEnd]: EventStepEnd;
  [EventType.TurnEnd]: EventTurnEnd;
  [EventType.ApprovalRequested]: EventApprovalRequested;
  [EventType.ApprovalResolved]: EventApprovalResolved;
  [EventType.PolicyUpdated]: EventPolicyUpdated;
  [EventType.SessionCompacted]: EventSessionCompacted;
  [EventType.SessionTitled]: EventSessionTitled;
  [EventType.SessionForked]: EventSessionForked;
  [EventType.ReasoningChunk]: EventReasoningChunk;
  [EventType.Reasoning]: EventReasoning;
  [EventType.Interrupted]: EventInterrupted;
  [EventType.ToolProgress]: EventToolProgress;
  [EventType.ModelUpdated]: EventModelUpdated;
  [EventType.SessionBranched]: EventSessionBranched;
  [EventType.Diagnostic]: EventDiagnostic;
}

/** The members of each frame's payload, as the parser checks them. */
const serverShapes: Record<ServerType, Shape> = {
  [ServerType.AuthOK]: { owner: "string", allow: "array", agents: "array|null", log_id: "string" },
  [ServerType.RunStarted]: { run_id: "string", session_id: "string", resumed: "boolean?" },
  [ServerType.RunAgentStart]: { run_id: "string", agent_name: "string" },
  [ServerType.RunDelta]: { run_id: "string", entry_id: "string", field: "string", delta: "string" },
  [ServerType.RunEntry]: { run_id: "string", session_id: "string", entry: "any" },
  [ServerType.RunInterrupted]: { run_id: "string", pending: "array" },
  [ServerType.RunDiagnostic]: { run_id: "string", type: "string", code: "string?", message: "string?", details: "any?" },
  [ServerType.RunOutput]: { run_id: "string", final_output: "string" },
  [ServerType.RunError]: { run_id: "string?", session_id: "string?", code: "string", message: "string" },
  [ServerType.RunCancelled]: { run_id: "string", reason: "string", message: "string?" },
  [ServerType.RunCompaction]: { run_id: "string", session_id: "string", phase: "string" },
  [ServerType.RunGap]: { run_id: "string", dropped: "number", last_good: "number", next: "number" },
  [ServerType.SessionCreated]: { session: "object" },
  [ServerType.SessionUpdated]: { session: "object" },
  [ServerType.SessionDeleted]: { session_id: "string" },
  [ServerType.SessionTitleUpdated]: { session_id: "string", title: "string" },
  [ServerType.SessionStatus]: { session_id: "string", status: "string", live_run_id: "string?", pending_count: "number" },
  [ServerType.SessionBranched]: { session_id: "string", leaf: "string", previous: "string" },
  [ServerType.SessionInbox]: { session_id: "string", items: "array" },
};

const entryShape: Shape = { id: "string", seq: "number", kind: "string", parent_id: "string", source: "object", display: "any", usage: "object|null", payload: "object", run_id: "string", created_at: "string", on_path: "boolean", compacted: "boolean" };

/** A frame from the server: type says what payload is. */
export type ServerFrame = {
  [T in keyof ServerPayloads]: {
    type: T;
    /** Cursor: the seq of the event that the frame comes from. Absent on an unnumbered frame. */
    seq?: number;
    payload: ServerPayloads[T];
  };
}[keyof ServerPayloads];

/** A frame to the server. */
export type ClientFrame =
  | Auth
  | { [T in keyof ClientPayloads]: { type: T; payload: ClientPayloads[T] } }[keyof ClientPayloads];

/** Type of a member, "|null" where it may be null, "?" where it may be absent. */
type Shape = Record<string, string>;

/** A frame of a type that this version does not know: to be ignored and counted. */
export interface UnknownFrame {
  type: string;
  seq?: number;
  payload: unknown;
}

export type ParsedFrame =
  | { is: "known"; frame: ServerFrame }
  | { is: "unknown"; frame: UnknownFrame }
  | { is: "malformed"; reason: string };

/** An entry whose kind, and type of item, this version knows. */
export type KnownEntry = Entry &
  (
    | { kind: typeof Kind.Item; payload: Item }
    | { kind: typeof Kind.Compaction; payload: Checkpoint }
    | { kind: typeof Kind.Annotation; payload: PartialText | Failure | Cancellation }
  );

export type Item = UserMessage | AssistantMessage | Reasoning | FunctionCall | FunctionCallOutput;

export type ParsedEntry =
  | { is: "known"; entry: KnownEntry }
  | { is: "unknown"; entry: Entry }
  | { is: "malformed"; reason: string };

/** Reads one frame. A known one has every member that its type promises. */
export function parseFrame(text: string): ParsedFrame {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { is: "malformed", reason: "not JSON" };
  }
  if (!isObject(value) || typeof value.type !== "string") {
    return { is: "malformed", reason: "no type" };
  }
  if (value.seq !== undefined && !Number.isSafeInteger(value.seq)) {
    return { is: "malformed", reason: `${value.type}: seq is no integer` };
  }
  if (!Object.hasOwn(serverShapes, value.type)) {
    return { is: "unknown", frame: value as unknown as UnknownFrame };
  }
  const frame = value as unknown as ServerFrame;
  let wrong = misfit(frame.payload, serverShapes[frame.type]);
  if (!wrong && frame.type === ServerType.RunEntry) {
    wrong = misfit(frame.payload.entry, entryShape);
  }
  return wrong ? { is: "malformed", reason: `${frame.type}: ${wrong}` } : { is: "known", frame };
}

/** Reads one entry, of a frame or of a page of history. */
export function parseEntry(value: unknown): ParsedEntry {
  const wrong = misfit(value, entryShape);
  if (wrong) {
    return { is: "malformed", reason: wrong };
  }
  const entry = value as Entry;
  return isKnown(entry) ? { is: "known", entry } : { is: "unknown", entry };
}

function isKnown(entry: Entry): entry is KnownEntry {
  const payload: unknown = entry.payload;
  if (!isObject(payload)) {
    return false;
  }
  switch (entry.kind) {
    case Kind.Item:
      return Object.values<unknown>(ItemType).includes(payload.type);
    case Kind.Compaction:
      return typeof payload.summary === "string";
    case Kind.Annotation:
      return payload.partial === true || typeof payload.code === "string" || typeof payload.reason === "string";
    default:
      return false;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Says what is wrong with a value, "" when it has the shape. Members beyond it are welcome. */
function misfit(value: unknown, shape: Shape): string {
  if (!isObject(value)) {
    return "no object";
  }
  for (const [name, want] of Object.entries(shape)) {
    const member = value[name];
    const optional = want.endsWith("?");
    const [kind, nullable] = want.replace("?", "").split("|");
    if (member === undefined) {
      if (!optional) {
        return `${name} is missing`;
      }
    } else if (member === null ? kind !== "any" && !nullable : !fits(member, kind)) {
      return `${name} is not ${want}`;
    }
  }
  return "";
}

function fits(value: unknown, kind: string | undefined): boolean {
  switch (kind) {
    case "any":
      return true;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return typeof value === kind;
  }
}
