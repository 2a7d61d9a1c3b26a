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

// changes collects what a watcher hears.
type changes struct {
	mu   sync.Mutex
	list []Change
}

func (w *world) watch() *changes {
	c := &changes{}
	w.t.Cleanup(w.host.Watch(func(x Change) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.list = append(c.list, x)
	}))
	return c
}

// take returns what was heard since the last time, a change a line, as long as it is of
// the session.
func (c *changes) take(session string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, x := range c.list {
		if x.Session == session {
			b.WriteString(x.line() + "\n")
		}
	}
	c.list = nil
	return b.String()
}

func (c Change) line() string {
	var words []string
	say := func(happened bool, word string) {
		if happened {
			words = append(words, word)
		}
	}
	say(c.Created, "created")
	say(c.Resumed, "resumed")
	for _, ev := range c.Events {
		words = append(words, ev.Type)
	}
	say(c.InboxChanged, fmt.Sprintf("inbox:%d", len(c.Inbox)))
	say(c.StatusChanged, "status")
	say(c.RowChanged, "row")
	say(c.Deleted, "deleted")
	say(c.Compaction != "", "compaction:"+c.Compaction)
	return strings.Join(words, " ")
}

// heard waits until the agent has come to rest and compares what was heard of it.
func (c *changes) heard(w *world, want ...string) {
	w.t.Helper()
	<-w.agent.atRest()
	if got := c.take("s1"); got != strings.Join(want, "\n")+"\n" {
		w.t.Errorf("heard:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

// TestAWatcherHearsOfEveryKindOfChange: guarantee 18. The simulation holds what is heard
// against logs, inboxes and agents.
func TestAWatcherHearsOfEveryKindOfChange(t *testing.T) {
	w := newWorld(t)
	c := w.watch()
	w.play(`model "one " "two " "three" call:c1:ask:{}
		start hi
		parked c1`)
	c.heard(w,
		"turn/start step/start user/message status",
		"assistant/message tool/call approval/requested status")
	w.play(`steer and this
		model "done"
		approve c1
		ended`)
	c.heard(w,
		"inbox:1",
		"approval/resolved status",
		"tool/result step/end step/start context/injected inbox:0 status",
		"assistant/message step/end turn/end session/titled status row")
	if err := errors.Join(w.agent.Amend(ctx, new("Mine"), nil), w.agent.Amend(ctx, nil, new(true)), w.agent.Amend(ctx, new("Both"), new(false))); err != nil {
		t.Fatal(err)
	}
	w.play("inject waits\npolicy *")
	waiting, err := w.agent.Inbox(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.agent.Withdraw(ctx, waiting[0].ID); err != nil {
		t.Fatal(err)
	}
	c.heard(w, "session/titled row", "row", "session/titled row", "inbox:1", "policy/updated", "inbox:0")
}

// TestAWatcherHearsOfAStopBeforeItsEnd, as long as a tool is still at work.
func TestAWatcherHearsOfAStopBeforeItsEnd(t *testing.T) {
	w := newWorld(t)
	w.play(`model call:c1:once:{"gate":"g"}
		start hi
		await g`)
	c := w.watch()
	w.play("cancel enough")
	if live := w.host.Live("s1"); live != (Liveness{Running: true, Stopping: true}) {
		t.Errorf("live %+v", live)
	}
	w.play("open g\nended")
	c.heard(w, "status", "tool/result step/end turn/end session/titled status row")
	if live := w.host.Live("s1"); live != (Liveness{}) {
		t.Errorf("live %+v", live)
	}
}

// TestWhoStopsATurnFindsInLiveThatItStops, whatever else the agent has to handle behind it.
func TestWhoStopsATurnFindsInLiveThatItStops(t *testing.T) {
	w := newWorld(t)
	w.play(`model call:c1:once:{"gate":"g"}
		start hi
		await g`)
	hold := func() (chan struct{}, chan struct{}) {
		busy, goOn := make(chan struct{}), make(chan struct{})
		w.agent.post(func() { close(busy); <-goOn })
		return busy, goOn
	}
	busy, goOn := hold()
	<-busy
	stopped := make(chan error, 1)
	go func() { stopped <- w.agent.Stop(context.Background(), Stop{}) }()
	for waiting := 0; waiting == 0; { // the stop shares a batch with what is posted next
		w.agent.mail.Lock()
		waiting = len(w.agent.mail.waiting)
		w.agent.mail.Unlock()
	}
	_, behind := hold()
	close(goOn)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if live := w.host.Live("s1"); live != (Liveness{Running: true, Stopping: true}) {
		t.Errorf("live %+v", live)
	}
	close(behind)
	w.play("open g\nended")
}

// TestAWatcherHearsThatATurnIsLeftOpenAndGoesOn: by a disk that fails, as by a restart.
func TestAWatcherHearsThatATurnIsLeftOpenAndGoesOn(t *testing.T) {
	w := newWorld(t)
	w.play(`model call:c1:once:{"gate":"g"}
		start hi
		await g`)
	d := w.onDisk()
	c := w.watch()
	w.play(`model @h "hello"
		start
		await h`)
	c.heardSoFar(w, "resumed tool/result step/end step/start status")
	d.fail(0, 1)
	w.play("open h\nidle\nstatus resumable")
	c.heard(w, "status")
	w.play(`model "hello"
		start
		ended`)
	c.heard(w, "resumed step/end step/start status", "assistant/message step/end turn/end session/titled status row")
}

// TestAWatcherHearsThatADrainLeavesATurnOpen with the status that its log has then.
func TestAWatcherHearsThatADrainLeavesATurnOpen(t *testing.T) {
	for _, script := range []string{"model @g\nstart hi\nawait g", "model call:c1:ask:{}\nstart hi\nparked c1"} {
		w := newWorld(t)
		w.play(script)
		c := w.watch()
		if err := w.host.Drain(0); err != nil {
			t.Fatal(err)
		}
		w.drained = true
		if got := c.take("s1"); got != "status\n" || w.host.Live("s1") != (Liveness{}) {
			t.Errorf("heard:\n%s\nlive %+v", got, w.host.Live("s1"))
		}
	}
}

// heardSoFar is heard while a model is still asked.
func (c *changes) heardSoFar(w *world, want ...string) {
	w.t.Helper()
	w.within(func(a *Agent) bool { return a.asking != nil })
	if got := c.take("s1"); got != strings.Join(want, "\n")+"\n" {
		w.t.Errorf("heard:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

// TestAVerdictAndAStopTellThatATurnGoesOnThemselves: no change says so twice.
func TestAVerdictAndAStopTellThatATurnGoesOnThemselves(t *testing.T) {
	for _, command := range []string{"approve c1", "cancel"} {
		w := newWorld(t)
		w.play(`model call:c1:ask:{}
			model "done"
			start hi
			parked c1
			restart`)
		c := w.watch()
		w.play(command + "\nended")
		<-w.agent.atRest()
		if got := c.take("s1"); strings.Contains(got, "resumed") {
			t.Errorf("%s: heard:\n%s", command, got)
		}
	}
}

// TestAWatcherHearsOfACompactionAroundItsCheckpoint.
func TestAWatcherHearsOfACompactionAroundItsCheckpoint(t *testing.T) {
	w := newWorld(t)
	w.play(`role compactor demo/compactor
		model-of compactor @g "short"
		model "a very long answer indeed, much longer than its summary"
		start hi
		ended`)
	c := w.watch()
	done := make(chan error, 1)
	go func() { _, err := w.agent.Compact(ctx); done <- err }()
	w.play("await g")
	w.within(func(a *Agent) bool { return a.compacting != nil }) // behind the message that began it
	if live := w.host.Live("s1"); live != (Liveness{Compacting: true}) {
		t.Errorf("live %+v", live)
	}
	w.play("open g")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	c.heard(w, "status compaction:started", "session/compacted status", "compaction:finished")
}

// TestARunCanStartFromTheNewsThatTheLastOneHasEnded: whoever hears of the end finds the
// session free, by Watch and by the log, also when a compaction follows. Guarantee 18.
func TestARunCanStartFromTheNewsThatTheLastOneHasEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.play("budget 1")
	const runs = 100
	for range runs {
		w.model.add("", []act{{text: "ok"}, {usage: usage(10)}})
	}
	starts := make(chan error, runs)
	left := runs
	ended := make(chan struct{}, runs)
	start := func() {
		_, err := w.agent.StartRun(ctx, NewRun{Input: "go"})
		starts <- err
	}
	stop := w.host.Watch(func(c Change) {
		for _, ev := range c.Events {
			if event.Type(ev.Type) == event.TurnEndType {
				ended <- struct{}{}
				if live := w.host.Live("s1"); live.Running {
					t.Errorf("it ended, and is %+v", live)
				}
			}
		}
	})
	defer stop()
	go start()
	for ; left > 0; left-- {
		if err := <-starts; err != nil {
			t.Fatal(err)
		}
		<-ended
		if left > 1 {
			go start()
		}
	}
	w.until(Idle)
	if n := count(w.log(), event.TurnEndType); n != runs {
		t.Errorf("%d ends", n)
	}
}

func usage(prompt int64) *event.Usage { return &event.Usage{PromptTokens: &prompt} }

// TestASessionIsHeardOfBeforeAnythingElseOfIt whichever door it came through, also when
// somebody finds it in the store before its creator was answered.
func TestASessionIsHeardOfBeforeAnythingElseOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.watch()
	for round := range rounds(t, 200) {
		id := fmt.Sprintf("new-%d", round)
		w.model.add("", []act{{text: "ok"}})
		var all sync.WaitGroup
		all.Go(func() {
			_, err := w.host.CreateSession(ctx, store.Session{ID: id, Owner: "me"})
			if err != nil && !errors.Is(err, store.ErrExists) {
				t.Error(err)
			}
		})
		all.Go(func() {
			a := w.hold(id)
			defer a.Release()
			if err := a.Inject(context.Background(), Inject{Text: "hi", Wake: true}); err != nil {
				t.Error(err)
			}
			<-a.atRest()
		})
		all.Wait()
		if got := c.take(id); !strings.HasPrefix(got, "created\nturn/start") || strings.Count(got, "created") != 1 {
			t.Fatalf("heard:\n%s", got)
		}
	}
	w.play(`model call:c1:Task:{"description":"d","prompt":"p"}
		model-of p "child"
		model "done"
		wake go
		ended`)
	c.mu.Lock()
	defer c.mu.Unlock()
	born := 0
	for _, x := range c.list {
		if strings.HasPrefix(x.Session, "task-") && x.Created && x.Owner == "me" {
			born++
		}
	}
	if born != 1 {
		t.Errorf("%d subagents were heard of", born)
	}
}

// TestNobodyIsToldAnyMoreWhoHasStopped.
func TestNobodyIsToldAnyMoreWhoHasStopped(t *testing.T) {
	w := newWorld(t)
	heard := 0
	stop := w.host.Watch(func(Change) { heard++ })
	w.play("policy *")
	stop()
	w.play("policy fast")
	if heard != 1 {
		t.Errorf("%d changes, want the first", heard)
	}
}
