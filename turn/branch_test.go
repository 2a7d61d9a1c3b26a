package turn

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// branch moves the leaf, which must succeed.
func (w *world) branch(to string, exclusive bool) (leaf, previous string) {
	w.t.Helper()
	leaf, previous, err := w.agent.Branch(context.Background(), to, exclusive)
	if err != nil {
		w.t.Fatal(err)
	}
	return leaf, previous
}

// nth returns the nth event of the type, from 1.
func nth(t *testing.T, log []store.Event, kind event.Type, n int) store.Event {
	t.Helper()
	for _, ev := range log {
		if event.Type(ev.Type) == kind {
			if n--; n == 0 {
				return ev
			}
		}
	}
	t.Fatalf("%d too few %s in\n%s", n, kind, render(log))
	return store.Event{}
}

// lastRequest returns the texts of the newest request's messages.
func (w *world) lastRequest() (texts []string) {
	asked := w.model.asked()
	for _, m := range asked[len(asked)-1].Messages {
		texts = append(texts, m.Text)
	}
	return texts
}

func (w *world) sees(want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.lastRequest()); diff != "" {
		w.t.Errorf("the model saw (-want +got):\n%s", diff)
	}
}

// guarantee 20: an edit goes to the parent of what it replaces, a regenerated answer to its
// question, and a switch back to the newest descendant of the attempt.
func TestAnEditARegenerationAndASwitchBackLeadTheModelAlongTheirPaths(t *testing.T) {
	w := newWorld(t)
	w.play(`model "a1"
		model "a2"
		wake q1
		idle
		wake q2
		idle`)
	log := w.log()
	q1, a1 := nth(t, log, event.UserMessageType, 1), nth(t, log, event.AssistantMessageType, 1)
	q2, a2 := nth(t, log, event.UserMessageType, 2), nth(t, log, event.AssistantMessageType, 2)

	if leaf, previous := w.branch(q2.ID, true); leaf != a1.ID || previous != a2.ID {
		t.Errorf("the edit moved the leaf from %s to %s, want from %s to %s", previous, leaf, a2.ID, a1.ID)
	}
	w.play(`model "a2 edited"
		wake q2 edited
		idle`)
	w.sees("q1", "a1", "q2 edited")

	w.branch(q1.ID, false)
	w.play(`model "a1 again"
		continue
		idle`)
	w.sees("q1")
	w.play(`model "a3"
		wake q3
		idle`)
	w.sees("q1", "a1 again", "q3")

	w.branch(a2.ID, false)
	w.restart()
	w.play(`model "a4"
		wake q4
		idle`)
	w.sees("q1", "a1", "q2", "a2", "q4")

	if leaf, _ := w.branch(q1.ID, true); leaf != "" {
		t.Errorf("the parent of the first message is %q, want the root", leaf)
	}
	w.play(`model "b1"
		wake r1
		idle`)
	w.sees("r1")
	checkInvariants(t, w.log())
}

// guarantee 20
func TestABranchIsRefusedWhileATurnIsOpenAndToWhatIsNoEntry(t *testing.T) {
	w := newWorld(t)
	w.play(`model "a1"
		model "a2" @g
		wake q1
		idle`)
	log := w.log()
	for _, id := range []string{"", "ffffffffffffffff", "what?", log[0].ID, nth(t, log, event.TurnStartType, 1).ID, nth(t, log, event.TurnEndType, 1).ID} {
		for _, exclusive := range []bool{false, true} {
			if _, _, err := w.agent.Branch(context.Background(), id, exclusive); !errors.Is(err, ErrNoEntry) {
				t.Errorf("to %q: %v, want ErrNoEntry", id, err)
			}
		}
	}
	w.play("wake q2\nawait g")
	question := nth(t, log, event.UserMessageType, 1).ID
	if _, _, err := w.agent.Branch(context.Background(), question, false); !errors.Is(err, ErrTurnOpen) {
		t.Errorf("while a turn runs: %v, want ErrTurnOpen", err)
	}
	w.restart() // it is open still
	if _, _, err := w.agent.Branch(context.Background(), question, false); !errors.Is(err, ErrTurnOpen) {
		t.Errorf("while a turn is resumable: %v, want ErrTurnOpen", err)
	}
	if n := count(w.log(), event.SessionBranchedType); n != 0 {
		t.Errorf("%d session/branched logged", n)
	}
}

// guarantee 20: nothing moved, so nothing is said.
func TestABranchToTheLeafLogsNothing(t *testing.T) {
	w := newWorld(t)
	w.play(`model "a1"
		wake q1
		idle`)
	answer := nth(t, w.log(), event.AssistantMessageType, 1).ID
	before := len(w.log())
	if leaf, previous := w.branch(answer, false); leaf != answer || previous != answer {
		t.Errorf("from %s to %s, want to stay at %s", previous, leaf, answer)
	}
	if after := len(w.log()); after != before {
		t.Errorf("%d events were logged", after-before)
	}
}

// Regenerating where the path ends with an answer, or at its root, has nothing to answer.
func TestAContinueOnAPathThatEndsAnsweredIsEmpty(t *testing.T) {
	w := newWorld(t)
	w.play(`model "a1"
		model "a2"
		wake q1
		idle
		wake q2
		idle`)
	w.branch(nth(t, w.log(), event.AssistantMessageType, 1).ID, false)
	w.play("continue")
	w.branch(nth(t, w.log(), event.UserMessageType, 1).ID, true)
	w.play("continue")
	if n := strings.Count(render(w.log()), `turn/end {"status":"empty"}`); n != 2 {
		t.Errorf("%d empty turns, want 2:\n%s", n, render(w.log()))
	}
}

