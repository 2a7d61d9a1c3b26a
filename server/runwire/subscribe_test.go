package runwire

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hitchpost/server/protocol"
	"hitchpost/store"
)

// replay subscribes and returns the frames of the run up to its end.
func (p *peer) replay(run string, from int64) string {
	p.t.Helper()
	p.say(protocol.RunSubscribe{RunID: run, FromSeq: from})
	return p.undecoded(run)
}

// undecoded returns the frames of a run that come up to its end, which are many.
func (p *peer) undecoded(run string) string {
	p.t.Helper()
	var b strings.Builder
	for {
		_, line, err := p.ws.Read(context.Background())
		if err != nil {
			p.t.Fatal(err)
		}
		if bytes.Contains(line, []byte(run)) {
			b.Write(append(line, '\n'))
		}
		if bytes.HasPrefix(line, []byte(`{"type":"run.output"`)) {
			return b.String()
		}
	}
}

// rests returns what each cursor of a run is to be sent: the text of the frames of the
// events behind it. An index is a cursor, from 0 to the end of the run.
func (r *laid) rests(log *store.Log) []string {
	r.t.Helper()
	frames := reference(r.t, log, r.id, 0)
	whole := text(frames)
	rests := make([]string, r.runEnd(log)+1)
	for i := range rests {
		rests[i] = whole
	}
	at := 0
	for _, f := range frames {
		at += len(f.Line) + 1
		for i := f.Seq; f.Seq != 0 && i < int64(len(rests)); i++ {
			rests[i] = whole[at:]
		}
	}
	return rests
}

// With the log as buffer every cursor of a known run can be served exactly.
//
// guarantees 2 and 3
func TestEveryCursorOfAFinishedRunIsServedExactlyTheRestAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	r := w.lay(2000, 10, "a")[0]
	r.finish()
	w.restart()
	edge, every := int64(fewer(30, 6)), int64(fewer(1, 401))
	for restarted := range 2 {
		log := w.log("a")
		rests := r.rests(log)
		end := int64(len(rests)) - 1
		var both sync.WaitGroup
		for half := range int64(2) {
			p := w.join("secret-all")
			p.replay(r.id, 0) // has run.started
			both.Go(func() {
				for from := half; from < end; from += 2 {
					middle := from > edge && from < end-edge
					if sampled := restarted == 0 || every > 1; sampled && middle && from%max(every, 151) > 1 {
						continue
					}
					if got := p.replay(r.id, from); got != rests[from] {
						t.Errorf("from %d: got %d bytes %.300s, want %d %.300s", from, len(got), got, len(rests[from]), rests[from])
						return
					}
				}
			})
		}
		both.Wait()
		p := w.join("secret-all")
		for _, from := range []int64{end, tipOf(log)} { // at or past the run's end: silence
			p.say(protocol.RunSubscribe{RunID: r.id, FromSeq: from})
		}
		if got := only(r.id, p.alive()); len(got) > 0 {
			t.Errorf("past the end came %s", lines(got))
		}
		p.say(protocol.RunSubscribe{RunID: r.id, FromSeq: tipOf(log) + 1})
		if f := p.refusal(protocol.CodeBadFrame); !strings.Contains(f.Payload.Message, "another life") || f.Payload.RunID != r.id {
			t.Errorf("past the tip: %s", f.line)
		}
		p.send(fmt.Sprintf(`{"type":"run.subscribe","payload":{"run_id":%q,"from_seq":99999999999999999999}}`, r.id))
		p.refusal(protocol.CodeBadFrame)
		w.restart()
	}
}

// A connection that subscribes behind run.started and never had it gets it first, once.
//
// guarantee 2
func TestRunStartedComesFirstOnAConnectionThatNeverHadIt(t *testing.T) {
	w := newWorld(t, settings{})
	r := w.lay(100, 10, "a")[0]
	r.finish()
	w.restart()
	log := w.log("a")
	all := reference(t, log, r.id, 0)
	p := w.join("secret-all")
	for i := range 3 {
		want := text(reference(t, log, r.id, 50))
		if i == 0 {
			want = text(all[:1]) + want
		}
		if got := p.replay(r.id, 50); got != want {
			t.Errorf("the %d. time:\n%.300s\nwant\n%.300s", i+1, got, want)
		}
	}
}

