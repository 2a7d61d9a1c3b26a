package event

// Type names what an event records. The set is closed for writers, open for readers.
type Type string

const (
	SessionCreatedType    Type = "session/created"
	TurnStartType         Type = "turn/start"
	StepStartType         Type = "step/start"
	UserMessageType       Type = "user/message"
	ContextInjectedType   Type = "context/injected"
	AssistantChunkType    Type = "assistant/chunk"
	AssistantMessageType  Type = "assistant/message"
	ToolCallType          Type = "tool/call"
	ToolResultType        Type = "tool/result"
	StepEndType           Type = "step/end"
	TurnEndType           Type = "turn/end"
	ApprovalRequestedType Type = "approval/requested"
	ApprovalResolvedType  Type = "approval/resolved"
	PolicyUpdatedType     Type = "policy/updated"
	SessionCompactedType  Type = "session/compacted"
	SessionTitledType     Type = "session/titled"
	SessionForkedType     Type = "session/forked"
	ReasoningChunkType    Type = "assistant/reasoning_chunk"
	ReasoningType         Type = "assistant/reasoning"
	InterruptedType       Type = "assistant/interrupted"
	ToolProgressType      Type = "tool/progress"
	ModelUpdatedType      Type = "model/updated"
	SessionBranchedType   Type = "session/branched"
	DiagnosticType        Type = "run/diagnostic"
)

// Visible tells whether an event of this type changes what the model sees.
func (t Type) Visible() bool {
	switch t {
	case UserMessageType, ContextInjectedType, AssistantMessageType, ToolResultType, SessionCompactedType, SessionBranchedType:
		return true
	}
	return false
}

// Streamed tells whether events of this type are the pieces of something that a
// later event holds whole. A log has thousands of them; nothing looks one up.
func (t Type) Streamed() bool {
	return t == AssistantChunkType || t == ReasoningChunkType || t == ToolProgressType
}
