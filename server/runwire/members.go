package runwire

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"hitchpost/server/strictjson"
)

// members are those of one object. The first one that is wrong is remembered.
type members struct {
	all map[string]json.RawMessage
	err error
}

func parse(text []byte) (*members, error) {
	all, err := strictjson.Object("the frame", text)
	return &members{all: all}, err
}

func (m *members) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
}

// string returns an optional string, nil if it is not there.
func (m *members) string(name string) *string {
	raw, ok := m.all[name]
	if !ok {
		return nil
	}
	if raw[0] != '"' {
		m.fail("%s must be a string", name)
		return nil
	}
	var s string
	json.Unmarshal(raw, &s) // valid, and a string
	return &s
}

func (m *members) needString(name string) string {
	s := m.string(name)
	if s == nil {
		m.fail("%s is missing; it must be a string", name)
		return ""
	}
	return *s
}

// optional is string for members whose absence and "" are the same.
func (m *members) optional(name string) string {
	if s := m.string(name); s != nil {
		return *s
	}
	return ""
}

// seq returns an optional integer ≥ 0 written as one: 7.0, 1e2 and "7" are not. One beyond
// int64 is math.MaxInt64, which no log reaches.
func (m *members) seq(name string) int64 {
	raw, ok := m.all[name]
	if !ok {
		return 0
	}
	digits := strings.TrimPrefix(string(raw), "-")
	if strings.Trim(digits, "0123456789") != "" || digits != string(raw) && digits != "0" {
		m.fail("%s must be an integer of 0 or more", name)
		return 0
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil { // only too large is left
		return math.MaxInt64
	}
	return n
}

// payload returns the members of the payload.
func (m *members) payload() *members {
	inner := &members{}
	raw, ok := m.all["payload"]
	if !ok || raw[0] != '{' {
		m.fail("payload is missing or no object; what a frame asks for stands in it")
		return inner
	}
	json.Unmarshal(raw, &inner.all) // valid, and an object
	return inner
}

// about reads the ids of a payload that may be refused for something else.
func (m *members) about() asked {
	look := members{all: m.all} // whose wrong members are not told
	return asked{run: look.optional("run_id"), session: look.optional("session_id")}
}

// quote shows a foreign string in a message, cut to a readable length.
func quote(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}