// run.subscribe replaces this connection's stream of that run.
//
// guarantee 3
func TestSubscribingAgainWhileItStreamsNeverSkipsAndRepeatsOnlyWhatWasAskedFor(t *testing.T) {
	w := newWorld(t, settings{queue: 10_000}) // two reads when all is over
	w.create("a", "me")
	p, two := w.join("secret-all"), w.join("secret-all")
	w.model.Replies <- append(strings.Split(strings.Repeat("x", 1500), ""), strings.Split(strings.Repeat("y", 1500), "")...)
	run := p.start("a", "hi")
	var newest int64
	subscribes, turns := 0, 0
	contents := map[int64]string{}
	for n := 0; ; n++ {
		f := p.next()
		if f.Payload.RunID != run || f.Seq == 0 {
			continue
		}
		if f.Seq <= newest {
			turns++
		}
		newest = f.Seq
		if had, ok := contents[f.Seq]; ok && had != f.line {
			t.Fatalf("%d is %s and %s", f.Seq, had, f.line)
		}
		contents[f.Seq] = f.line
		if f.Type.Terminal() {
			break
		}
		if n%500 == 499 {
			p.say(protocol.RunSubscribe{RunID: run, FromSeq: newest})
			p.say(protocol.RunSubscribe{RunID: run, FromSeq: newest})
			subscribes++
		}
	}
	if turns > subscribes {
		t.Errorf("the numbers went back %d times behind %d subscribes", turns, subscribes)
	}
	for _, f := range reference(t, w.log("a"), run, 0) {
		if f.Seq != 0 && f.Type != protocol.TypeRunStarted && contents[f.Seq] != string(f.Line) {
			t.Errorf("%s: got %q", f.Line, contents[f.Seq])
		}
	}
	if got, want := two.toEnd(run), text(reference(t, w.log("a"), run, 0)); lines(got) != want {
		t.Error("the other connection was disturbed")
	}
}

// guarantee 3
func TestSubscribingToALiveRunGoesOnWithItLive(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	w.model.Replies <- []string{"one", wait, "two"}
	run := p.start("a", "hi")
	<-w.model.Reached
	f := p.of(protocol.TypeRunDelta)
	p.say(protocol.RunSubscribe{RunID: run, FromSeq: f.Seq}) // all there is
	if got := only(run, p.alive()); len(got) > 0 {
		t.Errorf("came %s", lines(got))
	}
	w.model.Resume <- struct{}{}
	if got, want := lines(p.toEnd(run)), text(reference(t, w.log("a"), run, f.Seq)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// No run starves another, and many replays at once are all served.
//
// guarantees 7 and 8
func TestAShortReplayIsNotHeldUpByALongOne(t *testing.T) {
	w := newWorld(t, settings{replay: 1_000_000, queue: 1_000_000})
	var names []string
	for i := range 3 * maxReplays {
		names = append(names, fmt.Sprintf("short-%d", i))
	}
	shorts := w.lay(5, 10, names...)
	long := w.lay(20_000, 50, "long")[0] // open, so the connection hears it unasked
	for i, name := range names {
		shorts[i].log = w.log(name)
		shorts[i].finish()
	}
	w.restart()
	long.log = w.log("long")
	p := w.join("secret-all")
	for _, r := range shorts {
		p.say(protocol.RunSubscribe{RunID: r.id})
	}
	over, deadline := 0, time.Now().Add(patience)
	all := p.until(func(f received) bool {
		switch {
		case f.Payload.RunID != long.id && f.Seq != 0 && f.Type.Terminal():
			if over++; over == len(shorts) {
				long.finish()
			}
		case time.Now().After(deadline):
			t.Fatalf("%d of %d short runs are through, and %d events of the long one were sent", over, len(shorts), f.Seq)
		case f.Payload.RunID == long.id && over < len(shorts) && f.Seq+10_000 > long.tip():
			long.stream(10_000, 50) // much of it is to be sent still, as long as that takes
		}
		return ended(long.id)(f)
	})
	if got, want := lines(only(long.id, all)), text(reference(t, long.log, long.id, 0)); got != want {
		t.Error("the long run is not what its log says")
	}
}

// count replays a run and returns its number of frames.
func (p *peer) count(run string) (n int) {
	p.t.Helper()
	for range strings.SplitSeq(p.replay(run, 0), "\n") {
		n++
	}
	return n
}

// However often a client that reads nothing asks, it waits once for each run.
//
// guarantee 7
func TestSubscribesOfAClientThatReadsNothingDoNotPileUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{narrow: true})
	var names []string
	for i := range maxReplays + 1 {
		names = append(names, fmt.Sprint("long-", i))
	}
	runs := w.lay(200, 5000, names...)
	for _, r := range runs {
		r.finish()
	}
	w.restart()
	p := w.join("secret-all")
	for _, r := range runs {
		p.say(protocol.RunSubscribe{RunID: r.id})
	}
	for range 200 {
		p.say(protocol.RunSubscribe{RunID: runs[maxReplays].id, FromSeq: 5})
	}
	c := w.only()
	most, opened := 0, 0
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		c.q.Lock()
		most, opened = max(most, len(c.waiting)), max(opened, c.replays)
		c.q.Unlock()
	}
	if most > len(runs) || opened > maxReplays {
		t.Errorf("%d streams waited to be opened, %d replayed", most, opened)
	}
	over := 0
	p.until(func(f received) bool {
		if f.Seq != 0 && f.Type.Terminal() {
			over++
		}
		return over == len(runs)
	})
}
