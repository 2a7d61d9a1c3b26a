package protocol

import "encoding/json"

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

// NewSession asks for a session.
type NewSession struct {
	ID    string `json:"id,omitempty"`    // left out: one is made
	Title string `json:"title,omitempty"` // left out: the titler finds one
	Agent string `json:"agent,omitempty"` // name of its definition; left out: by its id, else the default
}

// SessionPatch changes a session; what is left out stays as it is.
type SessionPatch struct {
	Title  *string `json:"title,omitempty"`
	Pinned *bool   `json:"pinned,omitempty"`
}

// BranchRequest moves a session's leaf.
type BranchRequest struct {
	EntryID   string `json:"entry_id"`
	Exclusive bool   `json:"exclusive,omitempty"` // to the entry's parent, to write the entry anew
}

// Branched is where a session's leaf went.
type Branched struct {
	Leaf         string `json:"leaf"` // "" = the root
	PreviousLeaf string `json:"previous_leaf"`
}

// ForkRequest asks for a copy of a session up to an entry.
type ForkRequest struct {
	MessageID string `json:"message_id,omitempty"` // id of the entry; left out: all of it
	Exclusive bool   `json:"exclusive,omitempty"`  // up to the entry before it
}

// CompactionResult is what became of a compaction on demand.
type CompactionResult struct {
	Compacted    bool   `json:"compacted"`
	TokensBefore *int64 `json:"tokens_before,omitempty"` // of what was replaced, if the provider told
	TokensAfter  *int64 `json:"tokens_after,omitempty"`  // of the summary, likewise
	Reason       string `json:"reason,omitempty"`        // why nothing was compacted
}

// Policy is the list of tools that run without asking.
type Policy struct {
	Patterns []string `json:"patterns"` // File.fnmatch globs over tool names
}

// UsageTotal sums what the providers told of a session's answers. What a fork copied was
// paid for where it happened and does not count.
type UsageTotal struct {
	Answers      int64   `json:"answers"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	Cost         float64 `json:"cost"`
	Complete     bool    `json:"complete"` // every answer told both numbers of tokens
}

// NewRun asks for a run.
type NewRun struct {
	Input string `json:"input"`           // "" answers the history as it stands
	Agent string `json:"agent,omitempty"` // name of the definition to run under, for this run only
}

// RunOutcome is how a run that was asked for stands when the request is answered: one
// that was waited for has a final output, or calls that wait, or a failure.
type RunOutcome struct {
	RunID       string        `json:"run_id"`
	SessionID   string        `json:"session_id"`
	Status      RunStatus     `json:"status"`
	FinalOutput *string       `json:"final_output,omitempty"`
	Interrupted []PendingCall `json:"interrupted,omitempty"` // what waits for a verdict, in order of asking
	Error       *RESTProblem  `json:"error,omitempty"`       // of a run that failed or was cancelled
}

// InjectRequest puts a text into the inbox of an open run's session.
type InjectRequest struct {
	Queue Queue  `json:"queue"`
	Input string `json:"input"`
}

// VerdictRequest decides a standing call.
type VerdictRequest struct {
	RunID  string `json:"run_id,omitempty"` // needed where several runs have the call id
	Reason string `json:"reason,omitempty"` // of a rejection; the model reads it
	Scope  string `json:"scope,omitempty"`  // of an approval; any scope means this call, once
}

// SearchHit is a place where the words that were searched for stand.
type SearchHit struct {
	SessionID string `json:"session_id"`
	Title     string `json:"title"`    // of the session
	EntryID   string `json:"entry_id"` // "" = it is the title that was found
	Seq       int64  `json:"seq"`      // of the entry; -1 for a title
	Snippet   string `json:"snippet"`
}

// LogEvent is an event of a session's log, byte for byte as it is stored.
type LogEvent struct {
	ID        string          `json:"id"`
	SessionID string          `json:"session_id"`
	Seq       int64           `json:"seq"`
	At        string          `json:"at"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}
