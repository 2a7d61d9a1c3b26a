package event

// Code says why a turn failed, in the one flat namespace that clients know.
// The codes of the wires live with the wires.
type Code string

const (
	CodeUnknown         Code = "unknown"
	CodeMaxTurns        Code = "max_turns_exceeded"
	CodeModelBehavior   Code = "model_behavior"
	CodeModelRefusal    Code = "model_refusal"
	CodeUserError       Code = "user_error"
	CodeToolTimeout     Code = "tool_timeout"
	CodeToolLoop        Code = "tool_loop"
	CodeToolPanic       Code = "tool_panic"
	CodeGuardrail       Code = "guardrail_tripwire"
	CodeSandbox         Code = "sandbox_exec"
	CodeMCP             Code = "mcp"
	CodeProvider        Code = "provider_error"
	CodeContextOverflow Code = "context_overflow"
	CodeConfig          Code = "config_error"
)
