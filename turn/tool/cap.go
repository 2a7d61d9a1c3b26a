package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxDepth   = 1000     // levels of a result that is kept as JSON; deeper, it is kept as text
	maxDisplay = 16 << 10 // bytes of a display hint; a longer one is dropped
	noJSON     = "the tool answered with something that is no JSON"
)

// Cap makes a result fit for the log: valid JSON in valid UTF-8 (each byte that is
// none becomes U+FFFD), its content, or its error, cut to limit bytes between two
// characters. What is cut gets a sentence behind it that gives both sizes, and comes
// on top of the limit. Content that is no string is cut as its JSON text and is a
// string from then on. A limit of 0 or less cuts nothing. The hint of an error says that
// it is one.
func Cap(r Result, limit int) Result {
	if len(r.Display) > maxDisplay || !json.Valid(r.Display) || !utf8.Valid(r.Display) {
		r.Display = nil
	}
	if r.Error == "" && r.Content != nil && !json.Valid(r.Content) {
		r.Error = noJSON
	}
	if r.Error != "" {
		r.Display = failed(r.Display)
		r.Content, r.Error = nil, cut(strings.ToValidUTF8(r.Error, "\uFFFD"), limit)
		return r
	}
	if r.Content == nil {
		r.Content = json.RawMessage(`""`)
		return r
	}
	var text string
	if json.Unmarshal(r.Content, &text) == nil && !isNull(r.Content) {
		r.Content, _ = encode(cut(text, limit)) // decoding has replaced what is no text
		return r
	}
	r.Content = bytes.ToValidUTF8(r.Content, []byte("\uFFFD"))
	if limit > 0 && len(r.Content) > limit || depth(r.Content) > maxDepth {
		r.Content, _ = encode(cut(string(r.Content), limit))
	}
	return r
}

// cut shortens s to limit bytes, less where that would split a character.
func cut(s string, limit int) string {
	if limit <= 0 || len(s) <= limit {
		return s
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s\n[cut: the first %d of %d bytes are shown]", s[:end], end, len(s))
}

// failed marks the hint of an error with is_error, unless its tool decided that itself. A
// hint takes the place of what is derived from the error, so nothing else tells of it.
func failed(hint json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(hint, &members) != nil || members == nil || members["is_error"] != nil {
		return hint
	}
	open := bytes.TrimSuffix(bytes.TrimSpace(hint), []byte("}"))
	if len(members) == 0 {
		return json.RawMessage(`{"is_error":true}`)
	}
	return fmt.Appendf(nil, `%s,"is_error":true}`, bytes.TrimSpace(open))
}

func isNull(b []byte) bool { return string(bytes.TrimSpace(b)) == "null" }

// depth counts how far arrays and objects are nested in valid JSON.
func depth(b []byte) (deepest int) {
	level, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			level++
			deepest = max(deepest, level)
		case c == ']' || c == '}':
			level--
		}
	}
	return deepest
}

// encode is JSON without the escapes that only HTML needs.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
