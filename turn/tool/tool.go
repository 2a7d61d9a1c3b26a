package tool

import (
	"context"
	"encoding/json"
)

// Approval says when a call must be decided by a person before it runs.
type Approval string

const (
	Never    Approval = "never"
	ByPolicy Approval = "policy" // asks if the tool is mutating
	Always   Approval = "always"
)

// Tool is one thing an agent can do. Its name is what allow lists and models use.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of the arguments, an object
	Mutating    bool            // changes something outside the conversation
	Approval    Approval
	Parallel    bool // may run beside its neighbours of the same reply; else it runs alone
	Repeatable  bool // may run again when a crash left its outcome unknown
	Run         func(ctx context.Context, call Call) Result
}

// Asks tells whether a call of the tool needs a person's verdict.
func (t *Tool) Asks() bool {
	return t.Approval == Always || t.Approval == ByPolicy && t.Mutating
}

// Call is one call as it runs.
type Call struct {
	Session  string
	ID       string
	Args     json.RawMessage   // valid against the tool's schema
	Progress func(text string) // output so far; may be called from any goroutine, never blocks for long
}

// Result is what a call came to. Error is not "" when it failed.
type Result struct {
	Content json.RawMessage // any JSON; nil with an error
	Error   string
	Display json.RawMessage // rendering hint, nil for none
	Cause   string          // machine-readable cause of an error, e.g. an event.Code
}

// Text is a result holding one string. Bytes of it that are not UTF-8 become U+FFFD.
func Text(s string) Result {
	b, _ := encode(s) // a string always encodes
	return Result{Content: b}
}

// Fail is a result that says what went wrong and what to do.
func Fail(message string) Result { return Result{Error: message} }
