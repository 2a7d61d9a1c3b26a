package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// events returns the types of the events of a session that were heard of since the last
// time, and "deleted".
func (c *changes) events(session string) (types []string) {
	for word := range strings.FieldsSeq(c.take(session)) {
		if strings.Contains(word, "/") || word == "deleted" {
			types = append(types, word)
		}
	}
	return types
}

// refusesAll tries every command on an agent that is held.
func refusesAll(t *testing.T, a *Agent) {
	t.Helper()
	ctx := context.Background()
	for name, command := range map[string]func() error{
		"inject":  func() error { return a.Inject(ctx, Inject{Text: "hi", Wake: true}) },
		"pin":     func() error { return a.Amend(ctx, nil, new(true)) },
		"cancel":  func() error { return a.Cancel(ctx, nil) },
		"run":     func() error { _, err := a.StartRun(ctx, NewRun{Input: "hi"}); return err },
		"branch":  func() error { _, _, err := a.Branch(ctx, "ffffffffffffffff", false); return err },
		"compact": func() error { _, err := a.Compact(ctx); return err },
		"policy":  func() error { return a.SetPolicy(ctx, nil, "") },
		"state":   func() error { _, err := a.State(ctx); return err },
	} {
		if err := command(); !errors.Is(err, ErrForeign) {
			t.Errorf("%s on a deleted session: %v, want ErrForeign", name, err)
		}
	}
}

// isGone checks that nothing brings a deleted session back, now or after a restart.
func (w *world) isGone(id string) {
	w.t.Helper()
	ctx := context.Background()
	if _, err := w.store.Session(ctx, id); !errors.Is(err, store.ErrDeleted) {
		w.t.Errorf("the session: %v, want ErrDeleted", err)
	}
	if _, err := w.host.Hold(ctx, id, "me"); !errors.Is(err, ErrForeign) {
		w.t.Errorf("hold: %v, want ErrForeign", err)
	}
	if _, err := w.host.Fork(ctx, "s1", ForkPoint{}, id); !errors.Is(err, store.ErrDeleted) {
		w.t.Errorf("a fork to its id: %v, want ErrDeleted", err)
	}
	if _, err := w.host.Fork(ctx, id, ForkPoint{}, "of-a-deleted-one"); !errors.Is(err, store.ErrDeleted) {
		w.t.Errorf("a fork of it: %v, want ErrDeleted", err)
	}
	if err := w.host.Delete(ctx, id); !errors.Is(err, store.ErrDeleted) {
		w.t.Errorf("a second deletion: %v, want ErrDeleted", err)
	}
}

// guarantee 22: whatever the session is at, its turn ends and its tools are killed before
// it is gone, and nobody brings it back.
func TestADeletionEndsTheOpenTurnFirstWhateverItIsAt(t *testing.T) {
	for name, script := range map[string]string{
		"idle": `model "hi"
			wake go
			idle`,
		"running": `model call:p1:par:{"gate":"g"} call:o1:once:{}
			wake go
			await g
			inject and this`,
		"streaming": `model "half" @g
			wake go
			await g`,
		"parked": `model call:q1:askpar:{} call:p1:par:{"gate":"g"} call:a1:ask:{}
			wake go
			await g
			parked q1`,
		"stopping": `model call:p1:par:{"gate":"g"}
			wake go
			await g
			cancel enough`,
		"waking text": `model "half" @g
			wake go
			await g
			wake more`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			other := w.agent
			w.agent = w.hold("s2")
			told := w.watch()
			w.play(script)
			if err := w.host.Delete(context.Background(), "s2"); err != nil {
				t.Fatal(err)
			}
			seen := told.events("s2")
			if n := len(seen); n < 2 || seen[n-1] != "deleted" || seen[n-2] != string(event.TurnEndType) && seen[n-2] != string(event.SessionTitledType) {
				t.Errorf("the watchers were told %q", seen)
			}
			if w.host.Live("s2") != (Liveness{}) {
				t.Errorf("it lives on: %+v", w.host.Live("s2"))
			}
			refusesAll(t, w.agent)
			w.isGone("s2")
			w.agent.Release()
			w.host.wg.Wait() // a model's request that was cut ends beside
			if n := len(w.host.held()); n != 1 {
				t.Errorf("%d agents in memory, want s1's alone", n)
			}
			w.agent = other
			w.restart()
			w.isGone("s2")
			if w.ran.of("o1")+w.ran.of("a1")+w.ran.of("q1") > 0 {
				t.Error("a call ran behind the deletion")
			}
		})
	}
}

