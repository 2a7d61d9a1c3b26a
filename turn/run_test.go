package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hitchpost/turn/event"
	"hitchpost/turn/redact"
	"hitchpost/turn/tool"
)

// TestOneKeyIsOneRunHoweverOftenItIsAskedForAtOnce: guarantee 16.
func TestOneKeyIsOneRunHoweverOftenItIsAskedForAtOnce(t *testing.T) {
	w := newWorld(t)
	w.play(`model "hello"`)
	ids := make(chan string, 20)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			id, err := w.agent.StartRun(ctx, NewRun{Input: "hi", Key: "k"})
			if err != nil {
				t.Error(err)
			}
			ids <- id
		})
	}
	all.Wait()
	first := <-ids
	for range 19 {
		if id := <-ids; id != first || id != w.runID() {
			t.Errorf("run %s, and %s", id, first)
		}
	}
	w.idle()
	for _, other := range []NewRun{{Input: "ho", Key: "k"}, {Input: "hi", Key: "k", Agent: DefaultAgent}} {
		if _, err := w.agent.StartRun(ctx, other); !errors.Is(err, ErrKeyReused) {
			t.Errorf("%+v = %v, want ErrKeyReused", other, err)
		}
	}
	if n := count(w.log(), event.TurnStartType); n != 1 {
		t.Errorf("%d turns:\n%s", n, render(w.log()))
	}
}

// stubborn gives the agents a tool that ends only when the test says so. Time is
// virtual in its tests: a tool that was told to stop is waited for only so long.
func (w *world) stubborn() (finish func()) {
	end := make(chan struct{})
	tools := testTools(w.t, w.gates, w.ran, tool.Tool{
		Name: "stubborn", Schema: json.RawMessage(`{"type":"object"}`), Approval: tool.Never, Parallel: true,
		Run: func(context.Context, tool.Call) tool.Result {
			w.gates.shut(w.gates.reached, "stubborn")
			<-end
			return tool.Text("at last")
		},
	})
	w.cfg.Tools = func() *tool.Set { return tools }
	w.host.Reload(w.cfg)
	return sync.OnceFunc(func() { close(end) })
}

// superseding starts a run in the place of a parked one whose tool will not stop, and
// returns the answers to come: the second asks with the same key.
func (w *world) superseding() (first, second <-chan started) {
	w.t.Helper()
	w.play(`model call:c1:askpar:{} call:c2:stubborn:{} call:c3:fast:{}
		start old
		parked c1
		await stubborn`)
	ask := func() <-chan started {
		out := make(chan started, 1)
		go func() {
			id, err := w.agent.StartRun(ctx, NewRun{Input: "new", Key: "k"})
			out <- started{id, err}
		}()
		return out
	}
	first = ask()
	w.within(func(a *Agent) bool { return a.next != nil })
	second = ask()
	w.within(func(a *Agent) bool { return len(a.next.waiting) == 2 })
	return first, second
}

// TestARunThatSupersedesBeginsWhenTheOldOneHasEnded and answers then, all who asked with
// its key; whoever else wants the session, or wants the old run to stop, changes nothing.
func TestARunThatSupersedesBeginsWhenTheOldOneHasEnded(t *testing.T) {
	synctest.Test(t, aRunThatSupersedesBeginsWhenTheOldOneHasEnded)
}

func aRunThatSupersedesBeginsWhenTheOldOneHasEnded(t *testing.T) {
	w := newWorld(t)
	finish := w.stubborn()
	defer finish()
	first, second := w.superseding()
	old := w.runID()
	if _, err := w.agent.StartRun(ctx, NewRun{Input: "third"}); !errors.Is(err, ErrTurnOpen) {
		t.Errorf("a third run = %v, want ErrTurnOpen", err)
	}
	if _, err := w.agent.StartRun(ctx, NewRun{Input: "other", Key: "k"}); !errors.Is(err, ErrKeyReused) {
		t.Errorf("the key with another input = %v, want ErrKeyReused", err)
	}
	reason := "enough"
	if err := w.agent.StopRun(ctx, old, Stop{Reason: &reason, Mode: Graceful}); err != nil {
		t.Error(err)
	}
	w.play("status stopping")
	w.play(`model "hello"`)
	finish()
	a, b := <-first, <-second
	if a.err != nil || a != b || a.id != w.runID() || a.id == old {
		t.Errorf("answers %+v and %+v, the run is %s", a, b, w.runID())
	}
	w.until(Idle)
	log := w.log()
	checkInvariants(t, log)
	if w.ran.of("c3") > 0 {
		t.Error("a call ran that a stop had kept from running")
	}
	if text := render(log); !strings.Contains(text, `turn/end {"status":"cancelled","reason":"enough","cause":"superseded"}`) ||
		strings.Count(text, `"new"`) != 1 {
		t.Errorf("log:\n%s", text)
	}
}

