package runwire

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"hitchpost/server/follow"
	"hitchpost/server/project"
	"hitchpost/server/protocol"
	"hitchpost/turn"
)

// judge checks what a client was sent of a run against its log: every frame is the log's,
// in order and once, and each hole is announced by one run.gap right where it is. It
// returns the gaps.
func judge(t *testing.T, got []received, all []project.Frame) (gaps []received) {
	t.Helper()
	at, good := 0, int64(0)
	var gap *received
	for i, f := range got {
		if f.Type == protocol.TypeRunGap {
			if gap != nil {
				t.Errorf("two gaps and nothing between: %s", f.line)
			}
			gap = &got[i]
			gaps = append(gaps, f)
			if g := f.Payload; g.LastGood != good || g.Next != 0 && g.Dropped != g.Next-g.LastGood-1 || f.Seq != 0 {
				t.Errorf("behind %d came %s", good, f.line)
			}
			continue
		}
		skipped := 0
		for at < len(all) && string(all[at].Line) != f.line {
			at++
			skipped++
		}
		if at == len(all) {
			t.Fatalf("frame %d is not the log's, or comes again: %s", i, f.line)
		}
		if skipped > 0 && gap == nil {
			t.Errorf("%d frames before %s were left out in silence", skipped, f.line)
		}
		at++
		if f.Seq == 0 {
			continue
		}
		if gap != nil && gap.Payload.Next != f.Seq {
			t.Errorf("behind %s came %d", gap.line, f.Seq)
		}
		gap, good = nil, f.Seq
	}
	return gaps
}

// lag lets a client read nothing for so long that it is surely found out: one that was
// near once more is given another second.
func lag() { time.Sleep(4 * follow.LagPatience) }

// run.gap: dropped for it alone, announced in band, and it goes on with the newest frame.
//
// guarantee 4
func TestAClientThatReadsNothingIsToldEachHoleAndFetchesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{narrow: true, queue: 50})
	r := w.lay(5, 10, "a")[0]
	slow := w.join("secret-all")
	w.set.narrow = false
	quick := w.join("secret-all")
	var got, others []received
	for range 2 {
		for range 25 { // never so much at once that the quick one could lag, on any machine
			r.stream(20, 6000)
			others = append(others, quick.until(at(r.tip()))...)
		}
		lag()
		got = append(got, slow.until(at(r.tip()))...)
	}
	r.stream(10, 10)
	r.finish()
	got = append(got, slow.until(ended(r.id))...)
	others = append(others, quick.until(ended(r.id))...)
	all := reference(t, r.log, r.id, 0)
	gaps := judge(t, got, all)
	t.Logf("%d of %d frames came", len(got), len(all))
	if len(gaps) != 2 || len(got) > 600 {
		t.Errorf("%d gaps in %d frames, want 2 in few", len(gaps), len(got))
	}
	if lines(only(r.id, others)) != text(all) {
		t.Error("the quick connection was not sent everything")
	}
	for _, g := range gaps {
		slow.say(protocol.RunSubscribe{RunID: r.id, FromSeq: g.Payload.LastGood})
		again := slow.until(ended(r.id))
		if lines(again) != text(reference(t, r.log, r.id, g.Payload.LastGood)) {
			t.Errorf("from %d came something else than the log says", g.Payload.LastGood)
		}
	}
}

// The end of a run is never dropped, nor its start, however far behind the client is.
//
// guarantee 4
func TestRunStartedAndTheTerminalFrameAreNeverDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{narrow: true, queue: 50})
	blocker := w.lay(5, 10, "blocker")[0]
	w.create("b", "me")
	p := w.join("secret-all")
	p.until(func(f received) bool { return f.Seq == blocker.tip() })
	blocker.stream(200, 10_000) // fills every buffer
	w.model.Replies <- slices.Repeat([]string{strings.Repeat("x", 2000)}, 300)
	var run string
	w.do("b", func(ctx context.Context, a *turn.Agent) (err error) {
		run, err = a.StartRun(ctx, turn.NewRun{Input: "hi"})
		return err
	})
	log := w.log("b")
	for over := false; !over; time.Sleep(time.Millisecond) {
		r, err := project.Find(t.Context(), log, run)
		if err != nil {
			t.Fatal(err)
		}
		over = r.End != ""
	}
	lag()
	got := p.toEnd(run)
	all := reference(t, w.log("b"), run, 0)
	if gaps := judge(t, got, all); len(gaps) != 1 || got[0].line != string(all[0].Line) || last(got).line != string(all[len(all)-1].Line) {
		t.Errorf("%d gaps; began with %s, ended with %s", len(gaps), got[0].line, last(got).line)
	}
}

// a connection more than queue_limit frames behind for a whole second: less is no lag.
//
// guarantee 4
func TestABurstThatIsReadWithinASecondMakesNoGap(t *testing.T) {
	w := newWorld(t, settings{queue: 5})
	r := w.lay(5, 10, "a")[0]
	p := w.join("secret-all")
	var got []received
	for range 20 {
		r.stream(500, 10)
		got = append(got, p.until(at(r.tip()))...)
	}
	r.finish()
	got = append(got, p.until(ended(r.id))...)
	if lines(only(r.id, got)) != text(reference(t, r.log, r.id, 0)) {
		t.Error("something was left out, or came twice")
	}
}

// A replay is served whole, at the client's pace.
//
// guarantee 3
func TestAReplayIsNeverCutHoweverSlowTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{narrow: true, queue: 5})
	r := w.lay(300, 10_000, "a")[0]
	p := w.join("secret-all")
	r.stream(100, 10)
	lag()
	lag()
	r.finish()
	if got := p.toEnd(r.id); lines(got) != text(reference(t, r.log, r.id, 0)) {
		t.Error("something was left out, or came twice")
	}
}

// next 0: none will, the session is gone.
//
// guarantee 4
func TestARunWhoseSessionIsDeletedEndsAndSaysWhatIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{narrow: true, queue: 50})
	r := w.lay(3000, 1000, "a")[0]
	p := w.join("secret-all")
	p.of(protocol.TypeRunStarted)
	time.Sleep(50 * time.Millisecond) // every buffer is full of the replay
	if err := w.host.Delete(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	var deleted, ended bool
	all := p.until(func(f received) bool {
		deleted = deleted || f.Type == protocol.TypeSessionDeleted && f.Payload.SessionID == "a"
		ended = ended || f.Type == protocol.TypeRunGap && f.Payload.Next == 0
		return deleted && ended
	})
	all = append(all, p.alive()...)
	frames := only(r.id, all)
	if f := last(frames); f.Type != protocol.TypeRunGap || f.Payload.Dropped <= 0 || f.Payload.LastGood != frames[len(frames)-2].Seq {
		t.Errorf("ended with %s", f.line)
	}
	p.say(protocol.RunSubscribe{RunID: r.id})
	p.refusal(protocol.CodeRunNotFound)
}

func TestTheNewestFrameIsFoundHoweverFarBack(t *testing.T) {
	w := newWorld(t, settings{})
	r := w.lay(3, 10, "a")[0]
	newest := r.tip()
	for range 2000 { // none of these makes a frame
		r.append(encoded(t, "", noise()))
	}
	got, err := newestFrame(t.Context(), r.log, 2, r.tip())
	if err != nil || got != newest {
		t.Errorf("found %d, %v; want %d", got, err, newest)
	}
	if got, err := newestFrame(t.Context(), r.log, newest+1, r.tip()); err != nil || got != 0 {
		t.Errorf("found %d, %v; want none", got, err)
	}
}
