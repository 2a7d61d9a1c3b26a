package agentsocket

import (
	"bytes"
	"encoding/json"

	"hitchpost/turn"
)

// proto is the version of the protocol. Additive changes do not raise it.
const proto = 1

// hello is the first frame of every accepted connection: the four members of the
// protocol, in its order.
type hello struct {
	Type      string `json:"type"` // "hello"
	Proto     int    `json:"proto"`
	SessionID string `json:"session_id"`
	LastSeq   int64  `json:"last_seq"`
	*helloMore
}

// helloMore is what a client gets besides that offered the subprotocol hitchpost.v1.
type helloMore struct {
	FirstSeq    int64          `json:"first_seq"` // oldest event that is kept
	LogID       string         `json:"log_id"`    // another one means: the cursor is from another life
	Status      turn.Status    `json:"status"`
	Pending     []turn.Pending `json:"pending"`      // standing approvals, never null
	ReplayLimit int64          `json:"replay_limit"` // events
}

// truncated precedes the first event of a replay that was pulled forward.
type truncated struct {
	Type      string `json:"type"` // "replay_truncated"
	Requested int64  `json:"requested_from_seq"`
	From      int64  `json:"from_seq"`
}

// errorFrame always carries a message for people; clients go by the code.
type errorFrame struct {
	Type    string `json:"type"` // "error"
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

func failure(code Code, message string) []byte {
	return encode(errorFrame{"error", code, message})
}

// encode returns a server frame as it goes on the wire: <, > and & stay as they are.
func encode(frame any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(frame); err != nil {
		panic(err) // our own structs; the raw JSON in them came out of the log
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
