package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// fork makes a session of a part of s1 and returns its agent, held, and its log.
func (w *world) fork(at ForkPoint, id string) (*Agent, []store.Event) {
	w.t.Helper()
	x, err := w.host.Fork(context.Background(), "s1", at, id)
	if err != nil {
		w.t.Fatal(err)
	}
	a := w.hold(x.ID)
	w.t.Cleanup(a.Release)
	return a, wholeLog(w.t, a.Log())
}

// streamed waits until the log holds that many streamed pieces.
func (w *world) streamed(n int) {
	w.t.Helper()
	w.wait(func(State) bool {
		tip, _ := w.agent.Log().Tip()
		pieces, err := w.agent.Log().Streamed(context.Background(), 0, tip)
		return err == nil && len(pieces) >= n
	})
}

// busy is a turn with parallel calls, approvals both ways and a second step.
const busy = `model "let me see" call:p1:par:{} call:p2:par:{} call:o1:once:{} call:q1:askpar:{} call:q2:askpar:{}
	model "and " call:a1:ask:{}
	model "all done"
	model "next"
	wake go
	parked q1 q2
	deny q2 no
	approve q1
	parked a1
	approve a1
	idle
	wake more
	idle`

// guarantee 21: whatever entry a session is forked at, the fork's next request is whole,
// holds the entries up to there and nothing else, and no tool runs again.
func TestAForkAtAnyEntryGoesOnFromThereAndRunsNothingAgain(t *testing.T) {
	w := newWorld(t)
	w.play(busy)
	source := w.log()
	ran := [...]string{"p1", "p2", "o1", "q1", "q2", "a1"}
	var times [len(ran)]int
	for i, c := range ran {
		times[i] = w.ran.of(c)
	}
	for i, ev := range source {
		if !event.MakesEntry(event.Type(ev.Type), ev.Payload) {
			continue
		}
		for _, exclusive := range []bool{false, true} {
			w.checkFork(source, ForkPoint{Entry: ev.ID, Exclusive: exclusive}, fmt.Sprintf("fork-%d-%v", i, exclusive))
		}
	}
	for i, c := range ran {
		if n := w.ran.of(c); n != times[i] {
			t.Errorf("%s ran %d times, in the source %d times", c, n, times[i])
		}
	}
	if diff := cmp.Diff(render(source), render(w.log())); diff != "" {
		t.Errorf("the source has changed:\n%s", diff)
	}
}

// checkFork forks, compares what was copied, and lets a turn run on the fork.
func (w *world) checkFork(source []store.Event, at ForkPoint, id string) {
	w.t.Helper()
	t := w.t
	a, log := w.fork(at, id)
	mark := nth(t, log, event.SessionForkedType, 1)
	var forked event.SessionForked
	mustUnmarshal(t, mark.Payload, &forked)
	if forked.From != "s1" || forked.Boundary != mark.Seq {
		t.Errorf("%s: %s at seq %d", id, mark.Payload, mark.Seq)
	}
	for i, ev := range log[:mark.Seq] {
		if s := source[i]; ev.ID != s.ID || ev.Seq != s.Seq || ev.Type != s.Type || string(ev.Payload) != string(s.Payload) {
			t.Errorf("%s: seq %d is a copy of %s %s, want %s %s", id, i, ev.Type, ev.Payload, s.Type, s.Payload)
		}
	}
	if at.Entry != "" {
		copied := slices.IndexFunc(log[:mark.Seq], func(ev store.Event) bool { return ev.ID == at.Entry })
		if at.Exclusive != (copied < 0) {
			t.Errorf("%s: the entry stands at %d of the copied events", id, copied)
		}
		for _, ev := range log[copied+1 : mark.Seq] {
			if !at.Exclusive && event.MakesEntry(event.Type(ev.Type), ev.Payload) {
				t.Errorf("%s: an entry of behind the fork's point was copied: %s %s", id, ev.Type, ev.Payload)
			}
		}
	}
	checkInvariants(t, log)
	w.checkDigest(id)
	if isOpen(log) {
		t.Errorf("%s: the fork has an open turn:\n%s", id, render(log))
	}
	before := len(w.model.asked())
	w.model.add("", []act{{text: "went on"}})
	w.says(a, "status?")
	asked := w.model.asked()[before:]
	if len(asked) != 1 {
		t.Fatalf("%s: %d requests, want 1", id, len(asked))
	}
	checkRequest(t, asked[0])
	want := append(independent(t, log, -1), model.Message{Role: model.User, Text: "status?"})
	if diff := cmp.Diff(callIDs(want), callIDs(asked[0].Messages)); diff != "" {
		t.Errorf("%s: the request is not what was copied and closed (-want +got):\n%s", id, diff)
	}
	checkInvariants(t, wholeLog(t, a.Log()))
}