// guarantee 12: a summary of one path is none of another.
func TestABranchMeanwhileDeclinesACompaction(t *testing.T) {
	w := newWorld(t)
	w.define(func(d *Definition) { d.Models[RoleCompactor] = "demo/short" })
	w.batches(2)
	w.model.add("short", []act{{gate: "g"}, {text: "Short."}})
	got := make(chan Compacted)
	go func() {
		c, _ := w.agent.Compact(context.Background())
		got <- c
	}()
	w.gates.await(t, "g")
	w.branch(nth(t, w.log(), event.UserMessageType, 2).ID, true)
	w.gates.open("g")
	if c := <-got; c.Done || c.Declined != "something was said meanwhile" {
		t.Errorf("compaction came to %+v", c)
	}
}

// guarantees 12 and 20: a checkpoint counts on its own path alone, and what is summarised
// is what stands on the path.
func TestACompactionSummarisesThePathAndCountsOnItAlone(t *testing.T) {
	w := newWorld(t)
	w.define(func(d *Definition) { d.Models[RoleCompactor] = "demo/short" })
	w.batches(3)
	log := w.log()
	left := nth(t, log, event.UserMessageType, 3)
	w.branch(left.ID, true)
	w.play(`model-of short "Short."
		compact`)
	asked := w.model.asked()
	for _, m := range asked[len(asked)-1].Messages {
		if strings.Contains(m.Text, "-2.") {
			t.Errorf("the summary was made of a text of another branch: %q", m.Text)
		}
	}
	w.play(`model "on"
		wake then
		idle`)
	w.sees("Short.", "then")
	w.branch(left.ID, false)
	w.play(`model "on"
		wake and there
		idle`)
	if seen := w.lastRequest(); seen[0] != "question-0." || seen[len(seen)-1] != "and there" {
		t.Errorf("the other branch saw %q", seen)
	}
	for _, req := range w.model.asked() {
		checkRequest(t, req)
	}
}

// guarantee 12: where every turn was left by a branch there is still a place to cut at.
func TestAnOverflowIsCutWhereABranchLeftATurn(t *testing.T) {
	w := newWorld(t)
	w.define(func(d *Definition) { d.Models[RoleCompactor] = "demo/short" })
	for range 4 {
		w.batches(1)
		log := w.log()
		w.batches(1) // an attempt that is left
		answers := count(log, event.AssistantMessageType)
		w.branch(nth(t, log, event.AssistantMessageType, answers).ID, false)
	}
	w.overflows("short", 1)
	w.model.add("short", []act{{text: "Short."}})
	got, err := w.agent.Compact(context.Background())
	if err != nil || !got.Done {
		t.Fatalf("compaction came to %+v, %v", got, err)
	}
	w.play(`model "on"
		wake then
		idle`)
	seen := w.lastRequest()
	if turn := 7; seen[0] != "Short." || len(seen) != 1+3*turn+1 {
		t.Errorf("the model saw %d texts, want the summary of one turn and three turns in their own words: %q", len(seen), seen)
	}
	for _, req := range w.model.asked() {
		checkRequest(t, req)
	}
}

// guarantee 12: a newer checkpoint of another branch is no bound.
func TestACheckpointOfAnotherBranchBoundsNoSummary(t *testing.T) {
	w := newWorld(t)
	w.define(func(d *Definition) { d.Models[RoleCompactor] = "demo/short" })
	w.batches(4)
	answer := nth(t, w.log(), event.AssistantMessageType, 8).ID
	w.branch(nth(t, w.log(), event.UserMessageType, 4).ID, true)
	w.model.add("short", []act{{text: "Of the other branch."}})
	w.play("compact")
	w.branch(answer, false)
	w.overflows("short", 1)
	w.model.add("short", []act{{text: "Short."}})
	w.play(`compact
		model "on"
		wake then
		idle`)
	seen := w.lastRequest()
	if seen[0] != "Short." || seen[1] != "question-1." || seen[len(seen)-1] != "then" {
		t.Errorf("the model saw %q", seen)
	}
}

// A long history that was left is no reason to summarise the short one that is gone on with.
func TestTheBudgetIsThatOfThePath(t *testing.T) {
	w := newWorld(t)
	w.play(`model "a1" usage:150,1
		wake q1
		idle
		budget 100`)
	w.branch(nth(t, w.log(), event.UserMessageType, 1).ID, true)
	w.play(`model "b1" usage:10,1
		wake r1
		idle`)
	if n := len(w.model.asked()); n != 2 {
		t.Errorf("%d requests, want no summary's:\n%s", n, render(w.log()))
	}
}

// A name is made of what was said on the path where the turn ended.
func TestATitleIsTheFirstTextOfThePath(t *testing.T) {
	w := newWorld(t)
	w.cfg.Agents = map[string]Definition{DefaultAgent: {Models: map[string]string{RoleMain: "demo/one", RoleTitler: "demo/namer"}}}
	w.host.Reload(w.cfg)
	w.play(`model "a1"
		model-of namer @named
		wake first
		await named
		restart`) // before it had a name
	w.branch(nth(t, w.log(), event.UserMessageType, 1).ID, true)
	w.play(`model "b1"
		model-of namer "Named"
		wake second
		logged session/titled`)
	var named model.Request
	for _, req := range w.model.asked() {
		if req.Model == "namer" {
			named = req
		}
	}
	if named.Messages[0].Text != "second" {
		t.Errorf("the titler was asked about %q", named.Messages[0].Text)
	}
}
