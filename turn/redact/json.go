package redact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// JSON returns the text of a JSON value with every string in it masked, the names of
// members too. What is no JSON comes back masked as one string.
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage {
	return r.Object(raw, nil, nil)
}

// Object is JSON for an object of a known shape, whose own members' names stay, and
// the values of those named in keep. The same holds for an object that a member named
// in inner is, and for each object of a list that it is.
func (r *Redactor) Object(raw json.RawMessage, keep, inner []string) json.RawMessage {
	if r == nil || len(raw) == 0 {
		return raw
	}
	if !json.Valid(raw) {
		return encode(r.Text(string(raw)))
	}
	w := &walker{redactor: r, in: raw, keep: keep, inner: inner}
	w.value(keep != nil)
	if w.copied == 0 {
		return raw
	}
	return append(w.out, raw[w.copied:]...)
}

// walker goes through valid JSON and copies it where something is masked.
type walker struct {
	redactor    *Redactor
	in          []byte
	at          int
	out         []byte
	copied      int // of in, to out; 0: nothing was masked
	keep, inner []string
}

// value passes one value. If it is an object, or a list of them, and structural,
// members of it may have to be kept.
func (w *walker) value(structural bool) {
	w.space()
	switch w.in[w.at] {
	case '{':
		w.object(structural)
	case '[':
		w.at++
		for w.more(']') {
			w.value(structural)
		}
	case '"':
		w.text(nil)
	case 't', 'f', 'n':
		w.word()
	default:
		start := w.at
		number := string(w.word())
		if masked := w.redactor.Text(number); masked != number {
			w.replace(start, encode(masked))
		}
	}
}

func (w *walker) object(structural bool) {
	var taken []string
	w.at++
	for w.more('}') {
		name := ""
		if structural {
			start := w.at
			w.skipText()
			name = string(w.in[start+1 : w.at-1])
		} else {
			w.text(&taken)
		}
		w.space()
		w.at++ // the colon
		if structural && slices.Contains(w.keep, name) {
			w.skip()
		} else {
			w.value(structural && slices.Contains(w.inner, name))
		}
	}
}

// more goes to the next member or element; false, and behind the end, if there is none.
func (w *walker) more(end byte) bool {
	w.space()
	if w.in[w.at] == ',' {
		w.at++
		w.space()
	}
	if w.in[w.at] == end {
		w.at++
		return false
	}
	return true
}

// text passes a string. As the name of a member it gets a number if masking has made
// it the same as one that is taken.
func (w *walker) text(taken *[]string) {
	start := w.at
	w.skipText()
	raw := w.in[start:w.at]
	var s string
	_ = json.Unmarshal(raw, &s) // valid
	masked := w.redactor.Text(s)
	if masked == s {
		return
	}
	if taken != nil {
		if slices.Contains(*taken, masked) {
			masked = fmt.Sprintf("%s (%d)", masked, len(*taken)+1)
		}
		*taken = append(*taken, masked)
	}
	w.replace(start, encode(masked))
}

func (w *walker) replace(start int, by []byte) {
	w.out = append(append(w.out, w.in[w.copied:start]...), by...)
	w.copied = w.at
}

// skip passes a value without a look at it.
func (w *walker) skip() {
	w.space()
	depth := 0
	for {
		switch c := w.in[w.at]; {
		case c == '"':
			w.skipText()
		case c == '{' || c == '[':
			depth++
			w.at++
		case c == '}' || c == ']':
			depth--
			w.at++
		case c == ',' || c == ':' || strings.IndexByte(" \t\r\n", c) >= 0:
			w.at++
		default:
			w.word()
		}
		if depth == 0 {
			return
		}
	}
}

func (w *walker) skipText() {
	for w.at++; w.in[w.at] != '"'; w.at++ {
		if w.in[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
}

// word passes a number, true, false or null.
func (w *walker) word() []byte {
	start := w.at
	for w.at < len(w.in) && strings.IndexByte(",]} \t\r\n", w.in[w.at]) < 0 {
		w.at++
	}
	return w.in[start:w.at]
}

func (w *walker) space() {
	for w.at < len(w.in) && strings.IndexByte(" \t\r\n", w.in[w.at]) >= 0 {
		w.at++
	}
}