// TestWhoAskedForARunThatSupersedesFindsInLiveThatItRuns, and not that it stops: that was
// the old one.
func TestWhoAskedForARunThatSupersedesFindsInLiveThatItRuns(t *testing.T) {
	synctest.Test(t, whoAskedForARunThatSupersedesFindsInLiveThatItRuns)
}

func whoAskedForARunThatSupersedesFindsInLiveThatItRuns(t *testing.T) {
	w := newWorld(t)
	finish := w.stubborn()
	defer finish()
	first, second := w.superseding()
	old := w.runID()
	told, goOn := make(chan struct{}), make(chan struct{})
	stop := w.host.Watch(func(c Change) {
		for _, ev := range c.Events {
			if event.Type(ev.Type) == event.TurnStartType && ev.ID != old {
				close(told)
				<-goOn
			}
		}
	})
	defer stop()
	w.play("model @g")
	finish()
	<-told
	synctest.Wait()
	if len(first)+len(second) > 0 {
		t.Error("it was answered before the watchers, and Live, told of it")
	}
	close(goOn)
	if a, b := <-first, <-second; a.err != nil || b.err != nil || a.id == old {
		t.Errorf("answers %+v and %+v", a, b)
	}
	if live := w.host.Live("s1"); live != (Liveness{Running: true}) {
		t.Errorf("live %+v", live)
	}
	w.play("await g\nopen g\nended")
}

// TestARunBeginsBehindATurnThatAProcessDiedStopping: that one ends cancelled, and the
// input is not lost to it.
func TestARunBeginsBehindATurnThatAProcessDiedStopping(t *testing.T) {
	w := newWorld(t)
	w.play(`model call:c1:ask:{}
		start old
		parked c1
		cancel enough
		ended`)
	log := w.log()
	for i, ev := range log {
		if event.Type(ev.Type) == event.ApprovalResolvedType {
			log = log[:i+1]
			break
		}
	}
	w.put("cut", log)
	w.agent.Release()
	w.agent = w.hold("cut")
	old := w.runID()
	w.model.add("", []act{{text: "hello"}})
	run, err := w.agent.StartRun(ctx, NewRun{Input: "new"})
	if err != nil || run == old {
		t.Fatalf("run %s %v, the old one is %s", run, err, old)
	}
	w.until(Idle)
	if text := render(w.log()); !strings.Contains(text, `{"status":"cancelled","reason":"enough"}`) || !strings.Contains(text, `user/message {"text":"new"`) {
		t.Errorf("log:\n%s", text)
	}
}

// TestARunThatWaitsIsRefusedByAShutdown and nothing of it is kept.
func TestARunThatWaitsIsRefusedByAShutdown(t *testing.T) {
	synctest.Test(t, aRunThatWaitsIsRefusedByAShutdown)
}

func aRunThatWaitsIsRefusedByAShutdown(t *testing.T) {
	w := newWorld(t)
	finish := w.stubborn()
	defer finish()
	first, second := w.superseding()
	drained := make(chan error)
	go func() { drained <- w.host.Drain(time.Minute) }()
	<-w.host.draining
	finish()
	if a, b := <-first, <-second; !errors.Is(a.err, ErrDraining) || !errors.Is(b.err, ErrDraining) {
		t.Errorf("answers %+v and %+v, want ErrDraining", a, b)
	}
	if err := <-drained; err != nil {
		t.Fatal(err)
	}
	w.drained = true
	w.restart()
	if text := render(w.log()); strings.Contains(text, "new") {
		t.Errorf("log:\n%s", text)
	}
	w.play("model \"hello\"\nstart-key k other\nended") // the key is still free
	if text := render(w.log()); !strings.Contains(text, `"cause":"superseded"`) {
		t.Errorf("the old turn did not end superseded:\n%s", text)
	}
}

