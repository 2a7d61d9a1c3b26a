// Package model is the seam to the model providers: what a step asks, what
// streams back, and how it can fail. Each provider speaks its wire in a package of
// its own below this one; nothing here knows the log.
//
// Guarantees, of every provider:
//
//  1. A reply is returned only when the provider said that it was complete; a stream
//     that ends early is an *Error with code provider_error, never a reply.
//  2. The texts emitted concatenate to the text of the reply, byte for byte, and each
//     delta is whole runes and not empty.
//  3. Nothing is retried once a delta was emitted.
//  4. Stream returns within a second of its context's end, with the connection closed.
//  5. Memory is bounded whatever the peer sends; a bound that is met is an *Error.
//  6. No error names a key or a header's value.
package model

import (
	"context"
	"encoding/json"
	"time"

	"hitchpost/turn/event"
)

// Client asks one provider. It is safe for concurrent use.
type Client interface {
	// Stream sends the request and reports the answer as it comes. emit is called
	// from the goroutine that called Stream and must not block for long. An error is
	// an *Error, or the context's cause.
	Stream(ctx context.Context, req Request, emit func(Delta)) (Reply, error)
}

// Request is one model request. It is a pure function of the log, the agent's
// definition and the tools mounted.
type Request struct {
	Model    string // the model part of provider/model
	System   string // "" for none
	Messages []Message
	Tools    []Tool // sorted by name
}

// Role of a message.
type Role string

const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one entry of the history that the model sees.
type Message struct {
	Role      Role
	Text      string
	Calls     []Call     // of an assistant message, in call order
	CallID    string     // of a tool message: the call it answers
	IsError   bool       // of a tool message
	Reasoning *Reasoning // of an assistant message, only for the provider that made it
}

// Call is a tool call. Args is always a JSON object, digits as they came, unless
// ArgsError says what came instead.
type Call struct {
	ID        string // "" when the provider gave none; the loop mints one
	Name      string
	Args      json.RawMessage
	ArgsError string // not "": the arguments were no object, and why; Args is {} then
}

// Tool is a tool as offered to the model.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of the arguments
}

// Reasoning is what the model thought before it answered.
type Reasoning struct {
	Text    string
	Summary json.RawMessage
	Opaque  json.RawMessage // to be sent back to the same provider as it is
}

// Delta is one piece of an answer under way. Exactly one member is set.
type Delta struct {
	Text      string
	Reasoning string
	Retry     *Retry
}

// Retry tells that the request failed before anything was streamed and is tried again.
type Retry struct {
	Attempt int           // the number of the try that comes, from 2
	After   time.Duration // the wait before it
	Cause   *Error
}

// Reply is a complete answer.
type Reply struct {
	Text      string
	Reasoning *Reasoning // nil for none
	Calls     []Call
	Usage     *event.Usage // nil when the provider told none
	Stop      string       // the provider's own word for why it stopped
}

// Error is how a request fails.
type Error struct {
	Code       event.Code // provider_error, context_overflow, model_refusal, config_error
	Message    string     // for people and the log; holds no secret
	Status     int        // HTTP status, 0 without one
	RetryAfter time.Duration
	Retryable  bool // another try of the same request may succeed
}

func (e *Error) Error() string { return e.Message }

// Timeouts bound a request. Zero means no bound.
type Timeouts struct {
	Connect   time.Duration // until the connection stands
	FirstByte time.Duration // from there until the first byte of the answer's body or headers
	Stall     time.Duration // between two events; comments and pings are not events
}
