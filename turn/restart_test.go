package turn

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"hitchpost/turn/event"
)

// openTurns makes sessions that a process death left with a step to be asked.
func (w *world) openTurns(n int) (ids []string) {
	w.t.Helper()
	w.play(`model @never
		wake hello
		await never`)
	log := w.log()
	for i := range n {
		ids = append(ids, fmt.Sprintf("open-%d", i))
		w.put(ids[i], log)
	}
	return ids
}

// TestOpenTurnsGoOnAFewAtATimeWhenTheServerStarts: resume = "start", beside a start
// that does not wait for them. Guarantee 13.
func TestOpenTurnsGoOnAFewAtATimeWhenTheServerStarts(t *testing.T) {
	const sessions = 3 * resumedAtOnce
	w := newWorld(t)
	ids := w.openTurns(sessions)
	w.cfg.Resume = ResumeAtStart
	w.cfg.MaxAgents = sessions + 1
	var atOnce atomic.Int64
	entered := make(chan int64, sessions+1)
	w.model.entered = func() { entered <- atOnce.Add(1) }
	w.model.left = func() { atOnce.Add(-1) }
	for range sessions + 1 {
		w.model.add("", []act{{gate: "all"}, {text: "went on"}})
	}
	w.restart()
	for range resumedAtOnce {
		<-entered
	}
	w.gates.open("all")
	for _, id := range append(ids, "s1") {
		w.agent.Release()
		w.agent = w.hold(id)
		w.until(Idle)
		log := w.log()
		if count(log, event.TurnStartType) != 1 || count(log, event.TurnEndType) != 1 {
			t.Errorf("%s:\n%s", id, render(log))
		}
	}
	for close(entered); len(entered) > 0; {
		if n := <-entered; n > resumedAtOnce {
			t.Errorf("%d turns went on at the same time, want at most %d", n, resumedAtOnce)
		}
	}
}

// TestAStartWaitsForRoomInMemory instead of failing, or forgetting what waits.
func TestAStartWaitsForRoomInMemory(t *testing.T) {
	w := newWorld(t)
	ids := append(w.openTurns(3), "s1")
	w.cfg.Resume = ResumeAtStart
	w.cfg.MaxAgents = 1
	for range 4 {
		w.model.add("", []act{{text: "went on"}})
	}
	w.stop()
	w.open()
	for i, id := range ids {
		if i > 0 {
			w.agent.Release()
		}
		w.agent = w.holdWhenRoom(id)
		w.until(Idle, Resumable)
	}
	w.agent.Release()
	w.cfg.MaxAgents = 100
	w.host.Reload(w.cfg)
	for _, id := range ids {
		w.agent = w.hold(id)
		w.until(Idle)
		if id != "s1" {
			w.agent.Release()
		}
	}
}

func (w *world) holdWhenRoom(id string) *Agent {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		a, err := w.host.Hold(context.Background(), id, "me")
		if err == nil {
			return a
		}
		if !errors.Is(err, ErrTooManyAgents) || time.Now().After(deadline) {
			w.t.Fatal(err)
		}
		<-time.After(time.Millisecond)
	}
}

// TestAShutdownDoesNotWaitForWhatAStartHasYetToTakeUp: neither a resume nor an expiry.
func TestAShutdownDoesNotWaitForWhatAStartHasYetToTakeUp(t *testing.T) {
	w := newWorld(t)
	w.play(`expires 1h
		model call:c1:ask:{}
		wake go
		parked c1
		restart`)
	if err := w.host.Drain(1 << 62); err != nil {
		t.Fatal(err)
	}
	w.drained = true
	if log := w.log(); count(log, event.ApprovalResolvedType) != 0 {
		t.Errorf("the drain decided:\n%s", render(log))
	}
}