// checkDigest compares the stored digest of a session with what its log says.
func (w *world) checkDigest(id string) {
	w.t.Helper()
	ctx := context.Background()
	x, err := w.store.Session(ctx, id)
	if err != nil || x.Digest == nil {
		w.t.Fatalf("%s: no digest, %v", id, err)
	}
	stored, err := ReadDigest(ctx, w.store, x)
	if err != nil {
		w.t.Fatal(err)
	}
	x.Digest = nil
	folded, err := ReadDigest(ctx, w.store, x)
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := cmp.Diff(folded, stored); diff != "" {
		w.t.Errorf("%s: the digest (-folded +stored):\n%s", id, diff)
	}
}

// TestAForkOfAForkTellsItsOwnSource: the mark of the first fork stands in the copied prefix.
func TestAForkOfAForkTellsItsOwnSource(t *testing.T) {
	w := newWorld(t)
	w.play(`model "one" "two"
		start hi
		ended`)
	a, _ := w.fork(ForkPoint{}, "first")
	if _, err := w.host.Fork(context.Background(), "first", ForkPoint{}, "second"); err != nil {
		t.Fatal(err)
	}
	w.says(a, "and on")
	for id, from := range map[string]string{"s1": "", "first": "s1", "second": "first"} {
		x, err := w.store.Session(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, stored := range []bool{true, false} {
			if !stored {
				x.Digest = nil
			}
			d, err := ReadDigest(context.Background(), w.store, x)
			if err != nil || d.ForkedFrom != from {
				t.Errorf("%s (stored: %v) was forked from %q, want %q, %v", id, stored, d.ForkedFrom, from, err)
			}
		}
	}
}

// says wakes an agent and waits for the end of its turn.
func (w *world) says(a *Agent, text string) {
	w.t.Helper()
	other := *w
	other.agent = a
	if err := a.Inject(context.Background(), Inject{Text: text, Wake: true}); err != nil {
		w.t.Fatal(err)
	}
	other.until(Idle)
}

// callIDs tells messages apart by who speaks, what a person or the model says, and what
// call is asked for or answered.
func callIDs(messages []model.Message) (out []string) {
	for _, m := range messages {
		line := fmt.Sprintf("%v %s", m.Role, m.CallID)
		if m.Role != model.ToolRole {
			line += m.Text
		}
		for _, c := range m.Calls {
			line += " " + c.ID
		}
		out = append(out, line)
	}
	return out
}

// guarantee 21: so of a session whose turn is open, parked or streaming, which goes on
// undisturbed.
func TestAnOpenTurnIsForkedAtAnyEntryAndGoesOnUndisturbed(t *testing.T) {
	for name, script := range map[string]string{
		"parked": `model "let me see" call:p1:par:{} call:o1:once:{} call:q1:askpar:{} call:q2:askpar:{} call:f1:fast:{}
			wake go
			parked q1 q2`,
		"running": `model "let me see" call:p1:par:{} call:o1:once:{"gate":"g"} call:f1:fast:{}
			wake go
			await g`,
		"streaming": `model "let me see" call:p1:par:{}
			model ~"hmm" "half of it" @g
			wake go
			await g`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.play(script)
			if name == "streaming" {
				w.streamed(3)
			}
			source := w.log()
			w.checkFork(source, ForkPoint{}, "whole")
			for i, ev := range source {
				if event.MakesEntry(event.Type(ev.Type), ev.Payload) {
					w.checkFork(source, ForkPoint{Entry: ev.ID}, fmt.Sprintf("fork-%d", i))
				}
			}
			if n := w.ran.of("o1"); n > 1 || w.ran.of("f1") > 0 || w.ran.of("p1") > 1 {
				t.Errorf("a call ran again, o1 %d times", n)
			}
			if log := w.log(); !isOpen(log) || len(log) != len(source) {
				t.Errorf("the source was disturbed:\n%s", render(log))
			}
		})
	}
}

// guarantee 21: what was streamed is kept as an entry, a call that may run in the source
// has an error for a result, and the turn is cancelled with its cause.
func TestAForkOfAnOpenTurnIsClosedInOneAppend(t *testing.T) {
	w := newWorld(t)
	w.play(`model "let me see" call:p1:par:{} call:a1:ask:{} call:f1:fast:{}
		wake go
		parked a1`)
	_, log := w.fork(ForkPoint{}, "parked")
	mark := nth(t, log, event.SessionForkedType, 1)
	want := fmt.Sprintf(`session/forked {"from":"s1","boundary":%d}
tool/result {"id":"a1","content":null,"error":"%[2]s","cause":"forked"}
tool/call {"id":"f1","name":"fast","args":{}}
tool/result {"id":"f1","content":null,"error":"%[2]s","cause":"forked"}
step/end {"n":1}
turn/end {"status":"cancelled","cause":"forked"}
`, mark.Seq, errForked)
	if diff := cmp.Diff(want, render(log[mark.Seq:])); diff != "" {
		t.Errorf("behind the copied events (-want +got):\n%s", diff)
	}

	w.play(`model ~"hmm" "half" @g
		deny a1 no
		await g`)
	w.streamed(3)
	_, log = w.fork(ForkPoint{}, "streaming")
	mark = nth(t, log, event.SessionForkedType, 1)
	want = fmt.Sprintf(`session/forked {"from":"s1","boundary":%d}
assistant/interrupted {"text":"hmm","field":"reasoning"}
assistant/interrupted {"text":"half"}
step/end {"n":2}
turn/end {"status":"cancelled","cause":"forked"}
`, mark.Seq)
	if diff := cmp.Diff(want, render(log[mark.Seq:])); diff != "" {
		t.Errorf("behind the copied events (-want +got):\n%s", diff)
	}
}