// guarantee 22: a turn that a crash left open is ended too, though nobody runs it.
func TestAResumableTurnIsEndedByItsDeletion(t *testing.T) {
	w := newWorld(t)
	w.agent.Release()
	w.agent = w.hold("s2")
	w.play(`model call:o1:once:{"gate":"g"}
		wake go
		await g`)
	w.agent.Release()
	w.agent = w.hold("s1")
	w.restart()
	told := w.watch()
	if err := w.host.Delete(context.Background(), "s2"); err != nil {
		t.Fatal(err)
	}
	if seen, want := fmt.Sprint(told.events("s2")), "[tool/result step/end turn/end deleted]"; seen != want {
		t.Errorf("the watchers were told %s, want %s", seen, want)
	}
	w.isGone("s2")
}

// guarantee 22: of texts, connections, forks and deletions that come at the same time each
// was before it or is refused.
func TestNoRaceBringsADeletedSessionBack(t *testing.T) {
	for range 20 {
		w := newWorld(t)
		for range 200 {
			w.model.add("", []act{{text: "ok"}})
		}
		ctx := context.Background()
		var all sync.WaitGroup
		deleted := make(chan error, 3)
		for i := range 8 {
			all.Go(func() {
				for n := range 10 {
					a, err := w.host.Hold(ctx, "s2", "me")
					if err == nil {
						err = a.Inject(ctx, Inject{Text: fmt.Sprintf("text %d of %d", n, i), Wake: n%2 == 0})
						a.Release()
					}
					if err != nil && !errors.Is(err, ErrForeign) {
						t.Error(err)
					}
				}
			})
		}
		for range 3 {
			all.Go(func() {
				for {
					err := w.host.Delete(ctx, "s2")
					if errors.Is(err, store.ErrNotFound) {
						continue // it was not there yet
					}
					deleted <- err
					return
				}
			})
		}
		all.Wait()
		close(deleted)
		done := 0
		for err := range deleted {
			switch {
			case err == nil:
				done++
			case !errors.Is(err, ErrForeign) && !errors.Is(err, store.ErrDeleted):
				t.Error(err)
			}
		}
		if done != 1 {
			t.Errorf("%d deletions succeeded, want 1", done)
		}
		w.isGone("s2")
	}
}

// guarantee 14: a subagent is stopped with its caller, and its session stays.
func TestASubagentsSessionOutlivesItsCallers(t *testing.T) {
	w := newWorld(t)
	other := w.agent
	w.agent = w.hold("s2")
	w.play(`model call:t1:Task:{"description":"d","prompt":"the_task"}`)
	w.model.add("the_task", []act{{text: "half"}, {gate: "g"}})
	w.play(`wake go
		await g`)
	if err := w.host.Delete(context.Background(), "s2"); err != nil {
		t.Fatal(err)
	}
	w.agent.Release()
	w.agent = other
	sessions, err := w.store.Sessions(context.Background())
	if err != nil || len(sessions) != 2 {
		t.Fatalf("%d sessions, %v; want s1 and the subagent's", len(sessions), err)
	}
	child := w.hold(sessions[1].ID)
	defer child.Release()
	log := wholeLog(t, child.Log())
	checkInvariants(t, log)
	if isOpen(log) {
		t.Errorf("the subagent goes on:\n%s", render(log))
	}
}

