package event

import "encoding/json"

// Payload ties a body to its type, so that no append can pair the wrong two.
type Payload interface{ EventType() Type }

// SessionCreated is always seq 0.
type SessionCreated struct {
	ParentID *string `json:"parent_id"` // the calling session of a subagent, else null
}

// TurnStart opens a turn. Its event id is the run id of the run wire.
type TurnStart struct {
	Agent string `json:"agent"`          // name of the agent's definition
	Mode  string `json:"mode,omitempty"` // ModeContinue, or ""
}

// ModeContinue marks a turn that asks the model with nothing new.
const ModeContinue = "continue"

// StepStart precedes the model request of a step.
type StepStart struct {
	N     int    `json:"n"`     // from 1, in its turn
	Model string `json:"model"` // provider/model
}

// UserMessage is the text that started a turn.
type UserMessage struct {
	Text    string `json:"text"`
	InputID string `json:"input_id,omitempty"` // only where the sender gave one, or the run wire was used
}

// ContextInjected is a text read from the inbox.
type ContextInjected struct {
	Text    string `json:"text"`
	InputID string `json:"input_id,omitempty"`
	Queue   string `json:"queue,omitempty"`
}

// AssistantChunk is one non-empty delta of the answer.
type AssistantChunk struct {
	Text string `json:"text"`
}

// AssistantMessage is the model's reply: at most one text part, first, then its calls.
type AssistantMessage struct {
	Parts   []Part `json:"parts"` // never null
	Usage   *Usage `json:"usage,omitempty"`
	Stop    string `json:"stop,omitempty"`    // the provider's finish reason
	Partial bool   `json:"partial,omitempty"` // cut by an abort; the text is what was streamed
}

// Cut tells whether the reply is shorter than the model meant it: an abort or the
// provider's limit of length has ended it. Those are OpenAI's and Anthropic's words for that.
func (m AssistantMessage) Cut() bool {
	return m.Partial || m.Stop == "length" || m.Stop == "max_tokens"
}

// Kinds of Part.
const (
	PartText     = "text"
	PartToolCall = "tool_call"
)

// Part is one piece of a reply: text, or a tool call.
type Part struct {
	Type string          `json:"type"`
	Text string          `json:"text,omitempty"`
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name,omitempty"`
	Args json.RawMessage `json:"args,omitempty"` // an object
}

// ToolCall is logged when a call is about to be handled, also when it will be refused.
type ToolCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"` // an object
}

// ToolResult ends a call. Exactly one of Content and Error is not null.
type ToolResult struct {
	ID      string          `json:"id"`
	Content json.RawMessage `json:"content"` // any JSON
	Error   *string         `json:"error"`
	Display json.RawMessage `json:"display,omitempty"`
	Cause   string          `json:"cause,omitempty"`
}

// Usage is what the provider told of one request. A figure it left out is null.
type Usage struct {
	PromptTokens     *int64   `json:"prompt_tokens"`
	CompletionTokens *int64   `json:"completion_tokens"`
	Cost             *float64 `json:"cost"`
}

// StepEnd closes a step whose calls all have results.
type StepEnd struct {
	N     int    `json:"n"`
	Usage *Usage `json:"usage,omitempty"`
}

// Status is how a turn ended.
type Status string

const (
	Completed Status = "completed"
	Cancelled Status = "cancelled"
	Rejected  Status = "rejected"
	Empty     Status = "empty"
	Failed    Status = "failed"
)

// TurnEnd closes a turn.
type TurnEnd struct {
	Status Status  `json:"status"`
	Reason *string `json:"reason,omitempty"` // of a cancel, as its sender gave it
	Cause  string  `json:"cause,omitempty"`  // CauseSuperseded or CauseForked
	Error  *Error  `json:"error,omitempty"`  // when failed or rejected
}

// Causes of a cancelled turn, a denial or a result that no person decided.
const (
	CauseCancelled  = "cancelled"
	CauseSuperseded = "superseded"
	CauseForked     = "forked"
	CauseExpired    = "expired"
)

