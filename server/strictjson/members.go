package strictjson

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Members are those of one object, read one by one. The first that is wrong is
// remembered, so that a reader may take all of them and look at Err once.
type Members struct {
	all map[string]json.RawMessage
	err error
}

// Read is Object for a text whose members are read one by one.
func Read(what string, text []byte) (*Members, error) {
	all, err := Object(what, text)
	return &Members{all: all}, err
}

// Err is what was wrong first, nil for nothing.
func (m *Members) Err() error { return m.err }

// Fail remembers what is wrong.
func (m *Members) Fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
}

// Raw returns a member as it was written; ok is false where it is not there.
func (m *Members) Raw(name string) (raw json.RawMessage, ok bool) {
	raw, ok = m.all[name]
	return raw, ok
}

// Object returns the members of a member; ok is false where that is missing or no object.
func (m *Members) Object(name string) (inner *Members, ok bool) {
	inner = &Members{}
	raw, ok := m.all[name]
	if !ok || raw[0] != '{' {
		return inner, false
	}
	json.Unmarshal(raw, &inner.all) // valid, and an object
	return inner, true
}

// String returns an optional string, nil if it is not there.
func (m *Members) String(name string) *string {
	raw, ok := m.all[name]
	if !ok {
		return nil
	}
	if raw[0] != '"' {
		m.Fail("%s must be a string", name)
		return nil
	}
	var s string
	json.Unmarshal(raw, &s) // valid, and a string
	return &s
}

// NeedString is String for one that must be there.
func (m *Members) NeedString(name string) string {
	s := m.String(name)
	if s == nil {
		m.Fail("%s is missing; it must be a string", name)
		return ""
	}
	return *s
}

// Seq returns an integer ≥ 0 written as one: 7.0, 1e2 and "7" are not. One beyond int64 is
// math.MaxInt64, which no log reaches. ok is false where it is not there or wrong.
func (m *Members) Seq(name string) (n int64, ok bool) {
	raw, there := m.all[name]
	if !there {
		return 0, false
	}
	digits := strings.TrimPrefix(string(raw), "-")
	if strings.Trim(digits, "0123456789") != "" || digits != string(raw) && digits != "0" {
		m.Fail("%s must be an integer of 0 or more", name)
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil { // only too large is left
		return math.MaxInt64, true
	}
	return n, true
}

// Quote shows a foreign string in a message, cut to a readable length.
func Quote(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}
