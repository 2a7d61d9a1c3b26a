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
	"hitchpost/turn/history"
	"hitchpost/turn/model"
)

// overflows scripts n refusals of a model's request.
func (w *world) overflows(name string, n int) {
	for range n {
		w.model.add(name, []act{{err: providerError(event.CodeContextOverflow, "too long")}})
	}
}

// batches lets turns of four parallel calls run, each with texts that no other has.
func (w *world) batches(turns int) {
	w.t.Helper()
	for i := range turns {
		w.play(fmt.Sprintf(`model "looking-%[1]d." call:a%[1]d:par:{} call:b%[1]d:par:{} call:c%[1]d:par:{} call:d%[1]d:par:{}
			model "answer-%[1]d."
			wake question-%[1]d.
			idle`, i))
	}
}

// TestA03ACompactionCutsNoCallFromItsResult, whatever its length, and however often the
// request for the summary was too long itself: every request is whole, and the summary
// stands for exactly what was read to make it. Guarantee 12.
func TestA03ACompactionCutsNoCallFromItsResult(t *testing.T) {
	for turns := 1; turns <= 6; turns++ {
		for refusals := range 4 {
			t.Run(fmt.Sprintf("%d_turns_%d_refusals", turns, refusals), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.define(func(d *Definition) { d.Models[RoleCompactor] = "demo/short" })
				w.batches(turns)
				w.overflows("short", refusals)
				w.model.add("short", []act{{text: "Short."}})
				got, err := w.agent.Compact(context.Background())
				if possible := turns>>refusals > 0; got.Done != possible || (err == nil) != possible {
					t.Fatalf("compaction came to %+v, %v", got, err)
				}
				w.play(`model "done"
					wake what now?
					idle`)
				log := w.log()
				checkInvariants(t, log)
				for _, req := range w.model.asked() {
					checkRequest(t, req)
				}
				if got.Done {
					checkCheckpoint(t, log, w.model.asked())
				}
			})
		}
	}
}

// TestA02AHistoryWithTwoDeathsInItIsWhole: a process died while a call ran and another one
// in the turn that resumed it; turns and a compaction behind that see no hole.
func TestA02AHistoryWithTwoDeathsInItIsWhole(t *testing.T) {
	w := newWorld(t)
	w.define(func(d *Definition) { d.Models[RoleCompactor] = "demo/short" })
	w.play(`model call:c1:fast:{} call:c2:once:{"gate":"g1"}
		model "half " @g2
		model "done"
		model "one"
		model "two"
		model-of short "Short."
		model "three"
		wake greetings
		await g1
		restart
		status resumable
		wake go on
		await g2
		restart
		status resumable
		wake and on
		idle
		wake first
		idle
		wake second
		idle
		compact
		wake third
		idle`)
	log := w.log()
	checkInvariants(t, log)
	for _, req := range w.model.asked() {
		checkRequest(t, req)
	}
	checkCheckpoint(t, log, w.model.asked())
	if count(log, event.TurnStartType) != 4 || count(log, event.TurnEndType) != 4 {
		t.Errorf("log:\n%s", render(log))
	}
}

// checkCheckpoint compares the newest checkpoint with the request that made it and
// with the request behind it: each text is in exactly one of the two.
func checkCheckpoint(t *testing.T, log []store.Event, asked []model.Request) {
	t.Helper()
	var read model.Request
	for _, req := range asked {
		if req.Model == "short" {
			read = req
		}
	}
	var made event.SessionCompacted
	for _, ev := range log {
		if event.Type(ev.Type) == event.SessionCompactedType {
			mustUnmarshal(t, ev.Payload, &made)
		}
	}
	before, err := history.Project(log[:made.UptoSeq+1], "demo/short")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(read.Messages[:len(read.Messages)-1]), fmt.Sprint(before); got != want {
		t.Errorf("read\n%s\nstands for\n%s", got, want)
	}
	after := fmt.Sprint(asked[len(asked)-1].Messages)
	for _, ev := range log {
		if event.Type(ev.Type) != event.UserMessageType {
			continue
		}
		var said event.UserMessage
		mustUnmarshal(t, ev.Payload, &said)
		if kept := strings.Contains(after, said.Text); kept == (ev.Seq <= made.UptoSeq) {
			t.Errorf("seq %d, upto_seq %d, kept in its own words: %v", ev.Seq, made.UptoSeq, kept)
		}
	}
}

