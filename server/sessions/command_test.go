package sessions

import (
	"errors"
	"testing"

	"hitchpost/server/protocol"
	"hitchpost/turn"
)

// guarantee 6
func TestARunThatHasEndedIsCancelledWithoutLoadingItsSessionAndTakesNoText(t *testing.T) {
	r := newRig(t)
	r.create("s", "me")
	run := r.run("s")
	r.until("s", protocol.StatusIdle)
	r.stop()
	r.start()
	if err := r.book.Cancel(t.Context(), r.me, run, ""); err != nil {
		t.Errorf("Cancel = %v", err)
	}
	if err := r.book.Inject(t.Context(), r.me, run, protocol.QueueSteer, "more"); !errors.Is(err, ErrEnded) {
		t.Errorf("Inject = %v, want ErrEnded", err)
	}
	if n := r.book.Host.Load().Agents; n != 0 {
		t.Errorf("%d agents were loaded", n)
	}
}

// guarantees 1 and 6
func TestAForeignRunOrCallIsCommandedLikeOneThatNeverWas(t *testing.T) {
	r := newRig(t)
	r.answer = asks
	r.create("s", "me")
	run := r.run("s")
	r.until("s", protocol.StatusRequiresAction)
	you := token("you", nil)
	for _, id := range []string{run, "nope"} {
		if err := r.book.Cancel(t.Context(), you, id, ""); !errors.Is(err, ErrNoRun) {
			t.Errorf("Cancel %s = %v", id, err)
		}
		if err := r.book.Inject(t.Context(), you, id, protocol.QueueSteer, "x"); !errors.Is(err, ErrNoRun) {
			t.Errorf("Inject %s = %v", id, err)
		}
		if err := r.book.Decide(t.Context(), you, turn.Verdict{CallID: "c1", RunID: id, Approve: true}); !errors.Is(err, ErrNoCall) {
			t.Errorf("Decide %s = %v", id, err)
		}
	}
	if err := r.book.Decide(t.Context(), r.me, turn.Verdict{CallID: "c1", RunID: run}); err != nil {
		t.Errorf("its owner's verdict: %v", err)
	}
}