// A turn that had nothing more to say is not cut: its end goes along, its cancelled one
// does not come.
func TestAForkAtTheLastAnswerOfATurnHasItsEndAndNoOther(t *testing.T) {
	w := newWorld(t)
	w.play(busy)
	source := w.log()
	for _, answer := range []int{3, 4} {
		x := ForkPoint{Entry: nth(t, source, event.AssistantMessageType, answer).ID}
		_, log := w.fork(x, fmt.Sprintf("answer-%d", answer))
		if last := log[len(log)-1]; event.Type(last.Type) != event.SessionForkedType {
			t.Errorf("behind the mark stands %s %s", last.Type, last.Payload)
		}
	}
	_, log := w.fork(ForkPoint{Entry: nth(t, source, event.UserMessageType, 2).ID, Exclusive: true}, "before-question")
	if turns, ended := count(log, event.TurnStartType), count(log, event.TurnEndType); turns != 1 || ended != 1 {
		t.Errorf("up to before the second question there are %d turns, %d ended", turns, ended)
	}
}

// guarantee 21: its policy, models, title, leaf and owner are those of that place in the log.
func TestTheStateOfAForkIsThatOfThePrefix(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	w.play(`model "a1"
		policy Read
		set_model main demo/two
		wake q1
		idle
		logged session/titled`)
	a1 := nth(t, w.log(), event.AssistantMessageType, 1).ID
	w.play(`model "a2"
		wake q2
		idle
		policy *
		set_model main demo/three
		inject waits`)
	w.branch(a1, false)

	early, _ := w.fork(ForkPoint{Entry: a1}, "early")
	late, _ := w.fork(ForkPoint{}, "late")
	for a, want := range map[*Agent]string{early: "[Read] demo/two 0", late: "[*] demo/three 0"} {
		var got string
		if err := a.do(ctx, func() error {
			got = fmt.Sprintf("%v %s %d", a.st.policy, a.st.models[RoleMain], len(a.st.inbox))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		x, err := w.store.Session(ctx, a.id)
		if err != nil || got != want || x.Title != "q1" || x.Owner != "me" || x.Agent != DefaultAgent {
			t.Errorf("%s: %s, want %s; row %+v, %v", a.id, got, want, x, err)
		}
	}
	w.model.add("", []act{{text: "on"}})
	w.says(late, "then")
	w.sees("q1", "a1", "then") // its leaf was moved there

	first := nth(t, w.log(), event.UserMessageType, 1).ID
	none, log := w.fork(ForkPoint{Entry: first, Exclusive: true}, "none")
	if x, err := w.store.Session(ctx, none.id); err != nil || x.Title != "" || count(log, event.TurnStartType) != 0 {
		t.Errorf("before the first message: row %+v, log\n%s", x, render(log))
	}
}

// Whoever finds a fork has been told of it.
func TestTheWatchersHearOfAForkOnceItIsWhole(t *testing.T) {
	w := newWorld(t)
	w.play(`model "a1"
		wake q1
		idle`)
	var told []Change
	stop := w.host.Watch(func(c Change) { told = append(told, c) })
	w.fork(ForkPoint{}, "fork")
	stop()
	want := []Change{{Session: "fork", Owner: "me", Created: true}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func TestAForkIsRefusedByNameAndLeavesNothing(t *testing.T) {
	w := newWorld(t)
	w.play(`model "a1"
		wake q1
		idle`)
	ctx := context.Background()
	turnStart := nth(t, w.log(), event.TurnStartType, 1).ID
	for name, c := range map[string]struct {
		source string
		at     ForkPoint
		id     string
		want   error
	}{
		"no such session":   {"nope", ForkPoint{}, "x", store.ErrNotFound},
		"no such entry":     {"s1", ForkPoint{Entry: "ffffffffffffffff"}, "x", ErrNoEntry},
		"no entry":          {"s1", ForkPoint{Entry: turnStart}, "x", ErrNoEntry},
		"its id is taken":   {"s1", ForkPoint{}, "s1", store.ErrExists},
		"its id is no good": {"s1", ForkPoint{}, "\xff", store.ErrInvalid},
	} {
		if _, err := w.host.Fork(ctx, c.source, c.at, c.id); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := w.store.Session(ctx, "x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a refused fork left a session: %v", err)
	}
	x, err := w.host.Fork(ctx, "s1", ForkPoint{}, "")
	if err != nil || len(x.ID) != 16 || strings.Trim(x.ID, "0123456789abcdef") != "" {
		t.Errorf("the minted id is %q, %v", x.ID, err)
	}
}
