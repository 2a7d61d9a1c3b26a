package runwire

import (
	"context"
	"strings"
	"testing"
	"time"

	"hitchpost/server/protocol"
	"hitchpost/turn"
)

// Run wire, Connection: every run of every session of its owner, nobody else's, ever.
//
// guarantee 1
func TestEveryConnectionOfTheOwnerSeesEverythingOnceAndNobodyElseAnything(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	one, two, other := w.join("secret-all"), w.join("secret-all"), w.join("secret-other")
	w.model.Replies <- []string{"hel", "lo", look}
	run := one.start("a", "hi")
	heard := two.toEnd(run)
	if got, want := lines(heard), text(reference(t, w.log("a"), run, 0)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	one.toEnd(run)
	for _, p := range []*peer{one, two, other} {
		for _, f := range p.alive() {
			if f.Payload.RunID == run || p == other {
				t.Errorf("more came: %s", f.line)
			}
		}
	}
}

// Who has auth.ok hears of everything that begins behind it, however short.
//
// guarantee 1
func TestWhoWasLetInHearsOfEverythingFromThenOn(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	for range 50 {
		p := w.join("secret-all")
		var run string
		w.do("a", func(ctx context.Context, a *turn.Agent) (err error) {
			run, err = a.StartRun(ctx, turn.NewRun{Input: "hi"})
			return err
		})
		p.toEnd(run)
		p.ws.CloseNow()
		w.settle("a")
	}
}

// now and later, whoever started it: over the other wire, or another connection.
//
// guarantee 1
func TestARunThatAnotherDoorStartedIsHeard(t *testing.T) {
	w := newWorld(t, settings{})
	p := w.join("secret-all")
	a, err := w.host.Hold(context.Background(), "a", "me")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	if err := a.Inject(context.Background(), turn.Inject{Text: "hi", Wake: true}); err != nil {
		t.Fatal(err)
	}
	all := p.until(func(f received) bool { return f.Type == protocol.TypeRunOutput })
	run := last(all).Payload.RunID
	if got, want := lines(only(run, all)), text(reference(t, w.log("a"), run, 0)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// open turns, parked ones too, are attached at once from their turn/start.
//
// guarantee 1
func TestAConnectionIsAttachedToWhatIsOpenFromItsStart(t *testing.T) {
	w := newWorld(t, settings{})
	first := w.join("secret-all")
	for _, id := range []string{"running", "parked", "over"} {
		w.create(id, "me")
	}
	runs := map[string]string{}
	w.model.Replies <- []string{"x"}
	runs["over"] = first.start("over", "hi")
	first.toEnd(runs["over"])
	w.model.Replies <- []string{"y", ask}
	runs["parked"] = first.start("parked", "hi")
	first.of(protocol.TypeRunInterrupted)
	w.model.Replies <- []string{"z", wait}
	runs["running"] = first.start("running", "hi")
	<-w.model.Reached
	p := w.join("secret-all")
	open := 2
	all := p.until(func(f received) bool {
		if f.Type == protocol.TypeRunInterrupted || f.Type == protocol.TypeRunDelta && f.Payload.Delta == "z" {
			open--
		}
		return open == 0
	})
	for _, id := range []string{"running", "parked"} {
		if got, want := lines(only(runs[id], all)), text(reference(t, w.log(id), runs[id], 0)); got != want {
			t.Errorf("%s: got\n%swant\n%s", id, got, want)
		}
	}
	if got := only(runs["over"], all); len(got) > 0 {
		t.Errorf("of the run that was over came %s", lines(got))
	}
	w.model.Resume <- struct{}{}
	p.say(protocol.ToolApprove{ToolCallID: "c1"})
	for range 2 {
		p.until(func(f received) bool { return f.Seq != 0 && f.Type.Terminal() })
	}
}

// more than replay_limit events: run.started, a run.gap, then the newest window.
//
// guarantee 1
func TestAnOpenRunLongerThanTheReplayLimitIsAttachedByItsNewestWindow(t *testing.T) {
	for _, c := range []struct {
		pieces int
		gap    bool
	}{{97, false}, {98, true}, {1000, true}} { // and three events before them
		w := newWorld(t, settings{replay: 100})
		r := w.lay(c.pieces, 10, "a")[0]
		p := w.join("secret-all")
		all := reference(t, r.log, r.id, 0)
		got := p.until(func(f received) bool { return f.Seq == r.tip() })
		if !c.gap {
			if lines(got) != text(all) {
				t.Errorf("%d pieces: got %d frames, want %d", c.pieces, len(got), len(all))
			}
			continue
		}
		window := reference(t, r.log, r.id, r.tip()-100)
		first, gap := got[0], got[1]
		if first.Type != protocol.TypeRunStarted || gap.Type != protocol.TypeRunGap || gap.Seq != 0 || lines(got[2:]) != text(window) {
			t.Errorf("%d pieces: got %.600s", c.pieces, lines(got))
		}
		if g := gap.Payload; g.LastGood != first.Seq || g.Next != got[2].Seq || g.Dropped != g.Next-g.LastGood-1 {
			t.Errorf("%d pieces: %s", c.pieces, gap.line)
		}
		if got := p.replay2(r, first.Seq); got != text(reference(t, r.log, r.id, first.Seq)) {
			t.Errorf("%d pieces: what was left out is not served from last_good", c.pieces)
		}
	}
}

// replay2 subscribes to an open run and returns what there is.
func (p *peer) replay2(r *laid, from int64) string {
	p.t.Helper()
	p.say(protocol.RunSubscribe{RunID: r.id, FromSeq: from})
	return lines(p.until(func(f received) bool { return f.Seq == r.tip() }))
}

// Agent Socket and run wire alike: a dropped connection never cancels a run.
func TestADroppedConnectionNeverCancelsARun(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	w.model.Replies <- []string{"a", wait, "b"}
	run := p.start("a", "hi")
	<-w.model.Reached
	p.ws.CloseNow()
	for w.server.Group.Len() > 0 {
		time.Sleep(time.Millisecond)
	}
	w.model.Resume <- struct{}{}
	p = w.join("secret-all")
	p.say(protocol.RunSubscribe{RunID: run})
	all := p.toEnd(run)
	if got, want := lines(all), text(reference(t, w.log("a"), run, 0)); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Streams exist only while a run is open or a replay goes on.
//
// guarantee 7
func TestAnIdleConnectionHoldsNoStreamAndNoLog(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	run := p.start("a", "hi")
	p.toEnd(run)
	p.say(protocol.RunSubscribe{RunID: run})
	p.toEnd(run)
	c := w.only()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		c.q.Lock()
		held := len(c.streams) + len(c.ready) + len(c.waiting) + len(c.urgent) + c.replays
		c.q.Unlock()
		if held == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d things are held", held)
		}
	}
}

// only returns the one connection there is.
func (w *world) only() *conn {
	w.t.Helper()
	h := w.server.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, conns := range h.owners {
		for c := range conns {
			return c
		}
	}
	w.t.Fatal("nobody is connected")
	return nil
}

// Bug report A10: approvals survive a restart, twice, and are decided over this wire.
func TestACallThatWaitsStandsBehindARestartAndIsDecidedOnce(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	w.model.Replies <- []string{ask, ask2}
	run := p.start("a", "hi")
	p.of(protocol.TypeRunInterrupted)
	for range 2 {
		w.restart()
		p = w.join("secret-all")
		f := p.of(protocol.TypeRunInterrupted)
		if f.Payload.RunID != run || f.Payload.Pending[0].ToolCallID != "c1" {
			t.Fatalf("behind a restart stands %s", f.line)
		}
		if x := w.object("a"); x.Status != protocol.StatusRequiresAction || x.PendingCount != 1 {
			t.Errorf("the session says %+v", x)
		}
	}
	two := w.join("secret-all")
	two.of(protocol.TypeRunInterrupted)
	for _, p := range []*peer{p, two} { // both at once: the first verdict wins
		p.say(protocol.ToolApprove{ToolCallID: "c1", RunID: run})
	}
	for _, p := range []*peer{p, two} {
		p.until(func(f received) bool {
			return len(f.Payload.Pending) > 0 && f.Payload.Pending[0].ToolCallID == "c2" && f.Seq > 0
		})
	}
	p.say(protocol.ToolApprove{ToolCallID: "c2", RunID: run})
	all := p.toEnd(run)
	if got, want := lines(all), text(reference(t, w.log("a"), run, 0)); last(all).Type != protocol.TypeRunOutput || !strings.HasSuffix(want, last(all).line+"\n") {
		t.Errorf("ended with\n%s\nof\n%s", got, want)
	}
}
