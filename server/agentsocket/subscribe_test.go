package agentsocket

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"hitchpost/server/follow"
)

// Agent Socket v1, hello: nothing streams until the client subscribes.
func TestNothingStreamsBeforeSubscribeEvenWhileATurnRuns(t *testing.T) {
	w := newWorld(t, settings{})
	p := w.join("a")
	p.send(`{"type":"inject","text":"go","wake":true}`)
	log := w.open("a")
	for deadline := time.Now().Add(patience); !strings.Contains(strings.Join(lines(t, log, 0), ""), "turn/end"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the turn has not ended")
		}
	}
	p.alive() // its answer is the very next frame
}

// Agent Socket v1, subscribe: from_seq is the first seq the client wants, inclusive;
// the server replays from there and then tails, with no gap and no duplicate.
func TestSubscribeReplaysFromItsSeqInclusiveAndThenTails(t *testing.T) {
	w := newWorld(t, settings{})
	log := w.open("a")
	fill(t, log, 1000, 100)
	for _, from := range []int64{0, 1, 500, 999, 1000, 1001} {
		p := w.join("a")
		p.send(subscribeFrom(from))
		for seq := from; seq <= 1000; seq++ {
			p.event(seq)
		}
		p.alive() // nothing more
	}
	p := w.join("a")
	p.send(subscribeFrom(900))
	for seq := int64(900); seq <= 1000; seq++ {
		p.event(seq)
	}
	fill(t, log, 1000, 100)
	for seq := int64(1001); seq <= 2000; seq++ {
		p.event(seq)
	}
}

// Agent Socket v1, session events: the durable envelope serialized as-is.
func TestReplayedAndLiveFramesAreTheStoredBytes(t *testing.T) {
	w := newWorld(t, settings{})
	log := w.open("a")
	live := w.join("a")
	live.send(subscribeFrom(0))
	fill(t, log, 700, 300)
	var seen []string
	for seq := int64(0); seq <= 700; seq++ {
		seen = append(seen, live.event(seq))
	}
	replayed := w.join("a")
	replayed.send(subscribeFrom(0))
	for seq, stored := range lines(t, log, 0) {
		if got := replayed.event(int64(seq)); got != stored || seen[seq] != stored {
			t.Fatalf("seq %d: live %s, replayed %s, stored %s", seq, seen[seq], got, stored)
		}
	}
}

func TestASubscribePastTheTipWaitsForThatSeq(t *testing.T) {
	w := newWorld(t, settings{})
	log := w.open("a")
	p := w.join("a")
	p.send(subscribeFrom(3))
	p.alive()
	fill(t, log, 2, 10)
	p.alive()
	fill(t, log, 2, 10)
	p.event(3)
	p.event(4)
	p.send(`{"type":"subscribe","from_seq":99999999999999999999999999}`)
	p.alive()
	fill(t, log, 2, 10)
	p.alive()
}

// Agent Socket v1, replay is capped: further back than replay_limit events behind
// the tip is pulled forward, and said before the window's first event.
func TestSubscribeAtTheExactLimitTruncatesNothing(t *testing.T) {
	w := newWorld(t, settings{replay: 100})
	log := w.open("a")
	fill(t, log, 1000, 10) // the tip is 1000
	p := w.join("a")
	for _, c := range []struct {
		from, start int64
		cut         bool
	}{{901, 901, false}, {900, 901, true}, {899, 901, true}, {0, 901, true}, {0, 901, true}, {1000, 1000, false}} {
		p.send(subscribeFrom(c.from))
		if c.cut {
			want := fmt.Sprintf(`{"type":"replay_truncated","requested_from_seq":%d,"from_seq":%d}`, c.from, c.start)
			if got := p.next(); got != want {
				t.Fatalf("from %d: %s, want %s", c.from, got, want)
			}
		}
		for seq := c.start; seq <= 1000; seq++ {
			p.event(seq)
		}
		p.alive()
	}
	fill(t, log, 3, 10)
	p.event(1001)
}

func TestAWindowIsFixedWhenItsSubscribeIsHandledAlsoIfItWaitsForASlot(t *testing.T) {
	w := newWorld(t, settings{replay: 100, slots: 1})
	log := w.open("a")
	fill(t, log, 1000, 10)
	release := holdSlot(t, w)
	p := w.join("a")
	p.send(subscribeFrom(0))
	if got, want := p.next(), `{"type":"replay_truncated","requested_from_seq":0,"from_seq":901}`; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	fill(t, log, 1500, 10) // the tip moves on meanwhile, further than what is kept in memory
	release()
	for seq := int64(901); seq <= 2500; seq++ {
		p.event(seq)
	}
}

