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
	deadline := time.Now().Add(30 * time.Second)
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

// TestA16NoBurstOfWakesStartsTwoTurnsOrDropsAText: guarantee 4, and Agent Socket v1,
// inject: no wake is ever dropped.
func TestA16NoBurstOfWakesStartsTwoTurnsOrDropsAText(t *testing.T) {
	t.Parallel()
	const texts = 20
	w := newWorld(t)
	for range rounds(t, 100) * (texts + 1) {
		w.model.add("", []act{{text: "ok"}})
	}
	for round := range rounds(t, 100) {
		w.agent.Release()
		w.agent = w.hold(fmt.Sprintf("burst-%d", round))
		var wg sync.WaitGroup
		for i := range texts {
			wg.Go(func() {
				a := w.hold(w.agent.id)
				defer a.Release()
				if err := a.Inject(context.Background(), Inject{Text: fmt.Sprintf("text-%d.", i), Wake: true}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() { // waits for no turn and holds up none
			if _, err := w.agent.Compact(context.Background()); err != nil && !errors.Is(err, ErrTurnOpen) {
				t.Error(err)
			}
		})
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
}

// TestOneVerdictWinsWhoeverRaces: approve, deny and cancel from two sides at once. One
// of them decides, the others are told that they did not, and the effect of the call
// is that of the one. Guarantee 10.
func TestOneVerdictWinsWhoeverRaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	races := [][2][]string{
		{{"approve"}, {"deny"}}, {{"approve"}, {"cancel"}}, {{"deny"}, {"cancel"}}, {{"approve"}, {"approve"}},
		{{"approve", "cancel"}, {"deny", "cancel"}}, {{"cancel", "approve"}, {"deny", "approve"}},
	}
	for round := range rounds(t, 500) {
		w.agent.Release()
		w.agent = w.hold(fmt.Sprintf("race-%d", round))
		id := fmt.Sprintf("c-%d", round)
		w.play(fmt.Sprintf("model-of go-%[1]d call:c-%[1]d:ask:{}\nmodel-of go-%[1]d \"done\"\nwake go-%[1]d\nparked c-%[1]d", round))
		accepted := w.race(races[round%len(races)], id)
		w.idle()
		log := w.log()
		checkInvariants(t, log)
		checkVerdicts(t, log, w.ran)
		w.checkWinner(log, id, accepted)
		if t.Failed() {
			t.Fatalf("round %d, accepted %v:\n%s", round, accepted, render(log))
		}
	}
}

// race runs the commands of two sides at once and returns how many of each were accepted.
func (w *world) race(sides [2][]string, id string) map[string]int {
	var all sync.WaitGroup
	var mu sync.Mutex
	accepted := map[string]int{}
	start := make(chan struct{})
	for _, side := range sides {
		all.Go(func() {
			<-start
			for _, verb := range side {
				rest := id
				if verb == "cancel" {
					rest = ""
				}
				err := w.run(verb, rest)
				if err != nil && !errors.Is(err, ErrStaleCall) && !errors.Is(err, ErrNotRunning) {
					w.t.Errorf("%s: %v", verb, err)
				}
				if err == nil {
					mu.Lock()
					accepted[verb]++
					mu.Unlock()
				}
			}
		})
	}
	close(start)
	all.Wait()
	return accepted
}

// checkWinner compares the one verdict of a call with what its senders were told, and
// with what was done.
func (w *world) checkWinner(log []store.Event, id string, accepted map[string]int) {
	w.t.Helper()
	for _, ev := range log {
		if event.Type(ev.Type) != event.ApprovalResolvedType {
			continue
		}
		var p event.ApprovalResolved
		mustUnmarshal(w.t, ev.Payload, &p)
		approved, byCancel := p.Verdict == event.Approved, p.Cause == event.CauseCancelled
		if (accepted["approve"] == 1) != approved || (accepted["deny"] == 1) != (!approved && !byCancel) || byCancel && accepted["cancel"] == 0 {
			w.t.Errorf("verdict %s, cause %q; accepted %v", p.Verdict, p.Cause, accepted)
		}
		if ran := w.ran.of(id); (ran == 1) != approved || ran > 1 {
			w.t.Errorf("verdict %s, and it ran %d times", p.Verdict, ran)
		}
	}
}

// TestACancelThatRacesTheEndClosesOneTurnOrAnswersNotRunning: guarantee 7.
func TestACancelThatRacesTheEndClosesOneTurnOrAnswersNotRunning(t *testing.T) {
	w := newWorld(t)
	for range 100 {
		w.model.add("", []act{{text: "ok"}})
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
	w.cfg.Providers = nil
	w.host.Reload(w.cfg)
	for _, text := range []string{"1", "2", "3"} { // a rejected turn gives its text back to the inbox
		if err := w.run("wake", text); err != nil {
			t.Fatal(err)
		}
	}
	tip, _ := w.agent.Log().Tip()
	if err := w.run("wake", "4"); !errors.Is(err, ErrInboxFull) {
		t.Errorf("a wake whose text would go back to a full inbox: %v", err)
	}
	if now, _ := w.agent.Log().Tip(); now != tip {
		t.Errorf("the refused wake took the log from seq %d to %d", tip, now)
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

// TestWhoWasAnsweredAndLetsGoFindsRoomForAnotherAgent: a command keeps its agent in memory
// until it is handled, and no longer. Guarantee 9.
func TestWhoWasAnsweredAndLetsGoFindsRoomForAnotherAgent(t *testing.T) {
	w := newWorld(t)
	w.cfg.MaxAgents = 2
	w.host.Reload(w.cfg)
	for range rounds(t, 2000) {
		for _, id := range []string{"s2", "s3"} {
			a := w.hold(id)
			if _, err := a.State(ctx); err != nil {
				t.Fatal(err)
			}
			a.Release()
		}
	}
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
