package store

import "bytes"

// shape is what one pass over a payload tells. encoding/json's Valid, and further
// passes for the rest, were a tenth of an append's CPU time.
type shape struct {
	valid   bool // RFC 8259, as encoding/json's Valid sees it
	deep    bool // nested deeper than MaxNesting; valid is not known then
	newline bool // a newline or carriage return stands between tokens
	escape  bool // a string holds \u
	ascii   bool // no byte is above 0x7f
}

// What may come next, outside a string.
const (
	wantValue      = iota
	wantFirstValue // or the end of the array
	wantFirstKey   // or the end of the object
	wantKey
	wantColon
	wantNext // a comma, or the end of the object or array
	wantEnd  // of the text
)

func scanJSON(p []byte) shape {
	s := shape{ascii: true}
	var array [64]byte
	open := array[:0] // the brackets that are open
	want := wantValue
	for i := 0; i < len(p); {
		c := p[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			s.newline = s.newline || c < ' ' && c != '\t'
			i++
		case c == '"' && (want == wantKey || want == wantFirstKey):
			want = wantColon
			i = s.string(p, i)
		case c == ':' && want == wantColon:
			want = wantValue
			i++
		case c == ',' && want == wantNext:
			want = wantValue
			if open[len(open)-1] == '{' {
				want = wantKey
			}
			i++
		case c == '}' && (want == wantNext || want == wantFirstKey) && open[len(open)-1] == '{',
			c == ']' && (want == wantNext || want == wantFirstValue) && open[len(open)-1] == '[':
			open = open[:len(open)-1]
			want = after(open)
			i++
		case want > wantFirstValue:
			return s // no value belongs here
		case c == '{' || c == '[':
			if open = append(open, c); len(open) > MaxNesting {
				s.deep = true
				return s
			}
			want = wantFirstKey
			if c == '[' {
				want = wantFirstValue
			}
			i++
		default:
			want = after(open)
			i = s.scalar(p, i)
		}
		if i < 0 {
			return s
		}
	}
	s.valid = want == wantEnd
	return s
}

// after is what may follow a value.
func after(open []byte) int {
	if len(open) == 0 {
		return wantEnd
	}
	return wantNext
}

// scalar returns the end of the string, number or literal that starts at i, -1 if it is none.
func (s *shape) scalar(p []byte, i int) int {
	switch c := p[i]; {
	case c == '"':
		return s.string(p, i)
	case c == '-' || c >= '0' && c <= '9':
		return number(p, i)
	}
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(p[i:], []byte(word)) {
			return i + len(word)
		}
	}
	return -1
}

// string returns the end of the string whose quote is at i, -1 if it has none.
func (s *shape) string(p []byte, i int) int {
	for i++; i < len(p); i++ {
		switch c := p[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c > 0x7f:
			s.ascii = false
		case c == '\\':
			if i++; i == len(p) {
				return -1
			}
			switch p[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				s.escape = true
				for range 4 {
					if i++; i == len(p) || !isHex(p[i]) {
						return -1
					}
				}
			default:
				return -1
			}
		}
	}
	return -1
}

// number returns the end of the number that starts at i, -1 if it is none.
func number(p []byte, i int) int {
	digits := func() bool {
		start := i
		for i < len(p) && p[i] >= '0' && p[i] <= '9' {
			i++
		}
		return i > start
	}
	at := func(set string) bool { return i < len(p) && bytes.IndexByte([]byte(set), p[i]) >= 0 }
	if at("-") {
		i++
	}
	if at("0") {
		i++ // and no digit behind it: what follows a value then refuses it
	} else if !digits() {
		return -1
	}
	if at(".") {
		if i++; !digits() {
			return -1
		}
	}
	if at("eE") {
		i++
		if at("+-") {
			i++
		}
		if !digits() {
			return -1
		}
	}
	return i
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
