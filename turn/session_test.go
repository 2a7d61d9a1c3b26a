package turn

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"hitchpost/store"
	"hitchpost/turn/event"
)

var ctx = context.Background()

func TestASessionIsOpenedOnlyIfItIsThere(t *testing.T) {
	w := newWorld(t)
	if _, err := w.host.Open(ctx, "nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("open of none = %v, want store.ErrNotFound", err)
	}
	a, err := w.host.Open(ctx, "s1")
	if err != nil || a != w.agent {
		t.Fatalf("open = %p %v, want the agent in memory, %p", a, err, w.agent)
	}
	a.Release()
}

func TestASessionIsCreatedAsAskedOrRefusedByName(t *testing.T) {
	w := newWorld(t)
	got, err := w.host.CreateSession(ctx, store.Session{Owner: "me", Title: "  Plans  "})
	if err != nil || len(got.ID) != 16 || got.Agent != DefaultAgent || got.Title != "Plans" || got.CreatedAt.IsZero() {
		t.Fatalf("created %+v, %v", got, err)
	}
	a, err := w.host.Open(ctx, got.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	const want = "session/created {\"parent_id\":null}\nsession/titled {\"title\":\"Plans\"}\n"
	if log := render(wholeLog(t, a.Log())); log != want {
		t.Errorf("its log:\n%s", log)
	}
	var invalid *InvalidError
	for _, x := range []store.Session{{ID: "x", Agent: "nobody"}, {ID: "x", Title: strings.Repeat("é", 81)}, {ID: strings.Repeat("x", 1000)}} {
		if _, err := w.host.CreateSession(ctx, x); !errors.As(err, &invalid) {
			t.Errorf("create %.60v = %v, want an *InvalidError", x, err)
		}
	}
	if _, err := w.host.CreateSession(ctx, store.Session{ID: got.ID, Owner: "me"}); !errors.Is(err, store.ErrExists) {
		t.Errorf("create of one that is there = %v, want store.ErrExists", err)
	}
	if _, err := w.host.Open(ctx, "x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a refused session is there: %v", err)
	}
}

// TestATitlerDoesNotTakeARenameBack: guarantee 11, and a rename is a session/titled too.
func TestATitlerDoesNotTakeARenameBack(t *testing.T) {
	w := newWorld(t)
	w.play(`role titler demo/titler
		model-of titler @t "A title"
		model "hello"
		wake hi
		await t`)
	if err := w.agent.Amend(ctx, new("  Mine  "), nil); err != nil {
		t.Fatal(err)
	}
	var invalid *InvalidError
	for _, title := range []string{"", " ", strings.Repeat("x", 81)} {
		if err := w.agent.Amend(ctx, new(title), nil); !errors.As(err, &invalid) {
			t.Errorf("rename to %q = %v, want an *InvalidError", title, err)
		}
	}
	w.play("open t\nidle\nrestart")
	if n := count(w.log(), event.SessionTitledType); n != 1 {
		t.Errorf("%d titles:\n%s", n, render(w.log()))
	}
	if x, err := w.store.Session(ctx, "s1"); err != nil || x.Title != "Mine" {
		t.Errorf("title %q, %v", x.Title, err)
	}
}

func TestAPinIsKeptAndTakenBack(t *testing.T) {
	w := newWorld(t)
	for _, want := range []bool{true, false} {
		if err := w.agent.Amend(ctx, nil, new(want)); err != nil {
			t.Fatal(err)
		}
		w.restart()
		if x, err := w.store.Session(ctx, "s1"); err != nil || x.Pinned != want {
			t.Errorf("pinned %v %v, want %v", x.Pinned, err, want)
		}
	}
	if n := len(w.log()); n != 1 {
		t.Errorf("a pin made an event:\n%s", render(w.log()))
	}
}

