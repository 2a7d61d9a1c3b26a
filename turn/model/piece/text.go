package piece

import (
	"strings"
	"unicode/utf8"
)

// Text is a text that comes in pieces.
type Text struct {
	runes
	all strings.Builder
}

// Add takes in the next piece and returns what is whole by now.
func (t *Text) Add(piece []byte) string {
	s := t.push(piece)
	t.all.WriteString(s)
	return s
}

// End returns what was held back, as there is no rest of it.
func (t *Text) End() string {
	s := t.flush()
	t.all.WriteString(s)
	return s
}

// String is all that Add and End returned.
func (t *Text) String() string { return t.all.String() }

// Len is the length of String, in bytes.
func (t *Text) Len() int { return t.all.Len() }

// A provider may split a character between two chunks: in the middle of its bytes, or
// between the two escapes of a surrogate pair. Strings are therefore decoded to bytes
// in which a half of a pair stands as three bytes of its own (as UTF-8 would write it,
// were it a character), and runes puts the pieces together.

// unquote decodes the inside of a JSON string that is known to be valid JSON. It keeps
// bytes that are no UTF-8, and halves of pairs.
func unquote(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			dst = appendUnit(dst, hex4(s[i+1:i+5]))
			i += 4
		default: // the quote, the slash, the backslash
			dst = append(dst, s[i])
		}
	}
	return dst
}

// hex4 reads four hex digits.
func hex4(s []byte) rune {
	var r rune
	for _, c := range s {
		r <<= 4
		switch {
		case c <= '9':
			r |= rune(c - '0')
		default:
			r |= rune(c|0x20-'a') + 10
		}
	}
	return r
}

// appendUnit writes one UTF-16 unit, halves of pairs included.
func appendUnit(dst []byte, r rune) []byte {
	if r < 0xD800 || r > 0xDFFF {
		return utf8.AppendRune(dst, r)
	}
	return append(dst, 0xED, 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
}

// half reads a half of a surrogate pair from the front of b.
func half(b []byte) (rune, bool) {
	if len(b) < 3 || b[0] != 0xED || b[1]&0xE0 != 0xA0 || b[2]&0xC0 != 0x80 {
		return 0, false
	}
	return 0xD000 | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F), true
}

const (
	lowFirst = 0xDC00 // the first second half; a first half is below
	pairBase = 0x10000
)

// runes makes whole characters of pieces.
type runes struct {
	held []byte // the start of a character whose rest has not come
}

// push takes the next piece and returns what is whole. What can become no character is
// U+FFFD, byte by byte. The concatenation of all that is returned, flush included, does
// not depend on how the pieces were cut.
func (r *runes) push(piece []byte) string {
	if len(r.held) == 0 && utf8.Valid(piece) {
		return string(piece)
	}
	b := append(r.held, piece...)
	out, rest := whole(b, false)
	r.held = append([]byte(nil), rest...)
	return string(out)
}

// flush returns what was held back, as there is no rest of it.
func (r *runes) flush() string {
	out, _ := whole(r.held, true)
	r.held = nil
	return string(out)
}

// whole decodes as much of b as is whole, or all of it when last.
func whole(b []byte, last bool) (out, rest []byte) {
	out = make([]byte, 0, len(b))
	for len(b) > 0 {
		if first, ok := half(b); ok {
			second, paired := half(b[3:])
			switch {
			case first < lowFirst && paired && second >= lowFirst:
				out = utf8.AppendRune(out, pairBase+(first&0x3FF)<<10|second&0x3FF)
				b = b[6:]
			case first < lowFirst && !last && startsHalf(b[3:]):
				return out, b
			default:
				out = utf8.AppendRune(out, utf8.RuneError)
				b = b[3:]
			}
			continue
		}
		if !last && (!utf8.FullRune(b) || startsHalf(b)) {
			return out, b
		}
		c, size := utf8.DecodeRune(b)
		out = utf8.AppendRune(out, c)
		b = b[size:]
	}
	return out, nil
}

// startsHalf tells whether b is the start of a half of a pair, and not all of it.
func startsHalf(b []byte) bool {
	switch len(b) {
	case 0:
		return true
	case 1:
		return b[0] == 0xED
	case 2:
		return b[0] == 0xED && b[1]&0xE0 == 0xA0
	}
	return false
}
