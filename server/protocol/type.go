package protocol

// ServerType names a frame from the server.
type ServerType string

const (
	TypeAuthOK ServerType = "auth.ok"

	TypeRunStarted     ServerType = "run.started"
	TypeRunAgentStart  ServerType = "run.agent_start"
	TypeRunDelta       ServerType = "run.delta"
	TypeRunEntry       ServerType = "run.entry"
	TypeRunInterrupted ServerType = "run.interrupted"
	TypeRunDiagnostic  ServerType = "run.diagnostic"
	TypeRunOutput      ServerType = "run.output"
	TypeRunError       ServerType = "run.error"
	TypeRunCancelled   ServerType = "run.cancelled"
	TypeRunCompaction  ServerType = "run.compaction"
	TypeRunGap         ServerType = "run.gap"

	TypeSessionCreated      ServerType = "session.created"
	TypeSessionUpdated      ServerType = "session.updated"
	TypeSessionDeleted      ServerType = "session.deleted"
	TypeSessionTitleUpdated ServerType = "session.title_updated"
	TypeSessionStatus       ServerType = "session.status"
	TypeSessionBranched     ServerType = "session.branched"
	TypeSessionInbox        ServerType = "session.inbox"
)

// ClientType names a frame from a client. The set is closed: anything else is
// answered by CodeBadFrame.
type ClientType string

const (
	TypeAuth         ClientType = "auth"
	TypeRunCreate    ClientType = "run.create"
	TypeRunSubscribe ClientType = "run.subscribe"
	TypeRunCancel    ClientType = "run.cancel"
	TypeRunInject    ClientType = "run.inject"
	TypeToolApprove  ClientType = "tool.approve"
	TypeToolReject   ClientType = "tool.reject"
)

// Terminal tells whether a numbered frame of this type ends its run. An unnumbered
// TypeRunError refuses a request and ends nothing.
func (t ServerType) Terminal() bool {
	return t == TypeRunOutput || t == TypeRunError || t == TypeRunCancelled
}