// TestA04AnOverflowThatNothingMendsEndsInAFewRequests: one try of the summary when it is
// useless, a few when it does not fit, and never a second compaction in a turn.
func TestA04AnOverflowThatNothingMendsEndsInAFewRequests(t *testing.T) {
	w := newWorld(t)
	w.define(func(d *Definition) { d.Models[RoleCompactor] = "demo/short" })
	w.batches(40)
	before := len(w.model.asked())
	w.overflows("", 2)
	w.overflows("short", 100)
	w.play("wake too much\nidle")
	if n := len(w.model.asked()) - before; n != 1+1+halvings {
		t.Errorf("%d requests, want the step's and %d for the summary", n, 1+halvings)
	}
	log := w.log()
	if last := log[len(log)-1]; !strings.Contains(string(last.Payload), string(event.CodeContextOverflow)) {
		t.Errorf("the turn ended %s", last.Payload)
	}
	if count(log, event.SessionCompactedType) != 0 {
		t.Error("something was replaced")
	}
}

// TestOneCompactionAtATime: who asks for a second one is told what the first came to.
func TestOneCompactionAtATime(t *testing.T) {
	w := newWorld(t)
	w.define(func(d *Definition) { d.Models[RoleCompactor] = "demo/short" })
	w.batches(1)
	w.model.add("short", []act{{gate: "g"}, {text: "Short."}})
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if got, err := w.agent.Compact(context.Background()); err != nil || !got.Done {
				t.Errorf("compaction came to %+v, %v", got, err)
			}
		})
	}
	w.gates.await(t, "g")
	w.within(func(a *Agent) bool { return len(a.compacting.waiting) == 5 })
	w.gates.open("g")
	all.Wait()
	if n := count(w.log(), event.SessionCompactedType); n != 1 {
		t.Errorf("%d checkpoints, want 1", n)
	}
}

// TestACompactionIsToldThatSomethingWasSaidMeanwhile: it is not applied.
func TestACompactionIsToldThatSomethingWasSaidMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.define(func(d *Definition) { d.Models[RoleCompactor] = "demo/short" })
	w.batches(1)
	w.model.add("short", []act{{gate: "g"}, {text: "Short."}})
	got := make(chan Compacted)
	go func() {
		c, _ := w.agent.Compact(context.Background())
		got <- c
	}()
	w.gates.await(t, "g")
	w.play(`model "ok"
		wake hello
		idle
		open g`)
	if c := <-got; c.Done || c.Declined != "something was said meanwhile" {
		t.Errorf("compaction came to %+v", c)
	}
	if n := count(w.log(), event.SessionCompactedType); n != 0 {
		t.Errorf("%d checkpoints, want none", n)
	}
}

// TestAShutdownLeavesATurnThatWaitsForASummaryOpen: it has not failed, and the next
// process compacts for it.
func TestAShutdownLeavesATurnThatWaitsForASummaryOpen(t *testing.T) {
	w := newWorld(t)
	w.define(func(d *Definition) { d.Models[RoleCompactor] = "demo/short" })
	w.batches(1)
	w.overflows("", 1)
	w.model.add("short", []act{{gate: "never"}})
	w.play(`wake too much
		await never`)
	if err := w.host.Drain(1 << 62); err != nil {
		t.Fatal(err)
	}
	w.drained = true
	if log := w.log(); !isOpen(log) {
		t.Errorf("the drain ended the turn:\n%s", render(log))
	}
	w.overflows("", 1)
	w.play(`restart
		model-of short "Short."
		model "went on"
		wake go on
		ended`)
	log := w.log()
	checkInvariants(t, log)
	if end := log[len(log)-1]; !strings.Contains(string(end.Payload), string(event.Completed)) || count(log, event.SessionCompactedType) != 1 {
		t.Errorf("log:\n%s", render(log))
	}
}

// TestAShutdownDoesNotWaitForACompaction: it ends at once, whatever the grace.
func TestAShutdownDoesNotWaitForACompaction(t *testing.T) {
	w := newWorld(t)
	w.define(func(d *Definition) { d.Models[RoleCompactor] = "demo/short" })
	w.batches(1)
	w.model.add("short", []act{{gate: "never"}})
	got := make(chan error)
	go func() {
		_, err := w.agent.Compact(context.Background())
		got <- err
	}()
	w.gates.await(t, "never")
	if err := w.host.Drain(1 << 62); err != nil {
		t.Fatal(err)
	}
	w.drained = true
	if err := <-got; !errors.Is(err, ErrDraining) {
		t.Errorf("compaction came to %v", err)
	}
	if _, err := w.agent.Compact(context.Background()); !errors.Is(err, ErrDraining) {
		t.Errorf("a compaction after the drain came to %v", err)
	}
}
