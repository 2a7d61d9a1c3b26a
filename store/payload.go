package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Limits of what is stored.
const (
	MaxPayload   = 128 << 20 // bytes of one payload; SQLite takes a row of 1e9
	MaxNesting   = 500       // levels of one payload; SQLite's own JSON functions stop at 1000
	MaxSessionID = 512       // bytes of a session's id
	maxTypeBytes = 64
)

// checkEvent returns the event as it can be stored, or says by name what is wrong.
func checkEvent(e NewEvent) (NewEvent, error) {
	if e.ID != "" && !isID(e.ID) {
		return e, fmt.Errorf("%w: id %.40q of %s is not 16 lowercase hex digits", ErrInvalid, e.ID, e.Type)
	}
	if !isType(e.Type) {
		return e, fmt.Errorf("%w: type %.80q is not 1 to %d printable ASCII characters without quote and backslash", ErrInvalid, e.Type, maxTypeBytes)
	}
	p, err := checkPayload(e.Payload)
	if err != nil {
		return e, fmt.Errorf("%w: payload of %s %w", ErrInvalid, e.Type, err)
	}
	e.Payload = p
	return e, nil
}

// checkPayload returns p as it is, unless it holds a newline between its tokens
// (an envelope is one line, so the space between tokens goes) or half of a
// surrogate pair (which is no character: it becomes U+FFFD).
func checkPayload(p json.RawMessage) (json.RawMessage, error) {
	if len(p) > MaxPayload {
		return nil, fmt.Errorf("has %d bytes, the limit is %d", len(p), MaxPayload)
	}
	s := scanJSON(p)
	if s.deep {
		return nil, fmt.Errorf("is nested deeper than %d levels", MaxNesting)
	}
	if !s.valid {
		return nil, fmt.Errorf("is not valid JSON")
	}
	p = bytes.TrimSpace(p)
	if p[0] != '{' {
		return nil, fmt.Errorf("is not a JSON object")
	}
	if !s.ascii && !utf8.Valid(p) {
		return nil, fmt.Errorf("is not valid UTF-8")
	}
	if s.newline {
		var b bytes.Buffer
		json.Compact(&b, p) // valid, checked above; leaves strings and numbers alone
		p = b.Bytes()
	}
	if s.escape {
		p = mendSurrogates(p)
	}
	return p, nil
}

// mendSurrogates replaces each escape of a lone surrogate in a valid JSON text
// by \ufffd, which is as long; p itself is not written to.
func mendSurrogates(p []byte) []byte {
	copied := false
	for i := 0; ; i++ {
		n := bytes.IndexByte(p[i:], '\\')
		if n < 0 {
			return p
		}
		i += n + 1 // the character after the backslash, and past it by the loop
		if p[i] != 'u' {
			continue
		}
		r := hex4(p[i+1:])
		switch {
		case r < 0xd800 || r > 0xdfff:
			continue
		case r < 0xdc00 && p[i+5] == '\\' && p[i+6] == 'u':
			if low := hex4(p[i+7:]); low >= 0xdc00 && low <= 0xdfff {
				i += 10 // a whole pair
				continue
			}
		}
		if !copied {
			p, copied = bytes.Clone(p), true
		}
		copy(p[i+1:], "fffd")
	}
}

// hex4 reads the four hex digits of an escape.
func hex4(p []byte) (r int) {
	for _, c := range p[:4] {
		switch {
		case c <= '9':
			r = r<<4 | int(c-'0')
		default:
			r = r<<4 | int(c|0x20-'a'+10)
		}
	}
	return r
}

func isID(s string) bool {
	if len(s) != idDigits {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isType(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] > '~' || s[i] == '"' || s[i] == '\\' {
			return false
		}
	}
	return s != "" && len(s) <= maxTypeBytes
}

// checkSessionID refuses what no surface could name a session by.
func checkSessionID(id string) error {
	if id == "" || len(id) > MaxSessionID || !utf8.ValidString(id) {
		return fmt.Errorf("%w: session id %.40q is not 1 to %d bytes of UTF-8", ErrInvalid, id, MaxSessionID)
	}
	return nil
}
