package runwire

import (
	"fmt"
	"strings"
	"testing"

	"hitchpost/server/protocol"
)

// badFrames are refused; each message must name what was wrong.
var badFrames = []struct{ text, message string }{
	{`nonsense`, "not JSON"},
	{`{"type":"run.cancel","payload":{"run_id":"a"}} {}`, "not JSON"},
	{`[]`, "not a JSON object"},
	{`{}`, "type is missing"},
	{`{"type":7}`, "type must be a string"},
	{`{"type":"run.nonsense","payload":{}}`, `unknown frame type "run.nonsense"`},
	{`{"type":"run.started","payload":{}}`, "unknown frame type"},
	{`{"type":"Run.Create","payload":{}}`, "unknown frame type"},
	{`{"type":"auth","token":"secret-all"}`, "accepted already"},
	{`{"type":"run.create"}`, "payload is missing"},
	{`{"type":"run.create","payload":null}`, "payload is missing"},
	{`{"type":"run.create","payload":[]}`, "payload is missing"},
	{`{"type":"run.create","payload":{"input":"a"}}`, "session_id is missing"},
	{`{"type":"run.create","payload":{"session_id":"a"}}`, "input is missing"},
	{`{"type":"run.create","payload":{"session_id":"a","input":null}}`, "input must be a string"},
	{`{"type":"run.create","payload":{"session_id":"a","input":"b","agent":1}}`, "agent must be a string"},
	{`{"type":"run.create","payload":{"SESSION_ID":"a","input":"b"}}`, "session_id is missing"},
	{`{"type":"run.subscribe","payload":{}}`, "run_id is missing"},
	{`{"type":"run.subscribe","payload":{"run_id":"a","from_seq":-1}}`, "from_seq must be an integer"},
	{`{"type":"run.subscribe","payload":{"run_id":"a","from_seq":1.5}}`, "from_seq must be an integer"},
	{`{"type":"run.subscribe","payload":{"run_id":"a","from_seq":"7"}}`, "from_seq must be an integer"},
	{`{"type":"run.subscribe","payload":{"run_id":"a","from_seq":null}}`, "from_seq must be an integer"},
	{`{"type":"run.cancel","payload":{"run_id":"a","mode":"later"}}`, `mode must be "abort" or "graceful", not "later"`},
	{`{"type":"run.inject","payload":{"run_id":"a","input":"b"}}`, "queue is missing"},
	{`{"type":"run.inject","payload":{"run_id":"a","queue":"soon","input":"b"}}`, "queue must be"},
	{`{"type":"run.inject","payload":{"run_id":"a","queue":"steer","input":" \n"}}`, "input is blank"},
	{`{"type":"tool.approve","payload":{"run_id":"a"}}`, "tool_call_id is missing"},
	{`{"type":"tool.approve","payload":{"tool_call_id":"a","scope":1}}`, "scope must be a string"},
	{`{"type":"tool.reject","payload":{"tool_call_id":"a","reason":1}}`, "reason must be a string"},
	{"{\"type\":\"run.cancel\",\"payload\":{\"run_id\":\"\xff\"}}", "UTF-8"},
	{`{"type":"run.cancel","payload":{"run_id":"\ud800"}}`, "surrogate"},
	{`{"type":"run.cancel","x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "deeper than 100"},
	{`{"type":"` + strings.Repeat("x", 1000) + `"}`, "unknown frame type"},
}

// Run wire: malformed or unknown frame: run.error{code:"bad_frame"}, stay open.
//
// guarantee 5
func TestABadFrameIsAnsweredByOneRefusalAndTheConnectionStays(t *testing.T) {
	w := newWorld(t, settings{})
	p := w.join("secret-all")
	for _, c := range badFrames {
		p.send(c.text)
		f := p.next()
		if f.Payload.Code != protocol.CodeBadFrame || f.Seq != 0 || !strings.Contains(f.Payload.Message, c.message) || len(f.Payload.Message) > 300 {
			t.Errorf("%.80s: answered by %s, want bad_frame about %q", c.text, f.line, c.message)
		}
		if !strings.HasPrefix(c.message, "not") && strings.Contains(c.text, `"run_id":"a"`) && f.Payload.RunID != "a" ||
			strings.Contains(c.text, `"session_id":"a"`) && f.Payload.SessionID != "a" {
			t.Errorf("%.80s: the refusal leaves out the id that was asked for: %s", c.text, f.line)
		}
	}
}

// Unknown members are ignored, and so is what stands beside the payload.
func TestUnknownMembersOfAFrameAreIgnored(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	p.send(`{"id":7,"type":"run.create","seq":5,"payload":{"later":{},"session_id":"a","input":"hi","Input":"no"}}`)
	p.of(protocol.TypeRunOutput)
}

// FuzzDecode: any bytes are a frame or are refused, and are never both.
func FuzzDecode(f *testing.F) {
	for _, c := range badFrames {
		f.Add([]byte(c.text))
	}
	f.Add([]byte(`{"type":"tool.reject","payload":{"tool_call_id":"c","run_id":"r","reason":"no"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, _, err := decode(text)
		if err != nil && err.Error() == "" || err == nil && got == nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if err == nil && fmt.Sprint(got.ClientType()) == "" {
			t.Errorf("%q has no type", text)
		}
	})
}
