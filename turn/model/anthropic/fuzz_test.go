package anthropic

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
		if d.Retry != nil || (d.Text == "") == (d.Reasoning == "") || !utf8.ValidString(d.Text+d.Reasoning) {
			t.Errorf("a delta that is none: %+v", d)
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
	if !a.started || !a.stopped {
		t.Error("a reply without its start or its end") // guarantee 1
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
	again := question // guarantees 5 and 6: what came can be sent back
	again.Messages = append(again.Messages[:1:1], model.Message{Role: model.Assistant, Text: reply.Text, Calls: reply.Calls, Reasoning: reply.Reasoning})
	for _, call := range reply.Calls {
		again.Messages = append(again.Messages, model.Message{Role: model.ToolRole, CallID: call.ID, Text: "ok"})
	}
	sent, err := c.encode(again)
	if err != nil || !json.Valid(sent) || !utf8.Valid(sent) {
		t.Errorf("the answer cannot be sent back: %s, %v", sent, err)
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
	files, _ := filepath.Glob("testdata/*.txt")
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

// FuzzRequest holds guarantees 4 and 5 for any texts, ids, names and arguments.
func FuzzRequest(f *testing.F) {
	f.Add("sys", "a<b && c>d\u2028", "toolu_1", "Read", `{"n":1.10}`, "ok")
	f.Add("", "\xff\x00", "a.b", "", `{"a":"\ud83d"}`, " ")
	f.Add(" ", " ", "", "日本", `[1]`, "")
	f.Fuzz(func(t *testing.T, system, text, id, name, args, out string) {
		call := model.Call{ID: id, Name: name, Args: json.RawMessage(args)}
		req := model.Request{Model: "m", System: system, Messages: []model.Message{
			{Role: model.User, Text: text},
			{Role: model.Assistant, Text: out, Calls: []model.Call{call, {ID: "x" + id, Name: name}}},
			{Role: model.ToolRole, CallID: id, Text: out, IsError: true}, {Role: model.ToolRole, CallID: "x" + id, Text: text},
			{Role: model.User, Text: out},
			{Role: model.Assistant, Text: text, Calls: []model.Call{call}},
			{Role: model.ToolRole, CallID: id, Text: out},
		}}
		body := encoded(t, req)
		if !bytes.Equal(body, encoded(t, req)) {
			t.Error("other bytes the second time")
		}
		wellFormedRequest(t, body)
	})
}

// BenchmarkStream takes in an answer of a thousand words, and names its cost beside
// that of reading the events and decoding their JSON alone.
func BenchmarkStream(b *testing.B) {
	const events = 1000
	body := []byte(start0 + begins(0, `"type":"text","text":""`) + strings.Repeat("event: content_block_delta\n"+word("word "), events) + finish)
	b.Run("client", func(b *testing.B) {
		c := New(Config{BaseURL: "http://model.test", Transport: modeltest.Canned{Body: body}})
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Stream(b.Context(), question, func(model.Delta) {}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
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
				var e struct{ Delta struct{ Text string } }
				json.Unmarshal(ev.Data, &e)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
	})
}