// A deleted subagent is an error for the call that waits for it, and no more.
func TestACallersTurnGoesOnWhenItsSubagentIsDeleted(t *testing.T) {
	w := newWorld(t)
	w.model.add("the_task", []act{{text: "half"}, {gate: "g"}})
	w.play(`model call:t1:Task:{"description":"d","prompt":"the_task"}
		model "never mind"
		wake go
		await g`)
	sessions, err := w.store.Sessions(context.Background())
	if err != nil || len(sessions) != 2 {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	if err := w.host.Delete(context.Background(), sessions[1].ID); err != nil {
		t.Fatal(err)
	}
	w.idle()
	log := w.log()
	checkInvariants(t, log)
	if last := log[len(log)-1]; isOpen(log) {
		t.Errorf("the turn ended with %s:\n%s", last.Payload, render(log))
	}
}

// Nobody waits for ever for what the deletion has cut.
func TestADeletionAnswersWhoeverWaits(t *testing.T) {
	w := newWorld(t)
	w.define(func(d *Definition) { d.Models[RoleCompactor] = "demo/short" })
	ctx := context.Background()
	other := w.agent
	w.agent = w.hold("s2")
	w.batches(1)
	w.model.add("short", []act{{gate: "g"}})
	got := make(chan error, 1)
	go func() {
		_, err := w.agent.Compact(ctx)
		got <- err
	}()
	w.gates.await(t, "g")
	if err := w.host.Delete(ctx, "s2"); err != nil {
		t.Fatal(err)
	}
	if err := <-got; !errors.Is(err, ErrForeign) {
		t.Errorf("the compaction came to %v, want ErrForeign", err)
	}
	w.agent.Release()

	w.agent = w.hold("s3") // a run that supersedes a parked one waits for its tool
	w.play(`model call:q1:askpar:{} call:p1:par:{"gate":"slow"}
		wake go
		await slow
		parked q1`)
	go func() {
		_, err := w.agent.StartRun(ctx, NewRun{Input: "instead"})
		got <- err
	}()
	w.within(func(a *Agent) bool { return a.next != nil || a.st.turn == nil })
	deleted := w.host.Delete(ctx, "s3")
	if err := <-got; deleted != nil || err != nil && !errors.Is(err, ErrForeign) {
		t.Errorf("the run came to %v, the deletion to %v", err, deleted)
	}
	w.agent.Release()
	w.agent = other
}

// A deletion has begun, and the turn ends before it is told to.
func TestARunThatWaitsWhenItsSessionIsDeletedIsToldThatThereIsNone(t *testing.T) {
	w := newWorld(t)
	w.play(`model call:q1:askpar:{} call:p1:par:{"gate":"slow"}
		wake go
		await slow
		parked q1`)
	done := make(chan started, 1)
	err := w.agent.do(context.Background(), func() error {
		err := w.agent.startRun(context.Background(), NewRun{Input: "instead"}, done)
		w.agent.closed.Store(true)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if run := <-done; !errors.Is(run.err, ErrForeign) {
		t.Errorf("the run came to %v, want ErrForeign", run.err)
	}
	w.agent.closed.Store(false)
}

func TestADeletionOfNoSessionIsRefused(t *testing.T) {
	w := newWorld(t)
	if err := w.host.Delete(context.Background(), "nope"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%v, want ErrNotFound", err)
	}
}

// guarantee 22: the file is locked by another program for longer than SQLite waits.
func TestADeletionThatFailsLeavesTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.play(`model "a1"
		wake q1
		idle`)
	unlock := lockFile(t, w.path)
	if err := w.host.Delete(context.Background(), "s1"); err == nil {
		t.Error("a deletion that cannot be written succeeded")
	}
	unlock()
	w.play(`model "a2"
		wake q2
		idle`)
	w.sees("q1", "a1", "q2")
}

// guarantee 22: whoever asked for it may go away.
func TestADeletionGoesOnWhenNobodyWaitsForIt(t *testing.T) {
	w := newWorld(t)
	other := w.agent
	w.agent = w.hold("s2")
	w.play(`model "half" @g
		wake go
		await g`)
	ctx, leave := context.WithCancel(context.Background())
	under, goOn, gone := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var once sync.Once
	stop := w.host.Watch(func(c Change) {
		once.Do(func() { close(under); <-goOn })
		if c.Deleted {
			close(gone)
		}
	})
	defer stop()
	got := make(chan error, 1)
	go func() { got <- w.host.Delete(ctx, "s2") }()
	<-under
	leave()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("the deletion came to %v", err)
	}
	close(goOn)
	<-gone
	w.agent.Release()
	w.agent = other
	w.isGone("s2")
}
