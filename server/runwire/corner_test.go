package runwire

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
	"hitchpost/turn"
	"hitchpost/turn/event"
)

// A session that is being deleted is answered like one that never was, also while its
// row is there still: Run wire, "a foreign id answers exactly like an unknown one".
func TestASessionThatIsBeingDeletedIsAnsweredAsAbsent(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	w.model.Replies <- []string{"a", wait}
	run := p.start("a", "hi")
	<-w.model.Reached
	ending, on := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(on) })
	defer goOn()
	stop := w.host.Watch(func(c turn.Change) { // holds the deletion behind the end of the run
		for _, ev := range c.Events {
			if event.Type(ev.Type) == event.TurnEndType {
				close(ending)
				<-on
			}
		}
	})
	deleted := make(chan error, 1)
	go func() { deleted <- w.host.Delete(context.Background(), "a") }()
	<-ending
	stop()
	p.say(protocol.RunCreate{SessionID: "a", Input: "again"})
	p.refusal(protocol.CodeSessionNotFound)
	goOn()
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	for _, f := range []protocol.ClientPayload{
		protocol.RunSubscribe{RunID: run}, protocol.RunCancel{RunID: run},
		protocol.RunInject{RunID: run, Queue: protocol.QueueSteer, Input: "x"},
	} {
		p.say(f)
		p.refusal(protocol.CodeRunNotFound)
	}
}

// The row was found, and its log is gone a moment later.
func TestSubscribingToARunWhoseSessionGoesAtThatMomentFindsNoRun(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	if err := w.store.Delete(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	c := &conn{server: w.server}
	for _, session := range []string{"a", "never"} {
		_, err := c.tip(context.Background(), session)
		if code, internal := codeOf(err); code != protocol.CodeRunNotFound || internal {
			t.Errorf("%s: %v is told as %s", session, err, code)
		}
	}
}

// Run wire, Connection: a right credential costs nothing, also where it is refused for the
// wrong ones of its neighbours.
func TestARightTokenThatIsRefusedForOthersCountsAsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures, err := auth.NewFailures(nil)
		if err != nil {
			t.Fatal(err)
		}
		s := &Server{Options: Options{Keys: auth.NewKeyring(standardTokens()), Failures: failures}}
		from := netip.MustParseAddr("203.0.113.9")
		for range auth.FailuresAMinute {
			if _, ok := s.admits("wrong", from); ok {
				t.Fatal("a wrong token is let in")
			}
		}
		time.Sleep(59 * time.Second)
		for range auth.FailuresAMinute {
			if _, ok := s.admits("secret-all", from); ok {
				t.Fatal("an address whose failures are used up is let in")
			}
		}
		time.Sleep(2 * time.Second)
		if _, ok := s.admits("secret-all", from); !ok {
			t.Error("a minute behind the last wrong token a right one is refused still")
		}
	})
}

// A resume that fails is neither a refusal nor an end: the run is open for the next stimulus.
//
// guarantee 1
func TestAResumeThatFailsIsToldAndItsRunStaysOpen(t *testing.T) {
	w := newWorld(t, settings{})
	r := w.lay(3, 20, "a")[0]
	p := w.join("secret-all")
	w.model.Replies <- []string{fail}
	p.say(protocol.RunCreate{SessionID: "a", Input: "go on"})
	heard := p.until(func(f received) bool {
		return f.Type == protocol.TypeRunDiagnostic && strings.Contains(f.line, "resume_failed")
	})
	if f := last(heard); f.Payload.RunID != r.id || f.Payload.Code != "provider_error" || f.Seq == 0 {
		t.Errorf("told by %s", f.line)
	}
	isResumable := func(f received) bool {
		return f.Type == protocol.TypeSessionStatus && f.Payload.Status == protocol.StatusResumable && f.Payload.LiveRunID == r.id
	}
	if !slices.ContainsFunc(heard, isResumable) { // broadcasts have no order among the frames of runs
		heard = append(heard, p.until(isResumable)...)
	}
	p.say(protocol.RunCreate{SessionID: "a", Input: "once more"})
	for _, f := range append(heard, p.until(ended(r.id))...) {
		if f.Type == protocol.TypeRunError {
			t.Errorf("heard %s", f.line)
		}
	}
}
