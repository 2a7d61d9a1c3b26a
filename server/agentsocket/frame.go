package agentsocket

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"hitchpost/server/strictjson"
)

// Limits of client frames. The size of a frame is the connection's to bound.
const (
	maxID       = 128 // characters of an input id
	maxPatterns = 128
	maxPattern  = 256 // characters
)

// frame is a client frame: one of the structs below, a closed set.
type frame interface{ frame() }

type (
	subscribe struct {
		FromSeq int64 // one beyond int64 is math.MaxInt64, which no log reaches
	}
	inject struct {
		Text string
		Wake bool
		ID   string // "" for none
	}
	cancel struct{ Reason *string }
	decide struct {
		CallID  string
		Approve bool
		Reason  *string // of a denial
	}
	setModel  struct{ Role, Model string }
	setPolicy struct{ Patterns []string }
)

func (subscribe) frame() {}
func (inject) frame()    {}
func (cancel) frame()    {}
func (decide) frame()    {}
func (setModel) frame()  {}
func (setPolicy) frame() {}

// decoders has one decoder for each type of frame.
var decoders = map[string]func(m members) frame{
	"subscribe": func(m members) frame { return subscribe{m.seq("from_seq")} },
	"inject":    func(m members) frame { return inject{m.NeedString("text"), m.bool("wake"), m.inputID("id")} },
	"cancel":    func(m members) frame { return cancel{m.String("reason")} },
	"approve":   func(m members) frame { return decide{CallID: m.NeedString("call_id"), Approve: true} },
	"deny":      func(m members) frame { return decide{CallID: m.NeedString("call_id"), Reason: m.String("reason")} },
	"set_model": func(m members) frame { return setModel{m.NeedString("role"), m.NeedString("model")} },
	"set_policy": func(m members) frame {
		return setPolicy{m.patterns("patterns")}
	},
}

// typeNames lists the types for error messages.
const typeNames = "subscribe, inject, cancel, approve, deny, set_model, set_policy"

// badFrame says what was wrong with a frame.
type badFrame struct{ message string }

func (b *badFrame) Error() string { return b.message }

func bad(format string, args ...any) *badFrame { return &badFrame{fmt.Sprintf(format, args...)} }

// decode reads a client frame. The error is a *badFrame.
func decode(text []byte) (frame, error) {
	object, err := strictjson.Read("the frame", text)
	if err != nil {
		return nil, bad("%v", err)
	}
	m := members{object}
	name := m.NeedString("type")
	if err := m.Err(); err != nil {
		return nil, bad("%v", err)
	}
	m.checkEverywhere()
	decoder, ok := decoders[name]
	if !ok {
		return nil, bad("unknown frame type %s; the types are %s", strictjson.Quote(name), typeNames)
	}
	f := decoder(m)
	if err := m.Err(); err != nil {
		return nil, bad("%v", err)
	}
	return f, nil
}

// members are those of one frame.
type members struct{ *strictjson.Members }

// checkEverywhere checks the members whose type is fixed on every frame, used there
// or not, null included, as the original does.
func (m members) checkEverywhere() {
	for _, name := range []string{"text", "call_id", "role", "model", "reason"} {
		m.String(name)
	}
	m.bool("wake")
}

func (m members) bool(name string) bool {
	raw, ok := m.Raw(name)
	switch {
	case !ok || string(raw) == "false":
		return false
	case string(raw) == "true":
		return true
	}
	m.Fail("%s must be true or false", name)
	return false
}

// seq is Seq for one that must be there.
func (m members) seq(name string) int64 {
	n, ok := m.Seq(name)
	if !ok {
		m.Fail("%s is missing; it must be an integer of 0 or more", name)
	}
	return n
}

func (m members) inputID(name string) string {
	s := m.String(name)
	if s == nil {
		return ""
	}
	if n := utf8.RuneCountInString(*s); n == 0 || n > maxID {
		m.Fail("%s must have 1 to %d characters, not %d", name, maxID, n)
	}
	return *s
}

func (m members) patterns(name string) []string {
	raw, ok := m.Raw(name)
	if !ok || raw[0] != '[' {
		m.Fail("%s must be an array of strings", name)
		return nil
	}
	var items []json.RawMessage
	json.Unmarshal(raw, &items) // valid, and an array
	if len(items) > maxPatterns {
		m.Fail("%s has %d entries; at most %d are kept", name, len(items), maxPatterns)
		return nil
	}
	patterns := make([]string, len(items))
	for i, item := range items {
		if item[0] != '"' {
			m.Fail("%s[%d] must be a string", name, i)
			return nil
		}
		json.Unmarshal(item, &patterns[i])
		if n := utf8.RuneCountInString(patterns[i]); n > maxPattern {
			m.Fail("%s[%d] has %d characters; at most %d are kept", name, i, n, maxPattern)
		}
		if slices.Contains([]byte(patterns[i]), 0) {
			m.Fail("%s[%d] holds a NUL, which no tool's name does", name, i)
		}
	}
	return patterns
}