// Error says why a turn failed; Code is one of the codes in code.go.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// ApprovalRequested parks a call until somebody decides.
type ApprovalRequested struct {
	CallID string          `json:"call_id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
}

// Verdicts of an approval.
const (
	Approved = "approved"
	Denied   = "denied"
)

// ApprovalResolved decides the oldest undecided request of its call id.
type ApprovalResolved struct {
	CallID  string  `json:"call_id"`
	Verdict string  `json:"verdict"`
	Reason  *string `json:"reason,omitempty"`
	By      string  `json:"by,omitempty"`
	Cause   string  `json:"cause,omitempty"` // set when no person decided this call
}

// PolicyUpdated replaces the allow list; the last one wins.
type PolicyUpdated struct {
	Patterns []string `json:"patterns"` // never null
	By       string   `json:"by,omitempty"`
}

// SessionCompacted stands for every event at or before UptoSeq.
type SessionCompacted struct {
	UptoSeq      int64  `json:"upto_seq"`
	Summary      string `json:"summary"`
	TokensBefore *int64 `json:"tokens_before,omitempty"`
	TokensAfter  *int64 `json:"tokens_after,omitempty"`
}

// SessionTitled names the session; the last one wins.
type SessionTitled struct {
	Title string `json:"title"`
}

// SessionForked marks the end of a copied prefix.
type SessionForked struct {
	From     string `json:"from"`
	Boundary int64  `json:"boundary"` // number of copied events, and the seq of this event
}

// ReasoningChunk is one delta of the model's reasoning.
type ReasoningChunk struct {
	Text string `json:"text"`
}

// Reasoning stands directly before its step's message, in one append with it.
type Reasoning struct {
	Text    string          `json:"text"`
	Summary json.RawMessage `json:"summary,omitempty"`
	Opaque  json.RawMessage `json:"opaque,omitempty"` // the provider's own data
}

// FieldReasoning is the Field of an Interrupted that holds reasoning.
const FieldReasoning = "reasoning"

// Interrupted keeps text streamed by a step that never finished; no model sees it.
type Interrupted struct {
	Text  string `json:"text"`
	Field string `json:"field,omitempty"`
}

// ToolProgress is output of a running call.
type ToolProgress struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// ModelUpdated repoints a role of this agent, from the next step on.
type ModelUpdated struct {
	Role  string `json:"role"`
	Model string `json:"model"` // provider/model
}

// SessionBranched moved the leaf.
type SessionBranched struct {
	To       string `json:"to"`
	Previous string `json:"previous"`
}

// Diagnostic tells what went on behind a run: a retry, a fallback, a failed resume.
type Diagnostic struct {
	Type    string          `json:"type"`
	Code    Code            `json:"code,omitempty"`
	Message string          `json:"message,omitempty"`
	Details json.RawMessage `json:"details,omitempty"`
}

func (SessionCreated) EventType() Type    { return SessionCreatedType }
func (TurnStart) EventType() Type         { return TurnStartType }
func (StepStart) EventType() Type         { return StepStartType }
func (UserMessage) EventType() Type       { return UserMessageType }
func (ContextInjected) EventType() Type   { return ContextInjectedType }
func (AssistantChunk) EventType() Type    { return AssistantChunkType }
func (AssistantMessage) EventType() Type  { return AssistantMessageType }
func (ToolCall) EventType() Type          { return ToolCallType }
func (ToolResult) EventType() Type        { return ToolResultType }
func (StepEnd) EventType() Type           { return StepEndType }
func (TurnEnd) EventType() Type           { return TurnEndType }
func (ApprovalRequested) EventType() Type { return ApprovalRequestedType }
func (ApprovalResolved) EventType() Type  { return ApprovalResolvedType }
func (PolicyUpdated) EventType() Type     { return PolicyUpdatedType }
func (SessionCompacted) EventType() Type  { return SessionCompactedType }
func (SessionTitled) EventType() Type     { return SessionTitledType }
func (SessionForked) EventType() Type     { return SessionForkedType }
func (ReasoningChunk) EventType() Type    { return ReasoningChunkType }
func (Reasoning) EventType() Type         { return ReasoningType }
func (Interrupted) EventType() Type       { return InterruptedType }
func (ToolProgress) EventType() Type      { return ToolProgressType }
func (ModelUpdated) EventType() Type      { return ModelUpdatedType }
func (SessionBranched) EventType() Type   { return SessionBranchedType }
func (Diagnostic) EventType() Type        { return DiagnosticType }
