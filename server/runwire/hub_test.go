package runwire

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hitchpost/server/protocol"
	"hitchpost/turn"
)

// Run wire: broadcast, unnumbered, to the owner's connections.
//
// guarantee 6
func TestASessionIsAnnouncedRenamedPinnedAndDeletedToItsOwnerAlone(t *testing.T) {
	w := newWorld(t, settings{})
	p, other, narrow := w.join("secret-all"), w.join("secret-other"), w.join("secret-narrow")
	w.create("a", "me")
	if f := p.of(protocol.TypeSessionCreated); f.Seq != 0 || f.Payload.Session.ID != "a" || f.Payload.Session.Status != protocol.StatusIdle {
		t.Errorf("created: %s", f.line)
	}
	w.do("a", func(ctx context.Context, a *turn.Agent) error { return a.Amend(ctx, new("Horses"), nil) })
	if f := p.of(protocol.TypeSessionTitleUpdated); f.Payload.SessionID != "a" || f.Payload.Title != "Horses" || f.Seq != 0 {
		t.Errorf("renamed: %s", f.line)
	}
	w.do("a", func(ctx context.Context, a *turn.Agent) error { return a.Amend(ctx, nil, new(true)) })
	p.until(func(f received) bool { return f.Type == protocol.TypeSessionUpdated && f.Payload.Session.Pinned })
	if err := w.host.Delete(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	if f := p.of(protocol.TypeSessionDeleted); f.Payload.SessionID != "a" || f.Seq != 0 {
		t.Errorf("deleted: %s", f.line)
	}
	for _, silent := range []*peer{other, narrow} {
		if heard := silent.alive(); len(heard) > 0 {
			t.Errorf("heard %s", lines(heard))
		}
	}
}

// session.status: what the session does, the first that applies.
//
// guarantee 6
func TestTheStatusOfASessionIsToldAsItChanges(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	// status waits for a status, and returns the run it names. Broadcasts have no order
	// among the frames of runs.
	status := func(want protocol.SessionStatus, pending int, live bool) string {
		t.Helper()
		f := last(p.until(func(f received) bool { return f.Type == protocol.TypeSessionStatus && f.Payload.Status == want }))
		if !strings.Contains(f.line, fmt.Sprintf(`"pending_count":%d`, pending)) || (f.Payload.LiveRunID != "") != live {
			t.Errorf("%s: %s", want, f.line)
		}
		return f.Payload.LiveRunID
	}
	create := func() { p.say(protocol.RunCreate{SessionID: "a", Input: "hi"}) }
	w.model.Replies <- []string{wait, ask}
	w.model.Replies <- []string{wait}
	create()
	run := status(protocol.StatusRunning, 0, true)
	<-w.model.Reached
	w.model.Resume <- struct{}{}
	status(protocol.StatusRequiresAction, 1, true)
	p.say(protocol.ToolApprove{ToolCallID: "c1"})
	status(protocol.StatusRunning, 0, true)
	<-w.model.Reached // a stop before that would have nothing to be asked for
	p.say(protocol.RunCancel{RunID: run, Mode: protocol.ModeGraceful})
	status(protocol.StatusStopping, 0, true)
	w.model.Resume <- struct{}{}
	status(protocol.StatusIdle, 0, false)
	w.model.Replies <- []string{fail}
	create()
	status(protocol.StatusFailed, 0, false)
	w.model.Replies <- []string{wait}
	create()
	run = status(protocol.StatusRunning, 0, true)
	w.restart()
	p = w.join("secret-all")
	if x := w.object("a"); x.Status != protocol.StatusResumable || x.LiveRunID != run {
		t.Errorf("behind a restart: %+v", x)
	}
	p.say(protocol.RunCancel{RunID: run})
	status(protocol.StatusIdle, 0, false)
}

func (w *world) object(session string) protocol.Session {
	w.t.Helper()
	token, _ := w.keys.Lookup("secret-all")
	x, err := w.server.Book.Get(context.Background(), token, session)
	if err != nil {
		w.t.Fatal(err)
	}
	return x
}

// session.branched, and that a title comes from the titler too.
func TestABranchAndAFirstTitleAreTold(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	p.say(protocol.RunCreate{SessionID: "a", Input: "Feed the horse"})
	title, over := "", false
	all := p.until(func(f received) bool {
		if f.Type == protocol.TypeSessionTitleUpdated {
			title = f.Payload.Title
		}
		over = over || f.Type == protocol.TypeRunOutput
		return over && title != ""
	})
	if title != "Feed the horse" {
		t.Errorf("titled %q", title)
	}
	var entries []string
	for _, f := range all {
		if f.Type == protocol.TypeRunEntry {
			entries = append(entries, f.Payload.Entry.ID)
		}
	}
	w.do("a", func(ctx context.Context, a *turn.Agent) error {
		_, _, err := a.Branch(ctx, entries[0], false)
		return err
	})
	f := p.of(protocol.TypeSessionBranched)
	if want := fmt.Sprintf(`{"type":"session.branched","payload":{"session_id":"a","leaf":%q,"previous":%q}}`, entries[0], entries[1]); f.line != want {
		t.Errorf("got %s, want %s", f.line, want)
	}
}

// run.compaction is a hint; the checkpoint is an entry, unnumbered outside a run.
func TestACompactionBetweenRunsIsToldAndItsCheckpointIsAnEntry(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	w.model.Replies <- []string{strings.Repeat("long ", 500)}
	p.toEnd(p.start("a", strings.Repeat("tell ", 500)))
	w.model.Replies <- []string{wait, "short"}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.do("a", func(ctx context.Context, a *turn.Agent) error { _, err := a.Compact(ctx); return err })
	}()
	<-w.model.Reached
	if f := p.of(protocol.TypeRunCompaction); f.Payload.Phase != protocol.PhaseStarted || f.Payload.SessionID != "a" || f.Payload.RunID != "" || f.Seq != 0 {
		t.Errorf("begun: %s", f.line)
	}
	w.model.Resume <- struct{}{}
	<-done
	var phase, entry bool
	p.until(func(f received) bool {
		phase = phase || f.Payload.Phase == protocol.PhaseFinished
		if f.Type == protocol.TypeRunEntry {
			entry = true
			if f.Seq != 0 || f.Payload.RunID != "" || f.Payload.SessionID != "a" || f.Payload.Entry.Kind != "compaction" {
				t.Errorf("checkpoint: %s", f.line)
			}
		}
		return phase && entry
	})
}

