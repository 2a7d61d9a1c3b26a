package turn

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// TestEveryPrefixOfALogIsResumed cuts the log of a busy turn behind each of its
// events, as a process death would, and lets a waking text resume what is left.
// Guarantees 3 and 6.
func TestEveryPrefixOfALogIsResumed(t *testing.T) {
	whole := newWorld(t)
	script := `model "let " "me see" call:p1:par:{} call:p2:par:{} call:o1:once:{} call:f1:fast:{}
		model "and " call:o2:once:{}
		model "all done"
		wake go`
	for line := range strings.SplitSeq(script, "\n") {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if err := whole.run(verb, rest); err != nil {
			t.Fatal(err)
		}
	}
	whole.idle()
	log := whole.log()
	for cut := 1; cut <= len(log); cut++ {
		t.Run(fmt.Sprintf("behind_%02d_%s", cut-1, strings.ReplaceAll(log[cut-1].Type, "/", "_")), func(t *testing.T) {
			t.Parallel()
			resumePrefix(t, log[:cut])
		})
	}
}

func resumePrefix(t *testing.T, prefix []store.Event) {
	w := newWorld(t)
	w.put("cut", prefix)
	w.agent.Release()
	w.agent = w.hold("cut")
	open := isOpen(prefix)
	if want := map[bool]Status{true: Resumable, false: Idle}[open]; w.run("status", string(want)) != nil {
		t.Fatalf("status before the stimulus is not %s", want)
	}
	for range 4 {
		w.model.replies = append(w.model.replies, []act{{text: "went on"}})
	}
	if err := w.run("wake", "status?"); err != nil {
		t.Fatal(err)
	}
	w.idle()
	log := w.log()
	checkInvariants(t, log)
	if isOpen(log) {
		t.Fatalf("the turn is still open:\n%s", render(log))
	}
	if got, want := count(log, event.TurnStartType), count(prefix, event.TurnStartType); open && got != want {
		t.Errorf("%d turn/start after the resume, want %d", got, want)
	}
	for _, req := range w.model.asked() {
		checkRequest(t, req)
		if n := len(req.Messages); req.Messages[n-1].Text != "status?" {
			t.Errorf("the request ends with %q, want the waking text", req.Messages[n-1].Text)
		}
	}
	if len(w.model.asked()) != 1 {
		t.Errorf("%d requests, want 1", len(w.model.asked()))
	}
	for _, c := range []string{"o1", "o2"} {
		began, settled := holds(prefix, event.ToolCallType, c), holds(prefix, event.ToolResultType, c)
		if began && w.ran.of(c) > 0 {
			t.Errorf("%s ran again (began=%v settled=%v), though it must not be repeated", c, began, settled)
		}
	}
}

// put creates a session whose log holds these events, as an import would.
func (w *world) put(id string, events []store.Event) {
	w.t.Helper()
	ctx := context.Background()
	var all []store.NewEvent
	for _, ev := range events {
		all = append(all, store.NewEvent{ID: ev.ID, Type: ev.Type, Payload: ev.Payload, Streamed: event.Type(ev.Type).Streamed()})
	}
	if err := w.store.Create(ctx, store.Session{ID: id, Owner: "me", Agent: DefaultAgent}, all); err != nil {
		w.t.Fatal(err)
	}
}

func isOpen(log []store.Event) bool {
	return count(log, event.TurnStartType) > count(log, event.TurnEndType)
}

func count(log []store.Event, kind event.Type) int {
	n := 0
	for _, ev := range log {
		if event.Type(ev.Type) == kind {
			n++
		}
	}
	return n
}

func holds(log []store.Event, kind event.Type, id string) bool {
	for _, ev := range log {
		if event.Type(ev.Type) == kind && strings.Contains(string(ev.Payload), fmt.Sprintf(`"id":%q`, id)) {
			return true
		}
	}
	return false
}

// TestARestartChangesNoByteOfARequest: the history before the resume is a prefix of
// the history after it. Guarantee 5.
func TestARestartChangesNoByteOfARequest(t *testing.T) {
	w := newWorld(t)
	for _, line := range []string{
		`model "first" call:c1:obj:{"n":1.0,"big":12345678901234567890}`, `model "half" @g`,
		"wake <b>&amp; \u2028 \x00", "await g", "restart", `model "end"`, "wake more",
	} {
		verb, rest, _ := strings.Cut(line, " ")
		if err := w.run(verb, rest); err != nil {
			t.Fatal(line, err)
		}
	}
	w.idle()
	asked := w.model.asked()
	if len(asked) != 3 {
		t.Fatalf("%d requests, want 3", len(asked))
	}
	before, after := asked[1].Messages, asked[2].Messages
	if diff := cmp.Diff(before, after[:len(before)]); diff != "" {
		t.Errorf("history changed:\n%s", diff)
	}
	if diff := cmp.Diff(independent(t, w.log(), len(after)), after); diff != "" {
		t.Errorf("the request is not what the log says:\n%s", diff)
	}
}

// independent reads the messages of a request from the log in the plainest way:
// enough for a log without holes.
func independent(t *testing.T, log []store.Event, n int) []model.Message {
	var out []model.Message
	for _, ev := range log {
		if len(out) == n {
			break
		}
		var p struct {
			Text    string
			ID      string
			Content jsonText
			Parts   []event.Part
		}
		mustUnmarshal(t, ev.Payload, &p)
		switch event.Type(ev.Type) {
		case event.UserMessageType, event.ContextInjectedType:
			out = append(out, model.Message{Role: model.User, Text: p.Text})
		case event.ToolResultType:
			out = append(out, model.Message{Role: model.ToolRole, CallID: p.ID, Text: string(p.Content)})
		case event.AssistantMessageType:
			m := model.Message{Role: model.Assistant}
			for _, part := range p.Parts {
				m.Text += part.Text
				if part.Type == event.PartToolCall {
					m.Calls = append(m.Calls, model.Call{ID: part.ID, Name: part.Name, Args: part.Args})
				}
			}
			out = append(out, m)
		}
	}
	return out
}

// jsonText is JSON as it stands, whatever it is.
type jsonText string

func (j *jsonText) UnmarshalJSON(b []byte) error { *j = jsonText(b); return nil }