// holdSlot takes a replay slot, as a slow read would.
func holdSlot(t *testing.T, w *world) (release func()) {
	t.Helper()
	release, err := w.slots.Take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// Agent Socket v1, concurrent replays: surplus connections are held open and served.
func TestAConnectionThatWaitsForASlotIsStillServed(t *testing.T) {
	w := newWorld(t, settings{slots: 1})
	log := w.open("a")
	fill(t, log, 500, 10)
	release := holdSlot(t, w)
	p := w.join("a")
	p.send(subscribeFrom(0))
	p.alive()
	p.send(`{"type":"set_policy","patterns":7}`)
	p.refusal(CodeBadFrame)
	release()
	for seq := int64(0); seq <= 500; seq++ {
		p.event(seq)
	}
}

// Agent Socket v1, concurrent replays: a slow client draining its replay never holds
// a slot away from another.
func TestAClientThatStopsReadingHoldsNoSlot(t *testing.T) {
	w := newWorld(t, settings{slots: 1, replay: 100_000})
	fill(t, w.open("a"), 1500, 10_000) // 15 MB
	stuck := w.join("a")
	stuck.send(subscribeFrom(0))
	stuck.event(0)
	log := w.open("b")
	fill(t, log, 3000, 100)
	for range 3 {
		p := w.join("b")
		p.send(subscribeFrom(0))
		for seq := int64(0); seq <= 3000; seq++ {
			p.event(seq)
		}
	}
}

func TestClientFramesAreAnsweredWhileAReplayDrains(t *testing.T) {
	w := newWorld(t, settings{replay: 100_000})
	fill(t, w.open("a"), 1500, 10_000)
	p := w.join("a")
	p.send(subscribeFrom(0))
	p.event(0)
	w.model.Replies <- []string{"an answer"}
	p.send(`{"type":"inject","text":"hi","wake":true}`)
	log := w.open("a")
	for deadline := time.Now().Add(patience); !strings.Contains(strings.Join(lines(t, log, 1501), ""), "an answer"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the inject has had no effect although the client only reads slowly")
		}
	}
	for seq := int64(1); seq <= 1500; seq++ {
		p.event(seq)
	}
	p.until("turn/end")
}

// Agent Socket v1, subscribe: subscribing again replaces the previous subscription.
func TestOfSeveralSubscribesInOneBurstTheLastWindowIsComplete(t *testing.T) {
	w := newWorld(t, settings{})
	log := w.open("a")
	fill(t, log, 2000, 200)
	p := w.join("a")
	p.send(subscribeFrom(0), subscribeFrom(1500), subscribeFrom(10), subscribeFrom(700), subscribeFrom(1234))
	fill(t, log, 100, 200)
	p.send(`{"type":"cancel"}`) // its answer stands behind whatever the old windows had
	var seqs []int64
	for marked := false; ; {
		if seq := seqOf(p.next()); seq < 0 {
			marked = true
		} else {
			seqs = append(seqs, seq)
		}
		if n := len(seqs); marked && n > 0 && seqs[n-1] == 2100 && wholeWindow(seqs, 1234) {
			return
		}
	}
}

// wholeWindow tells whether seqs ends with every seq from first on.
func wholeWindow(seqs []int64, first int64) bool {
	for i := len(seqs) - 1; i >= 0; i-- {
		if seqs[i] == first {
			return true
		}
		if i == 0 || seqs[i-1] != seqs[i]-1 {
			return false
		}
	}
	return false
}

// guarantee 5
func TestNothingOfAReplacedSubscriptionIsQueuedAfterTheNewOneIsHandled(t *testing.T) {
	w := newWorld(t, settings{})
	log := w.open("a")
	fill(t, log, 5000, 200)
	p := w.join("a")
	for tip := int64(5000); tip < 5050; tip++ {
		p.send(subscribeFrom(rand.Int64N(2000)), subscribeFrom(tip-10), `{"type":"cancel"}`)
		for seqOf(p.next()) >= 0 { // up to the answer, which was sent after the second was handled
		}
		fill(t, log, 1, 200)
		for seq := int64(-1); seq != tip+1; {
			if seq = seqOf(p.next()); seq < tip-10 {
				t.Fatalf("seq %d of the old window after the new subscribe, from %d, was handled", seq, tip-10)
			}
		}
	}
}

// Agent Socket v1, subscribe: exact, not best-effort, at any moment of a busy log.
func TestNoGapAndNoDuplicateWhileTheLogGrows(t *testing.T) {
	w := newWorld(t, settings{queue: 100_000, replay: 1_000_000})
	log := w.open("a")
	fill(t, log, 2000, 50)
	const total = 12_000
	var wg sync.WaitGroup
	wg.Go(func() {
		for tip := int64(2000); tip < total; tip, _ = log.Tip() {
			fill(t, log, min(1+rand.IntN(40), total-int(tip)), 50)
		}
	})
	p := w.join("a")
	next := int64(0)
	p.send(subscribeFrom(0))
	for next <= total {
		seq := seqOf(p.next())
		if seq != next {
			t.Fatalf("seq %d where %d was due", seq, next)
		}
		next++
		if next > 2 && rand.IntN(2000) == 0 {
			next -= 1 + rand.Int64N(min(next-1, 1000)) // behind what the old window still has
			p.send(subscribeFrom(next))
			for seqOf(p.next()) != next { // the client's rule: discard until seq == from_seq
			}
			next++
		}
	}
	wg.Wait()
}

