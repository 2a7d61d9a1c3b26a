package protocol

// RunStatus is how a run stands.
type RunStatus string

const (
	RunStatusRunning     RunStatus = "running"
	RunStatusInterrupted RunStatus = "interrupted" // a call waits for a verdict
	RunStatusResumable   RunStatus = "resumable"   // open, and nobody runs it
	RunStatusCompleted   RunStatus = "completed"
	RunStatusError       RunStatus = "error"
	RunStatusCancelled   RunStatus = "cancelled"
)

// Run is a run, over REST.
type Run struct {
	RunID     string    `json:"run_id"`
	SessionID string    `json:"session_id"`
	Status    RunStatus `json:"status"`
	FirstSeq  int64     `json:"first_seq"` // of its turn/start
	LastSeq   int64     `json:"last_seq"`  // of its turn/end; of the newest event while it is open
}

// Approval is a standing call, over REST.
type Approval struct {
	PendingCall
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	CreatedAt string `json:"created_at"` // when it was asked for
}
