package turn

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/tool"
)

// world is a host over a real database file, with a scripted model and test tools.
type world struct {
	t     *testing.T
	path  string
	gates *gates
	model *script
	ran   *counter
	cfg   Config

	store *store.Store
	host  *Host
	agent *Agent // of session s1, held

	drained bool // by the test itself
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, path: filepath.Join(t.TempDir(), "log.db"), gates: newGates(), ran: &counter{ran: map[string]int{}}}
	w.model = &script{gates: w.gates, others: map[string][][]act{}}
	w.cfg = Config{
		Agents:    map[string]Definition{DefaultAgent: {System: "Be brief.", Policy: []string{"*"}, Models: map[string]string{RoleMain: "demo/one"}}},
		Providers: map[string]model.Client{"demo": w.model},
		MaxSteps:  25, MaxAgents: 100, InboxTexts: 1000, InboxBytes: 8 << 20,
		ToolTimeout: time.Minute, ResultLimit: 1 << 18,
		Approvals: true,
		Log:       slog.New(slog.DiscardHandler),
	}
	w.start()
	t.Cleanup(w.stop)
	return w
}

func (w *world) start() {
	w.t.Helper()
	w.open()
	w.agent = w.hold("s1")
}

// open starts a host over the file, and holds no agent yet.
func (w *world) open() {
	w.t.Helper()
	st, err := store.Open(context.Background(), w.path, store.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.store, w.host = st, New(st, w.cfg)
	tools := testTools(w.t, w.gates, w.ran, w.host.TaskTool())
	w.cfg.Tools = func() *tool.Set { return tools }
	w.host.Reload(w.cfg)
	if err := w.host.Start(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) hold(id string) *Agent {
	w.t.Helper()
	a, err := w.host.Hold(context.Background(), id, "me")
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// stop cuts whatever runs, leaving its turn open in the log.
func (w *world) stop() {
	w.t.Helper()
	w.agent.Release()
	if !w.drained {
		if err := w.host.Drain(0); err != nil {
			w.t.Error(err)
		}
	}
	w.drained = false
	w.host.wg.Wait() // a command may have come behind a drain of the test's own
	if n := len(w.host.held()); n != 0 {
		w.t.Errorf("%d agents in memory after the drain, want none", n)
	}
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

// play runs a script's lines, which must all succeed.
func (w *world) play(script string) {
	w.t.Helper()
	for line := range strings.SplitSeq(script, "\n") {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if err := w.run(verb, rest); err != nil {
			w.t.Fatalf("%s: %v", line, err)
		}
	}
}

// within waits until something holds of the agent, as its own goroutine sees it.
func (w *world) within(holds func(*Agent) bool) {
	w.t.Helper()
	w.wait(func(State) (ok bool) {
		err := w.agent.do(context.Background(), func() error { ok = holds(w.agent); return nil })
		return ok && err == nil
	})
}

func (w *world) restart() { w.stop(); w.start() }

// idle waits until no turn runs.
func (w *world) idle() {
	w.t.Helper()
	w.until(Idle, Resumable)
}

// until waits until the agent has one of these statuses.
func (w *world) until(any ...Status) {
	w.t.Helper()
	w.wait(func(st State) bool { return slices.Contains(any, st.Status) })
}

// parked waits until exactly these calls stand.
func (w *world) parked(ids []string) {
	w.t.Helper()
	w.wait(func(st State) bool {
		return st.Status == Waiting && slices.EqualFunc(st.Pending, ids, func(p Pending, id string) bool { return p.CallID == id })
	})
}

// define changes the definition of the agents, as a reload would.
func (w *world) define(change func(*Definition)) {
	d := w.cfg.Agents[DefaultAgent]
	d.Models = maps.Clone(d.Models)
	change(&d)
	w.cfg.Agents = map[string]Definition{DefaultAgent: d}
	w.host.Reload(w.cfg)
}

// logged waits until the log holds an event of the type.
func (w *world) logged(kind event.Type) {
	w.t.Helper()
	w.wait(func(State) bool {
		_, found, err := w.agent.Log().Newest(context.Background(), -1, string(kind))
		return found && err == nil
	})
}

func (w *world) wait(reached func(State) bool) {
	w.t.Helper()
	tick := make(chan struct{}, 1)
	stop := w.agent.Log().Watch(func() {
		select {
		case tick <- struct{}{}:
		default:
		}
	})
	defer stop()
	deadline := time.After(time.Minute)
	for {
		st, err := w.agent.State(context.Background())
		if err != nil {
			w.t.Fatal(err)
		}
		if reached(st) {
			return
		}
		select {
		case <-tick:
		case <-time.After(20 * time.Millisecond): // a halted turn publishes nothing
		case <-deadline:
			w.t.Fatalf("still %v after a minute; log:\n%s", st, render(w.log()))
		}
	}
}

func (w *world) log() []store.Event { return wholeLog(w.t, w.agent.Log()) }

func wholeLog(t *testing.T, log *store.Log) []store.Event {
	t.Helper()
	tip, _ := log.Tip()
	structural, err := log.Structural(context.Background(), 0, tip)
	if err != nil {
		t.Fatal(err)
	}
	streamed, err := log.Streamed(context.Background(), 0, tip)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]store.Event, tip+1)
	for _, ev := range append(structural, streamed...) {
		all[ev.Seq] = ev
	}
	return all
}

// checkInvariants holds for every log, whatever happened to it.
func checkInvariants(t testing.TB, log []store.Event) {
	t.Helper()
	ids := map[string]bool{}
	open, owed, text := false, map[string]bool{}, ""
	for i, ev := range log {
		if ev.Seq != int64(i) || ids[ev.ID] {
			t.Errorf("event %d has seq %d and id %s", i, ev.Seq, ev.ID)
		}
		ids[ev.ID] = true
		switch event.Type(ev.Type) {
		case event.TurnStartType:
			if open {
				t.Errorf("seq %d: a second turn/start in an open turn", i)
			}
			open = true
		case event.TurnEndType:
			if !open || len(owed) > 0 {
				t.Errorf("seq %d: turn/end with open=%v and calls owed %v", i, open, owed)
			}
			open = false
		case event.StepStartType:
			text = ""
		case event.AssistantChunkType:
			var p event.AssistantChunk
			mustUnmarshal(t, ev.Payload, &p)
			if p.Text == "" {
				t.Errorf("seq %d: an empty chunk", i)
			}
			text += p.Text
		case event.AssistantMessageType:
			var p event.AssistantMessage
			mustUnmarshal(t, ev.Payload, &p)
			said := ""
			for _, part := range p.Parts {
				said += part.Text
				if part.Type == event.PartToolCall {
					if owed[part.ID] {
						t.Errorf("seq %d: call id %s twice", i, part.ID)
					}
					owed[part.ID] = true
				}
			}
			if said != text {
				t.Errorf("seq %d: message %q, chunks %q", i, said, text)
			}
		case event.ToolResultType:
			var p event.ToolResult
			mustUnmarshal(t, ev.Payload, &p)
			if !owed[p.ID] {
				t.Errorf("seq %d: a result that no call is owed: %s", i, p.ID)
			}
			delete(owed, p.ID)
		}
	}
}

// checkRequest holds for every request: each call is answered directly, in order.
func checkRequest(t testing.TB, req model.Request) {
	t.Helper()
	var owed []string
	for i, m := range req.Messages {
		if m.Role == model.ToolRole {
			if len(owed) == 0 || owed[0] != m.CallID {
				t.Errorf("message %d answers %s, owed %v", i, m.CallID, owed)
				return
			}
			owed = owed[1:]
			continue
		}
		if len(owed) > 0 {
			t.Errorf("message %d comes before the answers of %v", i, owed)
		}
		for _, c := range m.Calls {
			owed = append(owed, c.ID)
		}
	}
	if len(owed) > 0 {
		t.Errorf("the request ends with unanswered calls %v", owed)
	}
}

func mustUnmarshal(t testing.TB, b []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}
