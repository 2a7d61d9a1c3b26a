package turn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// TestMain fails when a test leaves a goroutine behind.
func TestMain(m *testing.M) {
	code := m.Run()
	deadline := time.Now().Add(5 * time.Second)
	for {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		if !strings.Contains(string(stacks), "hitchpost/") || strings.Count(string(stacks), "hitchpost/turn.TestMain") == strings.Count(string(stacks), "hitchpost/") {
			break
		}
		if time.Now().After(deadline) {
			fmt.Fprintf(os.Stderr, "goroutines left behind:\n%s\n", stacks)
			os.Exit(1)
		}
		runtime.Gosched()
	}
	os.Exit(code)
}

// TestNoBurstOfWakesStartsTwoTurnsOrDropsAText: guarantee 4, and Agent Socket v1,
// inject: no wake is ever dropped.
func TestNoBurstOfWakesStartsTwoTurnsOrDropsAText(t *testing.T) {
	const texts = 20
	w := newWorld(t)
	for range texts {
		w.model.replies = append(w.model.replies, []act{{text: "ok"}})
	}
	var wg sync.WaitGroup
	for i := range texts {
		wg.Go(func() {
			a := w.hold("s1")
			defer a.Release()
			if err := a.Inject(context.Background(), Inject{Text: fmt.Sprintf("text-%d.", i), Wake: true}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	w.idle()
	log := w.log()
	checkInvariants(t, log)
	all := ""
	for _, ev := range log {
		if k := event.Type(ev.Type); k == event.UserMessageType || k == event.ContextInjectedType {
			all += string(ev.Payload)
		}
	}
	for i := range texts {
		if n := strings.Count(all, fmt.Sprintf("text-%d.", i)); n != 1 {
			t.Errorf("text %d is in the log %d times", i, n)
		}
	}
}

// TestACancelThatRacesTheEndClosesOneTurnOrAnswersNotRunning: guarantee 7.
func TestACancelThatRacesTheEndClosesOneTurnOrAnswersNotRunning(t *testing.T) {
	w := newWorld(t)
	for range 100 {
		w.model.replies = append(w.model.replies, []act{{text: "ok"}})
		if err := w.run("wake", "go"); err != nil {
			t.Fatal(err)
		}
		err := w.agent.Cancel(context.Background(), nil)
		if err != nil && !errors.Is(err, ErrNotRunning) {
			t.Fatal(err)
		}
		w.idle()
		end, _, readErr := w.agent.Log().Newest(context.Background(), -1, string(event.TurnEndType))
		if cancelled := strings.Contains(string(end.Payload), string(event.Cancelled)); cancelled != (err == nil) || readErr != nil {
			t.Fatalf("cancel answered %v, the turn ended %s (%v)", err, end.Payload, readErr)
		}
		w.model.mu.Lock()
		w.model.replies = nil
		w.model.mu.Unlock()
	}
	checkInvariants(t, w.log())
}

// TestTheInboxIsBounded: a text beyond the bound is refused by name; a wake of an
// idle agent never meets it.
func TestTheInboxIsBounded(t *testing.T) {
	w := newWorld(t)
	w.cfg.InboxTexts, w.cfg.InboxBytes = 3, 10
	w.host.Reload(w.cfg)
	for _, text := range []string{"1", "2", "345"} {
		if err := w.run("inject", text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.run("inject", "4"); !errors.Is(err, ErrInboxFull) {
		t.Errorf("a fourth text: %v", err)
	}
	w.model.replies = [][]act{{{text: "ok"}}}
	if err := w.run("wake", "this one is longer than ten bytes"); err != nil {
		t.Errorf("a wake of an idle agent: %v", err)
	}
	w.idle()
	if err := w.run("inject", "eleven byte"); !errors.Is(err, ErrInboxFull) {
		t.Errorf("a text over the bytes: %v", err)
	}
}

// TestAnAgentIsPutAwayWhenNobodyNeedsIt: guarantee 9.
func TestAnAgentIsPutAwayWhenNobodyNeedsIt(t *testing.T) {
	w := newWorld(t)
	w.cfg.MaxAgents = 2
	w.host.Reload(w.cfg)
	second := w.hold("s2")
	if _, err := w.host.Hold(context.Background(), "s3", "me"); !errors.Is(err, ErrTooManyAgents) {
		t.Fatalf("a third agent: %v", err)
	}
	if _, err := w.store.Session(context.Background(), "s3"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the refused agent's session: %v", err)
	}
	second.Release()
	w.hold("s3").Release()
}

// TestASessionOfAnotherOwnerIsForeign and is not told from one that is not there.
func TestASessionOfAnotherOwnerIsForeign(t *testing.T) {
	w := newWorld(t)
	if _, err := w.host.Hold(context.Background(), "s1", "somebody else"); !errors.Is(err, ErrForeign) {
		t.Errorf("got %v", err)
	}
}

// TestADrainLetsGoOfAParkedTurnWhenTheLastNeighbourEnds: it waits for no person.
func TestADrainLetsGoOfAParkedTurnWhenTheLastNeighbourEnds(t *testing.T) {
	w := newWorld(t)
	for _, line := range []string{`model call:c1:askpar:{} call:c2:par:{"gate":"g"}`, "wake go", "await g", "parked c1"} {
		verb, rest, _ := strings.Cut(line, " ")
		if err := w.run(verb, rest); err != nil {
			t.Fatal(err)
		}
	}
	drained := make(chan error)
	go func() { drained <- w.host.Drain(time.Minute) }()
	<-w.host.draining
	w.gates.open("g")
	if err := <-drained; err != nil {
		t.Fatal(err)
	}
	w.drained = true
}

// TestADrainLetsARunningStepEndAndBeginsNoOther: deploy under load, spec of reliability.
func TestADrainLetsARunningStepEndAndBeginsNoOther(t *testing.T) {
	w := newWorld(t)
	for _, line := range []string{`model call:c1:fast:{"gate":"g"}`, `model "never asked"`, "wake go", "await g"} {
		verb, rest, _ := strings.Cut(line, " ")
		if err := w.run(verb, rest); err != nil {
			t.Fatal(err)
		}
	}
	drained := make(chan error)
	go func() { drained <- w.host.Drain(time.Minute) }()
	<-w.host.draining
	w.gates.open("g")
	if err := <-drained; err != nil {
		t.Fatal(err)
	}
	w.drained = true
	log := w.log()
	if last := log[len(log)-1]; event.Type(last.Type) != event.StepEndType {
		t.Errorf("the log ends with %s, want the running step's end", last.Type)
	}
	if err := w.run("wake", "too late"); !errors.Is(err, ErrDraining) {
		t.Errorf("a wake after the drain: %v", err)
	}
}
