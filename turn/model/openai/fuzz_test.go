package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"hitchpost/turn/model"
	"hitchpost/turn/model/httpstream"
	"hitchpost/turn/model/modeltest"
	"hitchpost/turn/model/sse"
)

// outcome is all that a client makes of the body of a 200.
func outcome(t *testing.T, body []byte, bytewise bool) string {
	var text, thought strings.Builder
	var a *answer
	emit := func(d model.Delta) {
		if d.Retry != nil || (d.Text == "") == (d.Reasoning == "") {
			t.Errorf("a delta with not exactly one member: %+v", d)
		}
		if !utf8.ValidString(d.Text + d.Reasoning) {
			t.Errorf("a delta is not whole runes: %q", d.Text+d.Reasoning)
		}
		text.WriteString(d.Text)
		thought.WriteString(d.Reasoning)
	}
	c := New(Config{BaseURL: "http://model.test", Transport: modeltest.Canned{Body: body, Bytewise: bytewise}})
	reply, err := c.http.Stream(t.Context(), nil, emit, func(emit func(model.Delta)) httpstream.Answer {
		a = newAnswer(question.Tools, emit)
		return a
	})
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
		for _, a := range modeltest.ReadScenario(f, file).Answers {
			f.Add([]byte(a.Body))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		one, other := outcome(t, body, false), outcome(t, body, true)
		if one != other {
			t.Errorf("at once:      %s\nbyte by byte: %s", one, other)
		}
	})
}

// BenchmarkStream takes in an answer of a thousand words, and names its cost beside
// that of reading the events and validating their JSON alone.
func BenchmarkStream(b *testing.B) {
	const chunks = 1000
	body := []byte(strings.Repeat(`data: {"id":"gen-1","object":"chat.completion.chunk","created":1790000000,"model":"acme/model-1","choices":[{"index":0,"delta":{"role":"assistant","content":"word "},"finish_reason":null}]}`+"\n\n", chunks) + finish + "data: [DONE]\n\n")
	b.Run("client", func(b *testing.B) {
		c := New(Config{BaseURL: "http://model.test", Transport: modeltest.Canned{Body: body}})
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Stream(b.Context(), question, func(model.Delta) {}); err != nil {
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