// A fork is a session that was created; what closes its cut turn are entries outside a run.
//
// guarantee 1
func TestAForkIsToldAsASessionAndNoneOfItsRunsIsHeardAgain(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	w.model.Replies <- []string{"x", ask}
	run := p.start("a", "hi")
	p.of(protocol.TypeRunInterrupted)
	if _, err := w.host.Fork(context.Background(), "a", turn.ForkPoint{}, "b"); err != nil {
		t.Fatal(err)
	}
	all := p.until(func(f received) bool {
		return f.Type == protocol.TypeRunEntry && f.Payload.SessionID == "b" && f.Payload.Entry.Kind == "annotation"
	})
	created := 0
	for _, f := range all {
		if f.Payload.Session.ID == "b" {
			created++
		}
		if f.Payload.RunID != "" && f.Payload.SessionID == "b" || f.Seq != 0 && f.Payload.SessionID == "b" {
			t.Errorf("of the fork: %s", f.line)
		}
	}
	if created != 1 {
		t.Errorf("told %d times of the fork", created)
	}
	for _, f := range w.join("secret-all").alive() {
		if f.Payload.SessionID == "b" && f.Payload.RunID != "" || f.Payload.RunID != "" && f.Payload.RunID != run {
			t.Errorf("attached: %s", f.line)
		}
	}
}

// Unnumbered frames may be coalesced to the newest of a session.
//
// guarantee 6
func TestASlowClientIsToldTheNewestOfASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{narrow: true})
	blocker := w.lay(5, 10, "blocker")[0]
	w.create("a", "me")
	p := w.join("secret-all")
	p.until(func(f received) bool { return f.Seq == blocker.tip() })
	p.say(protocol.RunSubscribe{RunID: blocker.id})
	w.await(blocker.id, func(s *stream) bool { return s.begin == fromCursor && s.next > blocker.tip() })
	before := blocker.tip()
	blocker.stream(300, 10_000)
	w.await(blocker.id, func(s *stream) bool { return s.next > before+20 }) // it fills what lies between
	for i := range 200 {
		w.do("a", func(ctx context.Context, a *turn.Agent) error {
			return a.Amend(ctx, new(fmt.Sprintf("%03d %s", i, strings.Repeat("x", 60))), nil)
		})
	}
	blocker.finish()
	titles, newest, over := 0, "", false
	p.until(func(f received) bool { // a broadcast has no place among the frames of runs
		if f.Type == protocol.TypeSessionTitleUpdated {
			titles++
			newest = f.Payload.Title
		}
		over = over || ended(blocker.id)(f)
		return over && strings.HasPrefix(newest, "199")
	})
	if titles > 150 {
		t.Errorf("%d titles of 200", titles)
	}
}

// await waits until the stream of a run to the one connection is as it says.
func (w *world) await(run string, is func(*stream) bool) {
	w.t.Helper()
	c := w.only()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		c.q.Lock()
		s := c.streams[run]
		c.q.Unlock()
		done := s != nil && is(s)
		c.mu.Unlock()
		if done {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatal("the stream of the run is not what was waited for")
		}
	}
}
