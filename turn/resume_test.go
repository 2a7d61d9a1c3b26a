package turn

import (
	"context"
	"encoding/json"
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
	for name, script := range map[string]string{
		"busy": `model "let " "me see" call:p1:par:{} call:p2:par:{} call:o1:once:{} call:f1:fast:{}
			model "and " call:o2:once:{}
			model "all done"
			wake go`,
		"decided": `model call:a1:ask:{} call:a2:ask:{} call:o1:once:{} call:q1:askpar:{} call:q2:askpar:{} call:p1:par:{}
			model "done"
			wake go
			parked a1
			approve a1
			parked a2
			deny a2 no
			parked q1 q2
			deny q2
			approve q1`,
		"cancelled": `model call:q1:askpar:{} call:p1:par:{} call:q2:askpar:{} call:a1:ask:{}
			wake go
			parked q1 q2
			cancel enough`,
	} {
		whole := newWorld(t)
		whole.play(script)
		whole.idle()
		log := whole.log()
		for cut := 1; cut <= len(log); cut++ {
			t.Run(fmt.Sprintf("%s_behind_%02d_%s", name, cut-1, strings.ReplaceAll(log[cut-1].Type, "/", "_")), func(t *testing.T) {
				t.Parallel()
				resumePrefix(t, log[:cut])
			})
		}
	}
}

func resumePrefix(t *testing.T, prefix []store.Event) {
	w := newWorld(t)
	w.put("cut", prefix)
	w.agent.Release()
	w.agent = w.hold("cut")
	open := isOpen(prefix)
	want := Idle
	switch {
	case len(standing(prefix)) > 0:
		want = Waiting
	case open:
		want = Resumable
	}
	if w.run("status", string(want)) != nil {
		t.Fatalf("status before the stimulus is not %s", want)
	}
	for range 4 {
		w.model.add("", []act{{text: "went on"}})
	}
	if err := w.run("wake", "status?"); err != nil {
		t.Fatal(err)
	}
	w.approveAll()
	log := w.log()
	checkInvariants(t, log)
	if isOpen(log) {
		t.Fatalf("the turn is still open:\n%s", render(log))
	}
	starts := count(prefix, event.TurnStartType)
	marked := strings.Contains(render(prefix), `"cause":"cancelled"`)
	if marked || !open {
		starts++ // for the waking text
	}
	if marked && open { // it ends as it was going to
		if _, after, _ := strings.Cut(render(log[len(prefix):]), string(event.TurnEndType)); !strings.HasPrefix(after, ` {"status":"cancelled"`) {
			t.Errorf("the cancelled turn ended %.40s", after)
		}
	}
	if got := count(log, event.TurnStartType); got != starts {
		t.Errorf("%d turn/start after the resume, want %d", got, starts)
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
	for _, c := range []string{"o1", "o2", "a1", "a2"} {
		began := holds(prefix, event.ToolCallType, c) && !standing(prefix)[c]
		if n := w.ran.of(c); n > 1 || began && n > 0 {
			t.Errorf("%s ran %d times (begun before: %v), though it must not be repeated", c, n, began)
		}
	}
	checkVerdicts(t, log, w.ran)
}

// approveAll approves what stands until the turn has ended.
func (w *world) approveAll() {
	w.t.Helper()
	for {
		w.until(Idle, Resumable, Waiting)
		st, err := w.agent.State(context.Background())
		if err != nil {
			w.t.Fatal(err)
		}
		if st.Status != Waiting {
			return
		}
		for _, p := range st.Pending {
			if err := w.run("approve", p.CallID); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

// standing returns the calls of a log that wait for a verdict.
func standing(log []store.Event) map[string]bool {
	calls := map[string]bool{}
	for _, ev := range log {
		var p struct {
			CallID string `json:"call_id"`
		}
		switch event.Type(ev.Type) {
		case event.ApprovalRequestedType:
			_ = json.Unmarshal(ev.Payload, &p)
			calls[p.CallID] = true
		case event.ApprovalResolvedType:
			_ = json.Unmarshal(ev.Payload, &p)
			delete(calls, p.CallID)
		}
	}
	return calls
}

// checkVerdicts holds for a log whose turns have ended: a call that was asked for was
// asked for once and decided once, and one that was denied never ran.
func checkVerdicts(t *testing.T, log []store.Event, ran *counter) {
	t.Helper()
	asked, decided := map[string]int{}, map[string]int{}
	for _, ev := range log {
		switch event.Type(ev.Type) {
		case event.ApprovalRequestedType:
			var p event.ApprovalRequested
			mustUnmarshal(t, ev.Payload, &p)
			asked[p.CallID]++
		case event.ApprovalResolvedType:
			var p event.ApprovalResolved
			mustUnmarshal(t, ev.Payload, &p)
			decided[p.CallID]++
			if n := ran.of(p.CallID); p.Verdict == event.Denied && n > 0 {
				t.Errorf("%s was denied and ran %d times", p.CallID, n)
			}
		}
	}
	for id := range asked {
		if asked[id] != 1 || decided[id] != 1 {
			t.Errorf("%s was asked for %d times and decided %d times", id, asked[id], decided[id])
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
