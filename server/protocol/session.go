package protocol

// SessionStatus is what a session does now: the first of these that applies.
type SessionStatus string

const (
	StatusRequiresAction SessionStatus = "requires_action" // a call waits for a verdict
	StatusStopping       SessionStatus = "stopping"        // a cancel was accepted
	StatusRunning        SessionStatus = "running"
	StatusResumable      SessionStatus = "resumable" // a run is open and nobody runs it
	StatusFailed         SessionStatus = "failed"    // the last run failed or was rejected
	StatusIdle           SessionStatus = "idle"
)

// Session is a session, in lists, over REST and in the frames that announce it.
type Session struct {
	ID           string           `json:"id"`
	Title        string           `json:"title"`
	Agent        string           `json:"agent"` // name of its definition
	Pinned       bool             `json:"pinned"`
	ParentID     *string          `json:"parent_id"`             // the calling session of a subagent
	ForkedFrom   string           `json:"forked_from,omitempty"` // the session that it was copied from, which may be gone
	CreatedAt    string           `json:"created_at"`            // UTC, six decimals, Z
	UpdatedAt    string           `json:"updated_at"`
	LastSeq      int64            `json:"last_seq"`
	LastInputAt  string           `json:"last_input_at,omitempty"` // the last text by a person
	Bytes        int64            `json:"bytes"`                   // size of its log
	Status       SessionStatus    `json:"status"`
	LiveRunID    string           `json:"live_run_id,omitempty"`
	PendingCount int              `json:"pending_count"`
	Pending      []SessionPending `json:"pending"` // the standing calls, in order of asking; never null
	LastError    *Failure         `json:"last_error,omitempty"`
}

// SessionPending is a standing call of a session.
type SessionPending struct {
	ToolCallID string `json:"tool_call_id"`
	ToolName   string `json:"tool_name"`
	RunID      string `json:"run_id"`
}

// SessionCreated is sent when an owner's session was made.
type SessionCreated struct {
	Session Session `json:"session"`
}

// SessionUpdated is sent when something of the session object changed that no other
// frame tells.
type SessionUpdated struct {
	Session Session `json:"session"`
}

// SessionDeleted is sent when a session is gone.
type SessionDeleted struct {
	SessionID string `json:"session_id"`
}

// SessionTitleUpdated is sent when a session got a title, from a person or the titler.
type SessionTitleUpdated struct {
	SessionID string `json:"session_id"`
	Title     string `json:"title"`
}

// SessionStatusChanged is sent when the status or the number of standing calls changed.
type SessionStatusChanged struct {
	SessionID    string        `json:"session_id"`
	Status       SessionStatus `json:"status"`
	LiveRunID    string        `json:"live_run_id,omitempty"`
	PendingCount int           `json:"pending_count"`
}

// SessionBranched is sent when the leaf moved to another entry.
type SessionBranched struct {
	SessionID string `json:"session_id"`
	Leaf      string `json:"leaf"` // "" = the root
	Previous  string `json:"previous"`
}

// SessionInbox is sent when what waits to be read changed; Items is all of it.
type SessionInbox struct {
	SessionID string      `json:"session_id"`
	Items     []InboxItem `json:"items"` // in order of arrival; never null
}

// InboxItem is a text that waits to be read.
type InboxItem struct {
	InputID  string `json:"input_id"`
	Queue    Queue  `json:"queue"`
	Text     string `json:"text"`
	Wake     bool   `json:"wake"`
	QueuedAt string `json:"queued_at"` // UTC, six decimals, Z
}

func (SessionCreated) ServerType() ServerType       { return TypeSessionCreated }
func (SessionUpdated) ServerType() ServerType       { return TypeSessionUpdated }
func (SessionDeleted) ServerType() ServerType       { return TypeSessionDeleted }
func (SessionTitleUpdated) ServerType() ServerType  { return TypeSessionTitleUpdated }
func (SessionStatusChanged) ServerType() ServerType { return TypeSessionStatus }
func (SessionBranched) ServerType() ServerType      { return TypeSessionBranched }
func (SessionInbox) ServerType() ServerType         { return TypeSessionInbox }