func TestEventsOfOtherSessionsNeverAppear(t *testing.T) {
	w := newWorld(t, settings{queue: 10_000})
	a, b := w.open("a"), w.open("b")
	p := w.join("a")
	p.send(subscribeFrom(1))
	var wg sync.WaitGroup
	wg.Go(func() { fill(t, a, 500, 10) })
	wg.Go(func() { fill(t, b, 500, 10) })
	wg.Wait()
	for seq := int64(1); seq <= 500; seq++ {
		if text := p.event(seq); !strings.Contains(text, `"session_id":"a"`) {
			t.Fatal(text)
		}
	}
	p.alive()
}

// Agent Socket v1, backpressure: the client is dropped with lagged rather than
// allowed to stall the loop; recovery is one subscribe.
func TestALiveClientThatStopsReadingIsLaggedAndRecoversWithOneSubscribe(t *testing.T) {
	w := newWorld(t, settings{replay: 1_000_000})
	log := w.open("a")
	p := w.join("a")
	p.send(subscribeFrom(0))
	p.event(0)
	fill(t, log, 1500, 10_000) // 15 MB: more than the system's buffers hold
	last := int64(0)
	time.Sleep(4 * follow.LagPatience) // the client does something else; nothing tells when it counts as lagged
	frames, code := p.rest()
	for _, text := range frames[:len(frames)-1] {
		if seq := seqOf(text); seq != last+1 {
			t.Fatalf("seq %d after %d", seq, last)
		}
		last++
	}
	if farewell := frames[len(frames)-1]; !strings.HasPrefix(farewell, `{"type":"error","code":"lagged","message":"`) {
		t.Errorf("the last frame is %.200s", farewell)
	}
	if code != websocket.StatusTryAgainLater || last >= 1500 {
		t.Errorf("close code %d after seq %d, want 1013 before 1500", code, last)
	}
	p = w.join("a")
	p.send(subscribeFrom(last + 1))
	for seq := last + 1; seq <= 1500; seq++ {
		p.event(seq)
	}
}

func TestAClientThatReadsIsNotLaggedByABurst(t *testing.T) {
	w := newWorld(t, settings{queue: 5})
	log := w.open("a")
	p := w.join("a")
	p.send(subscribeFrom(1))
	seq := int64(1)
	for range 20 {
		fill(t, log, 300, 100)
		for end := seq + 300; seq < end; seq++ {
			p.event(seq)
		}
	}
	p.alive()
}

// Agent Socket v1, backpressure: a long log never looks like a slow reader.
func TestAClientThatReadsItsReplaySlowlyIsNotLaggedHoweverBusyTheAgentIs(t *testing.T) {
	w := newWorld(t, settings{queue: 1, replay: 100_000})
	log := w.open("a")
	fill(t, log, 1500, 10_000)
	p := w.join("a")
	p.send(subscribeFrom(0))
	for seq := int64(0); seq <= 1500; seq++ {
		p.event(seq)
		if seq == 400 || seq == 1200 {
			fill(t, log, 500, 10)
			time.Sleep(follow.LagPatience + 200*time.Millisecond)
		}
	}
	for seq := int64(1501); seq <= 2500; seq++ {
		p.event(seq)
	}
}

// The system's buffers swallow a replay whole; the client has it only as it reads.
func TestAReplayThatFitsIntoTheSystemsBuffersIsAReplayUntilItIsRead(t *testing.T) {
	w := newWorld(t, settings{queue: 1})
	log := w.open("a")
	fill(t, log, 5000, 200)
	p := w.join("a")
	p.send(subscribeFrom(0))
	p.event(0)
	for range 10 {
		fill(t, log, 1000, 1000) // 10 MB, more than the buffers hold
	}
	time.Sleep(2 * follow.LagPatience)
	for seq := int64(1); seq <= 15_000; seq++ {
		p.event(seq)
	}
}

// Agent Socket v1, internal: an unexpected error closes; others are not affected.
func TestALogThatCannotBeReadEndsItsConnectionAsInternal(t *testing.T) {
	w := newWorld(t, settings{})
	fill(t, w.open("a"), 500, 10)
	p, other := w.join("a"), w.join("b")
	w.store.Close()
	p.send(subscribeFrom(0))
	p.ended(CodeInternal, websocket.StatusInternalError)
	other.send(`{"type":"subscribe"}`)
	other.refusal(CodeBadFrame)
}