// One append, or nothing of it.
func TestATitleAndAPinAreChangedTogether(t *testing.T) {
	w := newWorld(t)
	row := func() store.Session {
		t.Helper()
		x, err := w.store.Session(ctx, "s1")
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	var invalid *InvalidError
	if err := w.agent.Amend(ctx, new(" "), new(true)); !errors.As(err, &invalid) || row().Pinned {
		t.Errorf("a title that is none: %v, pinned %v", err, row().Pinned)
	}
	before := w.store.Stats().Appends
	if err := w.agent.Amend(ctx, new("Mine"), new(true)); err != nil {
		t.Fatal(err)
	}
	if x, n := row(), w.store.Stats().Appends-before; x.Title != "Mine" || !x.Pinned || n != 1 {
		t.Errorf("title %q, pinned %v, by %d appends", x.Title, x.Pinned, n)
	}
}

func TestPolicyAndModelsAreTheSessionsOwnElseItsDefinitions(t *testing.T) {
	w := newWorld(t)
	w.play("role titler demo/titler")
	policy, err := w.agent.Policy(ctx)
	if err != nil || !slices.Equal(policy, []string{"*"}) {
		t.Errorf("policy %q %v", policy, err)
	}
	w.play("policy fast\nset_model main demo/two")
	policy, err = w.agent.Policy(ctx)
	if err != nil || !slices.Equal(policy, []string{"fast"}) {
		t.Errorf("policy %q %v", policy, err)
	}
	models, err := w.agent.Models(ctx)
	if err != nil || !maps.Equal(models, map[string]string{"main": "demo/two", "titler": "demo/titler"}) {
		t.Errorf("models %v %v", models, err)
	}
}

// TestAWaitingTextIsListedAndWithdrawn: what a run never read stays, is listed, and can
// be withdrawn.
func TestAWaitingTextIsListedAndWithdrawn(t *testing.T) {
	w := newWorld(t)
	w.play("inject one\nrestart")
	if err := w.agent.Inject(ctx, Inject{Text: "two", ID: "mine"}); err != nil {
		t.Fatal(err)
	}
	waiting, err := w.agent.Inbox(ctx)
	if err != nil || len(waiting) != 2 || waiting[0].Queue != QueueNextTurn || waiting[0].Text != "one" || waiting[1].ID != "mine" {
		t.Fatalf("waiting %+v %v", waiting, err)
	}
	for _, x := range waiting {
		if err := w.agent.Withdraw(ctx, x.ID); err != nil {
			t.Error(err)
		}
		if err := w.agent.Withdraw(ctx, x.ID); !errors.Is(err, ErrNoInput) {
			t.Errorf("withdrawn twice: %v, want ErrNoInput", err)
		}
	}
	if err := w.agent.Inject(ctx, Inject{Text: "two", ID: "mine"}); err != nil {
		t.Errorf("a repeated id = %v, want a no-op", err)
	}
	w.restart()
	if waiting, err := w.agent.Inbox(ctx); err != nil || len(waiting) != 0 {
		t.Errorf("waiting %+v %v, want nothing", waiting, err)
	}
}

// runID is the id of the open turn.
func (w *world) runID() string {
	w.t.Helper()
	mark, found, err := w.agent.Log().Newest(ctx, -1, string(event.TurnStartType))
	if err != nil || !found {
		w.t.Fatalf("no turn/start: %v", err)
	}
	return mark.ID
}

// TestAStopIsForOneRun: it stops a running, a parked and a resumable one, and never a
// later one. Guarantee 7.
func TestAStopIsForOneRun(t *testing.T) {
	w := newWorld(t)
	w.play(`model call:c1:ask:{}
		wake go
		parked c1`)
	first := w.runID()
	if err := w.agent.StopRun(ctx, first, Stop{}); err != nil {
		t.Fatal(err)
	}
	w.play(`ended
		model @g
		wake again
		await g`)
	if err := w.agent.StopRun(ctx, first, Stop{}); !errors.Is(err, ErrNotRunning) {
		t.Errorf("stop of a run that has ended = %v, want ErrNotRunning", err)
	}
	w.play("restart\nstatus resumable")
	if err := w.agent.StopRun(ctx, w.runID(), Stop{Mode: Abort}); err != nil {
		t.Fatal(err)
	}
	w.until(Idle)
	if n := strings.Count(render(w.log()), `{"status":"cancelled"}`); n != 2 {
		t.Errorf("%d runs were cancelled:\n%s", n, render(w.log()))
	}
}

func TestAVerdictThatNamesAnotherRunIsStale(t *testing.T) {
	w := newWorld(t)
	w.play(`model call:c1:ask:{}
		model "done"
		wake go
		parked c1`)
	v := Verdict{CallID: "c1", RunID: "0000000000000000", Approve: true}
	if err := w.agent.Decide(ctx, v); !errors.Is(err, ErrStaleCall) {
		t.Errorf("verdict for another run = %v, want ErrStaleCall", err)
	}
	v.RunID = w.runID()
	if err := w.agent.Decide(ctx, v); err != nil {
		t.Fatal(err)
	}
	w.until(Idle)
}

// TestATextIsInjectedIntoAnyOpenRunAndNoOther: a running, a parked, a resumable one.
func TestATextIsInjectedIntoAnyOpenRunAndNoOther(t *testing.T) {
	w := newWorld(t)
	into := func(run, queue, text string) error {
		return w.agent.InjectInto(ctx, run, Inject{Text: text, Queue: queue, Wake: true})
	}
	w.play(`model @g call:c1:ask:{}
		wake go
		await g`)
	run := w.runID()
	var invalid *InvalidError
	for _, bad := range [][2]string{{"soon", "x"}, {QueueSteer, "  "}} {
		if err := into(run, bad[0], bad[1]); !errors.As(err, &invalid) {
			t.Errorf("%q into queue %q = %v, want an *InvalidError", bad[1], bad[0], err)
		}
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	check(into(run, QueueSteer, "running"))
	w.play("open g\nparked c1")
	check(into(run, "", "parked"))
	w.restart()
	check(into(run, QueueFollowUp, "left open"))
	w.play(`model "done"
		model "and that"
		approve c1
		ended`)
	if err := into(run, QueueSteer, "late"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("inject into a run that has ended = %v, want ErrNotRunning", err)
	}
	log := render(w.log())
	for _, text := range []string{"running", "parked", "left open"} {
		if strings.Count(log, text) != 1 {
			t.Errorf("%q is not in the log once:\n%s", text, log)
		}
	}
}
