package strictjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzWhatPassesIsDecodedWithoutMercy(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, `{"a":"\\ud83d"}`, "{\"\xff\":1}", `{"a":[[[{"b":null}]]]}`, `null`, ``, `{"a":1,"a":2}`, `{"a":"\u0000"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := Object("the body", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "the body ") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if !json.Valid(text) || !utf8.Valid(text) || bytes.TrimLeft(text, " \t\r\n")[0] != '{' {
			t.Fatalf("%q passed", text)
		}
		for name, raw := range all {
			if !json.Valid(raw) {
				t.Fatalf("%q: the member %q is %q", text, name, raw)
			}
			// A replacement character that its sender did not write is mercy.
			var s string
			if json.Unmarshal(raw, &s) == nil && strings.ContainsRune(s, utf8.RuneError) && !bytes.Contains(raw, []byte("\ufffd")) &&
				!bytes.Contains(bytes.ToLower(raw), []byte(`\ufffd`)) {
				t.Fatalf("%q was mended to %q", raw, s)
			}
		}
	})
}
