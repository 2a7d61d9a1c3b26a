package protocol

import "encoding/json"

// AuthOK is sent once, when the token of the first frame was accepted.
type AuthOK struct {
	Owner  string   `json:"owner"`
	Allow  []string `json:"allow"`                       // what the token may do: watch, inject, approve, admin
	Agents []string `json:"agents" ts:"string[] | null"` // patterns of the sessions it reaches; null = all of the owner's
	LogID  string   `json:"log_id"`                      // identity of the file; another one than before: no cursor and nothing that was read holds
}

// RunStarted is sent when a run begins and precedes every other frame of it. With
// Resumed it is sent again when the last standing call was decided and, unnumbered,
// when a run that a restart left open goes on.
type RunStarted struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	Resumed   bool   `json:"resumed,omitempty"`
}

// RunAgentStart is sent when the first step of a run begins.
type RunAgentStart struct {
	RunID     string `json:"run_id"`
	AgentName string `json:"agent_name"` // the definition the run runs under
}

// Field says which part of an entry a delta belongs to.
type Field string

const (
	FieldText       Field = "text"        // an answer; closed by its entry
	FieldReasoning  Field = "reasoning"   // what the model thinks; closed by its entry
	FieldToolOutput Field = "tool_output" // what a running call prints; closed by the output entry of that call
)

// RunDelta is sent for each streamed piece of an entry. It appends to the buffer of
// (EntryID, Field), which the finished entry replaces wholesale.
type RunDelta struct {
	RunID   string `json:"run_id"`
	EntryID string `json:"entry_id"` // of the entry to come; of the call's entry for tool_output
	Field   Field  `json:"field"`
	Delta   string `json:"delta"`
}

// RunEntry is sent for each finished entry; it is authoritative. Outside a run, RunID is
// "" and the frame is unnumbered.
type RunEntry struct {
	RunID     string          `json:"run_id"`
	SessionID string          `json:"session_id"`
	Entry     json.RawMessage `json:"entry" ts:"Entry"` // an encoded Entry, the bytes that REST sends too
}

// RunInterrupted is sent when a call begins to wait for a verdict and when one of several
// was decided. Pending replaces the list sent before.
type RunInterrupted struct {
	RunID   string        `json:"run_id"`
	Pending []PendingCall `json:"pending"` // what stands now, in order of asking; never empty
}

// PendingCall is a call that waits for a person's verdict.
type PendingCall struct {
	ToolCallID string `json:"tool_call_id"`
	ToolName   string `json:"tool_name"`
	Arguments  string `json:"arguments"` // JSON text
}

// RunDiagnostic is sent for trouble that a run survived: a retry, a fallback, a failed
// resume.
type RunDiagnostic struct {
	RunID   string          `json:"run_id"`
	Type    string          `json:"type"`
	Code    Code            `json:"code,omitempty"`
	Message string          `json:"message,omitempty"`
	Details json.RawMessage `json:"details,omitempty"`
}

// RunOutput is sent when a run ends by itself. Terminal.
type RunOutput struct {
	RunID       string `json:"run_id"`
	FinalOutput string `json:"final_output"` // text of its last answer, or ""
}

// RunError is sent, numbered, when a run ends because it failed: terminal. Unnumbered it
// refuses a frame, to the asking connection only, with the id that was asked for.
type RunError struct {
	RunID     string `json:"run_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Code      Code   `json:"code"`
	Message   string `json:"message"`
}

// CancelReason says why a run was cancelled.
type CancelReason string

const (
	CancelStopped    CancelReason = "stopped"    // somebody stopped it
	CancelSuperseded CancelReason = "superseded" // a newer run took its place
	CancelShutdown   CancelReason = "shutdown"   // reserved
)

// RunCancelled is sent when a run ends because it was cancelled. Terminal.
type RunCancelled struct {
	RunID   string       `json:"run_id"`
	Reason  CancelReason `json:"reason"`
	Message *string      `json:"message,omitempty"` // as the canceller gave it
}

// Phase of a compaction.
type Phase string

const (
	PhaseStarted  Phase = "started"
	PhaseFinished Phase = "finished"
)

// RunCompaction is sent, unnumbered, while a session's history is summarised. The
// checkpoint itself is an entry.
type RunCompaction struct {
	RunID     string `json:"run_id"` // "" between runs
	SessionID string `json:"session_id"`
	Phase     Phase  `json:"phase"`
}

// RunGap is sent, unnumbered, to a connection that was too slow: what it missed of a live
// run is dropped for it alone, and it goes on with the newest frame.
type RunGap struct {
	RunID    string `json:"run_id"`
	Dropped  int64  `json:"dropped"`   // log positions between the two, not all of which were frames
	LastGood int64  `json:"last_good"` // cursor to subscribe again from; 0 = the run's start
	Next     int64  `json:"next"`      // seq of the frame that follows; 0 = none will
}

func (AuthOK) ServerType() ServerType         { return TypeAuthOK }
func (RunStarted) ServerType() ServerType     { return TypeRunStarted }
func (RunAgentStart) ServerType() ServerType  { return TypeRunAgentStart }
func (RunDelta) ServerType() ServerType       { return TypeRunDelta }
func (RunEntry) ServerType() ServerType       { return TypeRunEntry }
func (RunInterrupted) ServerType() ServerType { return TypeRunInterrupted }
func (RunDiagnostic) ServerType() ServerType  { return TypeRunDiagnostic }
func (RunOutput) ServerType() ServerType      { return TypeRunOutput }
func (RunError) ServerType() ServerType       { return TypeRunError }
func (RunCancelled) ServerType() ServerType   { return TypeRunCancelled }
func (RunCompaction) ServerType() ServerType  { return TypeRunCompaction }
func (RunGap) ServerType() ServerType         { return TypeRunGap }
