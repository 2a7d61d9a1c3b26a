package event

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Encode returns the payload as one JSON object: valid UTF-8, nothing escaped
// that JSON does not ask for. Invalid UTF-8 becomes U+FFFD, also inside raw members.
func Encode(p Payload) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		return nil, fmt.Errorf("encode %s: %w", p.EventType(), err)
	}
	out := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if !utf8.Valid(out) {
		out = bytes.ToValidUTF8(out, []byte("\uFFFD"))
	}
	return out, nil
}

// NewID returns a fresh event id: 16 lowercase hex digits.
func NewID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// MessageID is the id of the assistant/message of the step whose step/start has
// the id step, and of the assistant/interrupted that takes its place.
func MessageID(step string) string { return Derived(step + "message") }

// ReasoningID is the id of that step's assistant/reasoning, likewise.
func ReasoningID(step string) string { return Derived(step + "reasoning") }

// Derived is the id that follows from a text: the first 8 bytes of its SHA-256, in hex.
func Derived(from string) string {
	sum := sha256.Sum256([]byte(from))
	return hex.EncodeToString(sum[:8])
}