// TestARunWhoseAppendFailsIsRefusedAndItsKeyIsFree: guarantee 2.
func TestARunWhoseAppendFailsIsRefusedAndItsKeyIsFree(t *testing.T) {
	w := newWorld(t)
	d := w.onDisk()
	d.fail(0, 1)
	var failed *AppendError
	if err := w.run("start-key", "k hi"); !errors.As(err, &failed) {
		t.Errorf("run = %v, want an *AppendError", err)
	}
	w.play(`model "hello"
		start-key k ho
		ended`)
	if log := render(w.log()); strings.Contains(log, `"hi"`) || strings.Count(log, "turn/start") != 1 {
		t.Errorf("log:\n%s", log)
	}
}

// TestARunThatSupersedesIsRefusedWhenItsAppendFails although the old turn was stopped.
func TestARunThatSupersedesIsRefusedWhenItsAppendFails(t *testing.T) {
	w := newWorld(t)
	w.play(`model call:c1:askpar:{} call:c2:par:{"gate":"g"}
		start old
		parked c1
		await g`)
	d := w.onDisk()
	d.fail(0, 1)
	var failed *AppendError
	if err := w.run("start", "new"); !errors.As(err, &failed) {
		t.Errorf("run = %v, want an *AppendError", err)
	}
	w.play(`model "hello"
		start again
		ended`)
	if log := render(w.log()); strings.Contains(log, `"new"`) {
		t.Errorf("log:\n%s", log)
	}
}

// TestARunsSecretIsMaskedInItsTextAndItsKeyComesAgain: guarantee 15 holds at this door, too.
func TestARunsSecretIsMaskedInItsTextAndItsKeyComesAgain(t *testing.T) {
	w := newWorld(t)
	w.cfg.Redact = redact.New([]string{"hunter2-hunter2"}, nil)
	w.host.Reload(w.cfg)
	w.play(`model "hello"
		start-key k it is hunter2-hunter2
		idle
		start-key k it is hunter2-hunter2`)
	if log := render(w.log()); strings.Contains(log, "hunter2") || strings.Count(log, "turn/start") != 1 {
		t.Errorf("log:\n%s", log)
	}
}

// TestEveryTurnEndsOnceWhoeverRacesForIt: a stop of the run against its end, a verdict
// and a run that takes its place, 1,000 times. Guarantee 7.
func TestEveryTurnEndsOnceWhoeverRacesForIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	modes := []StopMode{Cooperative, Abort, Graceful}
	for round := range rounds(t, 1000) {
		w.agent.Release()
		w.agent = w.hold(fmt.Sprintf("ends-%d", round))
		parks := round%2 == 0
		first := fmt.Sprintf(`"done %d"`, round)
		if parks {
			first = fmt.Sprintf(`call:c-%d:ask:{}`, round)
		}
		w.play(fmt.Sprintf("model-of go-%[1]d %[2]s\nmodel-of go-%[1]d \"done\"\nmodel-of go-%[1]d \"and new\"", round, first))
		run, err := w.agent.StartRun(ctx, NewRun{Input: fmt.Sprintf("go-%d", round)})
		if err != nil {
			t.Fatal(err)
		}
		if parks {
			w.parked([]string{fmt.Sprintf("c-%d", round)})
		}
		stop := func() error { return w.agent.StopRun(ctx, run, Stop{Mode: modes[round%len(modes)]}) }
		racers := []func() error{stop, stop, func() error {
			_, err := w.agent.StartRun(ctx, NewRun{Input: "new"})
			return err
		}}
		if parks {
			racers = append(racers, func() error {
				return w.agent.Decide(ctx, Verdict{CallID: fmt.Sprintf("c-%d", round), RunID: run, Approve: round%4 == 0})
			})
		}
		race(t, racers)
		w.until(Idle)
		log := w.log()
		checkInvariants(t, log)
		if starts, ends := count(log, event.TurnStartType), count(log, event.TurnEndType); starts != ends || starts > 2 {
			t.Fatalf("round %d: %d turns, %d ends:\n%s", round, starts, ends, render(log))
		}
	}
}

// race lets all of them go at once. Each may lose, by name.
func race(t *testing.T, racers []func() error) {
	t.Helper()
	start := make(chan struct{})
	var all sync.WaitGroup
	for _, racer := range racers {
		all.Go(func() {
			<-start
			err := racer()
			for _, lost := range []error{ErrNotRunning, ErrStaleCall, ErrTurnOpen} {
				if errors.Is(err, lost) {
					return
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	all.Wait()
}
