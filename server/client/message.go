package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hitchpost/turn/event"
)

// Message is what Next returns: an Event, Connected, Lost, Truncated or Refused.
type Message interface{ message() }

// Event is one durable event of the log.
type Event struct {
	ID        string          `json:"id"`
	SessionID string          `json:"session_id"`
	Seq       int64           `json:"seq"`
	At        time.Time       `json:"at"`
	Type      event.Type      `json:"type"`
	Payload   json.RawMessage `json:"payload"`
	Line      []byte          `json:"-"` // the frame as it came
}

// Connected tells that a connection stands, the first or a new one.
type Connected struct{ Hello Hello }

// Lost tells that the connection ended and is made again after Wait.
type Lost struct {
	Cause error
	Wait  time.Duration
}

// Truncated tells that the events in [Missing, From) will not come: they are further
// back than the server replays. The next event is From.
type Truncated struct {
	Missing int64
	From    int64
}

// Refused is the server's answer to a frame that it did not carry out: bad_frame,
// not_running, stale_call or unsupported. It does not say which frame.
type Refused struct{ *ServerError }

func (Event) message()     {}
func (Connected) message() {}
func (Lost) message()      {}
func (Truncated) message() {}
func (Refused) message()   {}

// Hello is the server's first frame. The members after LastSeq are zero on servers
// that do not speak hitchpost.v1.
type Hello struct {
	Proto       int       `json:"proto"`
	SessionID   string    `json:"session_id"`
	LastSeq     int64     `json:"last_seq"` // newest event at that moment
	FirstSeq    int64     `json:"first_seq"`
	LogID       string    `json:"log_id"` // identity of the log's file
	Status      string    `json:"status"` // idle | running | waiting_approval | stopping | resumable
	Pending     []Pending `json:"pending"`
	ReplayLimit int64     `json:"replay_limit"` // events
}

// Pending is an approval that nobody has given or denied yet.
type Pending struct {
	CallID string          `json:"call_id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
}

// Codes of error frames (Agent Socket v1, protocol frames).
const (
	CodeUnauthorized = "unauthorized"
	CodeSuperseded   = "superseded"
	CodeLagged       = "lagged"
	CodeBadFrame     = "bad_frame"
	CodeNotRunning   = "not_running"
	CodeStaleCall    = "stale_call"
	CodeUnsupported  = "unsupported"
	CodeInternal     = "internal"
)

// ServerError is an error frame.
type ServerError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e *ServerError) Error() string {
	if e.Message == "" {
		return e.Code
	}
	return e.Code + ": " + e.Message
}

// What ends an Agent. Next wraps them with the particulars.
var (
	ErrUnauthorized = errors.New("the server does not accept this token for this agent")
	ErrSuperseded   = errors.New("a newer connection took over this agent")
	ErrAnotherLog   = errors.New("the server has another log than the one read so far; start again from seq 0")
	ErrGap          = errors.New("the server left out events")
	ErrProtocol     = errors.New("the server does not speak the agent socket")
	ErrClosed       = errors.New("the agent's client is closed")
)

// frame is any frame of the server. Events have a seq, protocol frames never.
type frame struct {
	Type      string `json:"type"`
	Seq       *int64 `json:"seq"`
	Requested int64  `json:"requested_from_seq"`
	From      int64  `json:"from_seq"`
	Code      string `json:"code"`
	Message   string `json:"message"`
}

func decodeFrame(raw []byte) (frame, error) {
	var f frame
	if err := json.Unmarshal(raw, &f); err != nil {
		return f, fmt.Errorf("%w: %v", ErrProtocol, err)
	}
	return f, nil
}
