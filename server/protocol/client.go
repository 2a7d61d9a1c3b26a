package protocol

// Auth is the first frame of a connection. Its members stand beside the type, it has no
// payload: {"type":"auth","token":"…"}.
type Auth struct {
	Type  ClientType `json:"type" ts:"typeof ClientType.Auth"`
	Token string     `json:"token"`
}

// RunCreate starts a run. On a session whose run is parked it takes that run's place; a
// run that a crash left open goes on with the input riding along.
type RunCreate struct {
	SessionID string `json:"session_id"`
	Input     string `json:"input"`           // "" answers the history as it stands
	Agent     string `json:"agent,omitempty"` // name of the definition to run under, for this run only
}

// RunSubscribe replays a run from a cursor, then follows it; it replaces what this
// connection heard of the run.
type RunSubscribe struct {
	RunID   string `json:"run_id"`
	FromSeq int64  `json:"from_seq,omitempty"` // "I have everything up to and including"; 0 = nothing yet
}

// Mode says how a run is stopped; "" means ModeAbort.
type Mode string

const (
	ModeAbort    Mode = "abort"    // stop now, in the middle of the stream
	ModeGraceful Mode = "graceful" // finish the step first
)

// RunCancel stops a run.
type RunCancel struct {
	RunID string `json:"run_id"`
	Mode  Mode   `json:"mode,omitempty"`
}

// Queue says when a waiting text is read.
type Queue string

const (
	QueueSteer    Queue = "steer"     // before the next step, and where the run would end: it goes on then
	QueueNextTurn Queue = "next_turn" // before the next step, if another one comes, else by the next run
	QueueFollowUp Queue = "follow_up" // where the run would end; it goes on then
)

// RunInject puts a text into the inbox of an open run's session.
type RunInject struct {
	RunID string `json:"run_id"`
	Queue Queue  `json:"queue"`
	Input string `json:"input"`
}

// ToolApprove lets a standing call run.
type ToolApprove struct {
	ToolCallID string `json:"tool_call_id"`
	RunID      string `json:"run_id,omitempty"` // needed where several runs have the call id
	Scope      string `json:"scope,omitempty"`  // any scope means this call, once
}

// ToolReject denies a standing call.
type ToolReject struct {
	ToolCallID string `json:"tool_call_id"`
	RunID      string `json:"run_id,omitempty"`
	Reason     string `json:"reason,omitempty"` // the model reads it
}

func (RunCreate) ClientType() ClientType    { return TypeRunCreate }
func (RunSubscribe) ClientType() ClientType { return TypeRunSubscribe }
func (RunCancel) ClientType() ClientType    { return TypeRunCancel }
func (RunInject) ClientType() ClientType    { return TypeRunInject }
func (ToolApprove) ClientType() ClientType  { return TypeToolApprove }
func (ToolReject) ClientType() ClientType   { return TypeToolReject }
