package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"hitchpost/turn/model"
	"hitchpost/turn/model/sse"
)

// outcome is all that a client makes of the body of a 200.
func outcome(t *testing.T, body []byte, bytewise bool) string {
	var text, thought strings.Builder
	a := newAnswer(question.Tools, func(d model.Delta) {
		if d.Retry != nil || (d.Text == "") == (d.Reasoning == "") {
			t.Errorf("a delta with not exactly one member: %+v", d)
		}
		if !utf8.ValidString(d.Text + d.Reasoning) {
			t.Errorf("a delta is not whole runes: %q", d.Text+d.Reasoning)
		}
		text.WriteString(d.Text)
		thought.WriteString(d.Reasoning)
	})
	src := iotest.OneByteReader(bytes.NewReader(body))
	if !bytewise {
		src = bytes.NewReader(body)
	}
	c := New(Config{BaseURL: "http://model.test"})
	var reply model.Reply
	err := c.read(t.Context(), src, a, &watchdog{end: func(error) {}})
	if err == nil {
		reply, err = a.reply()
	}
	if err != nil {
		var e *model.Error
		if !errors.As(err, &e) || e.Code == "" || e.Message == "" {
			t.Errorf("%T is no *model.Error: %v", err, err)
		}
		return text.String() + "|" + err.Error()
	}
	if !a.complete() {
		t.Error("a reply without a finish reason or [DONE], or without a choice") // guarantee 1
	}
	if reply.Text != text.String() || reply.Reasoning != nil && reply.Reasoning.Text != thought.String() {
		t.Errorf("the reply says %q, the deltas %q", reply.Text, text.String())
	}
	for _, call := range reply.Calls { // guarantee 3
		var object map[string]json.RawMessage
		if err := json.Unmarshal(call.Args, &object); err != nil || object == nil || !utf8.Valid(call.Args) {
			t.Errorf("arguments %q: %v", call.Args, err)
		}
		if call.ArgsError != "" && string(call.Args) != "{}" {
			t.Errorf("arguments %q beside an error", call.Args)
		}
	}
	all, err := json.Marshal(reply)
	if err != nil {
		t.Errorf("the reply cannot be written down: %v", err)
	}
	return string(all)
}

// FuzzStream gives any bytes to the client as the body of a 200: they come to a sound
// reply or a named error, the same however they are cut.
func FuzzStream(f *testing.F) {
	files, _ := filepath.Glob("testdata/a*.txt")
	for _, file := range files {
		for _, a := range readScenario(f, file).answers {
			f.Add([]byte(a.body))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		one, other := outcome(t, body, false), outcome(t, body, true)
		if one != other {
			t.Errorf("at once:      %s\nbyte by byte: %s", one, other)
		}
	})
}

// FuzzRunes cuts a JSON string's text anywhere: what comes out is the same, valid, and
// for a text without faults what the standard library reads.
func FuzzRunes(f *testing.F) {
	f.Add([]byte("日本 👩‍👩‍👧 e\u0301"), uint8(1))
	f.Add([]byte{'a', 0xF0, 0x9F, 0x98, 0x80, 0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80, 0xFF}, uint8(2))
	f.Add([]byte{0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80}, uint8(1))
	f.Add([]byte{0xED, 0xA0, 0xBD, 0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80, 0xED, 0xB8, 0x80, 0xE2}, uint8(5))
	f.Fuzz(func(t *testing.T, text []byte, step uint8) {
		var whole, cut piecewise
		whole.add(text)
		whole.end()
		for b := text; len(b) > 0; {
			n := min(int(step%7)+1, len(b))
			if s := cut.add(b[:n]); !utf8.ValidString(s) {
				t.Errorf("a piece is not whole runes: %q", s)
			}
			if len(cut.held) > 6 {
				t.Errorf("%d bytes are held back", len(cut.held))
			}
			b = b[n:]
		}
		cut.end()
		got := whole.all.String()
		if got != cut.all.String() || !utf8.ValidString(got) {
			t.Errorf("in one piece %q, in pieces %q", got, cut.all.String())
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
		var p piecewise
		p.add(unquote(nil, quoted[1:len(quoted)-1]))
		p.end()
		got := p.all.String()
		if !strings.ContainsRune(want, utf8.RuneError) && got != want {
			t.Errorf("%s is %q, want %q", quoted, got, want)
		}
	})
}

// BenchmarkStream takes in an answer of a thousand words, and names its cost beside
// that of reading the events and validating their JSON alone.
func BenchmarkStream(b *testing.B) {
	const chunks = 1000
	body := []byte(strings.Repeat(`data: {"id":"gen-1","object":"chat.completion.chunk","created":1790000000,"model":"acme/model-1","choices":[{"index":0,"delta":{"role":"assistant","content":"word "},"finish_reason":null}]}`+"\n\n", chunks) + finish + "data: [DONE]\n\n")
	b.Run("client", func(b *testing.B) {
		c := New(Config{BaseURL: "http://model.test"})
		b.ReportAllocs()
		for b.Loop() {
			a := newAnswer(nil, func(model.Delta) {})
			if err := c.read(b.Context(), bytes.NewReader(body), a, &watchdog{end: func(error) {}}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chunks, "ns/chunk")
	})
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := sse.NewReader(bytes.NewReader(body))
			for {
				ev, err := r.Next()
				if err != nil {
					break
				}
				var c struct {
					Choices []struct{ Delta struct{ Content string } }
				}
				json.Unmarshal(ev.Data, &c)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chunks, "ns/chunk")
	})
}
