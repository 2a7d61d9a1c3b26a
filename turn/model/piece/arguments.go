package piece

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// MaxDepth bounds the nesting of a call's arguments.
const MaxDepth = 256

// maxExcerpt bounds what is quoted of arguments that are none, in bytes.
const maxExcerpt = 200

// Arguments is the JSON text of a call's arguments, as it comes.
type Arguments struct {
	text  []byte
	shape nesting
}

// Add takes in the next piece.
func (a *Arguments) Add(piece []byte) {
	a.text = append(a.text, piece...)
	a.shape.add(piece)
}

// Len is the number of bytes taken in.
func (a *Arguments) Len() int { return len(a.text) }

// Closed tells whether an object began and has ended.
func (a *Arguments) Closed() bool { return a.shape.deepest > 0 && a.shape.depth == 0 }

// Object gives the arguments as an object with its digits as they came, or {} and why
// they are none: what is to be told of them. Nothing, and null, are {}.
// After an answer cut at its length limit, no arguments are none: they were still to come.
func (a *Arguments) Object(cut bool) (args json.RawMessage, why string) {
	text := a.text
	if !utf8.Valid(text) {
		text, _ = whole(text, true)
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || string(text) == "null" {
		if cut {
			return json.RawMessage("{}"), "the answer was cut at its length limit before the arguments came"
		}
		return json.RawMessage("{}"), ""
	}
	switch {
	case a.shape.deepest > MaxDepth:
		why = fmt.Sprintf("they nest deeper than %d levels", MaxDepth)
	default:
		var raw json.RawMessage
		if err := json.Unmarshal(text, &raw); err != nil {
			why = err.Error()
		} else if text[0] != '{' {
			why = "they are " + kindOf(text[0])
		}
	}
	if why == "" {
		var b bytes.Buffer
		json.Compact(&b, text) // known to be valid
		return b.Bytes(), ""
	}
	if cut {
		why += " (the answer was cut at its length limit)"
	}
	return json.RawMessage("{}"), fmt.Sprintf("%s; what came: %s", why, excerpt(text))
}

// kindOf names a JSON value by its first byte.
func kindOf(first byte) string {
	switch first {
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	}
	return "a number"
}

func excerpt(text []byte) string {
	if len(text) <= maxExcerpt {
		return string(text)
	}
	cut := maxExcerpt
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return string(text[:cut]) + "…"
}

// nesting follows the brackets of a JSON text that comes in pieces.
type nesting struct {
	depth, deepest    int
	inString, escaped bool
}

func (n *nesting) add(piece []byte) {
	for _, b := range piece {
		switch {
		case n.escaped:
			n.escaped = false
		case n.inString:
			n.escaped = b == '\\'
			n.inString = b != '"'
		case b == '"':
			n.inString = true
		case b == '{' || b == '[':
			n.depth++
			n.deepest = max(n.deepest, n.depth)
		case b == '}' || b == ']':
			n.depth--
		}
	}
}
