package piece

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRunes cuts a JSON string's text anywhere: what comes out is the same, valid, and
// for a text without faults what the standard library reads.
func FuzzRunes(f *testing.F) {
	f.Add([]byte("日本 👩‍👩‍👧 e\u0301"), uint8(1))
	f.Add([]byte{'a', 0xF0, 0x9F, 0x98, 0x80, 0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80, 0xFF}, uint8(2))
	f.Add([]byte{0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80}, uint8(1))
	f.Add([]byte{0xED, 0xA0, 0xBD, 0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80, 0xED, 0xB8, 0x80, 0xE2}, uint8(5))
	f.Fuzz(func(t *testing.T, text []byte, step uint8) {
		var whole, cut Text
		whole.Add(text)
		whole.End()
		for b := text; len(b) > 0; {
			n := min(int(step%7)+1, len(b))
			if s := cut.Add(b[:n]); !utf8.ValidString(s) {
				t.Errorf("a piece is not whole runes: %q", s)
			}
			if len(cut.held) > 6 {
				t.Errorf("%d bytes are held back", len(cut.held))
			}
			b = b[n:]
		}
		cut.End()
		got := whole.String()
		if got != cut.String() || !utf8.ValidString(got) {
			t.Errorf("in one piece %q, in pieces %q", got, cut.String())
		}
		if utf8.Valid(text) && got != string(text) {
			t.Errorf("%q became %q", text, got)
		}
	})
}

// FuzzUnquote compares with the standard library, which agrees wherever no half of a
// pair and no invalid byte is in the string.
func FuzzUnquote(f *testing.F) {
	for _, s := range []string{`"\u00e9\n\\\"\/\b\f\r\t"`, `"\ud83d\ude00"`, `"\uD83D\uDE00x"`, `"\ud83d"`, `"\u0000"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, quoted []byte) {
		var want string
		if json.Unmarshal(quoted, &want) != nil {
			return
		}
		quoted = bytes.TrimSpace(quoted)
		if quoted[0] != '"' {
			return
		}
		var p Text
		p.Add(unquote(nil, quoted[1:len(quoted)-1]))
		p.End()
		got := p.String()
		if !strings.ContainsRune(want, utf8.RuneError) && got != want {
			t.Errorf("%s is %q, want %q", quoted, got, want)
		}
	})
}
