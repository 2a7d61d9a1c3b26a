package runwire

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"hitchpost/server/protocol"
	"hitchpost/turn"
	"hitchpost/turn/model"
)

// fewer is n, and few where each costs ten times as much: the race detector looks for
// races, which many of them would not show the better.
func fewer(n, few int) int {
	if testing.Short() || raceDetector {
		return few
	}
	return n
}

const lanes = 50 // sessions, so that no history grows long

// contest is one run that a cancel and something else race for, as its session's owner
// drives it over two connections.
type contest struct {
	*world
	hand, rival *peer
	runs        []string
	sessions    map[string]string // of each run
}

// Exactly one terminal frame a run; nothing numbered of that run follows it: 1,000 races
// of a cancel against the end and against a verdict, as a client that watches sees them.
//
// guarantee 2
func TestExactlyOneTerminalFrameComesOfEachRunWhoeverRacesForItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings{})
	eye := w.join("secret-all")
	c := &contest{world: w, hand: w.join("secret-all"), rival: w.join("secret-all"), sessions: map[string]string{}}
	w.model.Answer = func(req model.Request) []string { // also of a request that nobody waits for any more
		switch last := req.Messages[len(req.Messages)-1]; {
		case last.Text == "park":
			return []string{"x", ask}
		case last.Text == "pause":
			return []string{"x", wait, "y"}
		}
		return []string{"z"}
	}
	for i := range lanes {
		w.create(fmt.Sprint("s", i), "me")
	}
	var all sync.WaitGroup
	defer all.Wait()
	defer c.rival.ws.CloseNow()
	all.Go(func() { // what it hears is the eye's to judge
		for _, err := c.rival.read(); err == nil; _, err = c.rival.read() {
		}
	})
	heard := make(chan []received, 1)
	rounds := fewer(1000, 100)
	all.Go(func() {
		ends, over := 0, false
		frames := eye.until(func(f received) bool { // broadcasts have no order among the frames of runs
			if f.Seq != 0 && f.Type.Terminal() {
				ends++
			}
			over = over || f.Payload.Title == theEnd
			return over && ends >= rounds
		})
		heard <- append(frames, eye.alive()...)
	})
	for round := range rounds {
		c.race(round)
	}
	w.settle("s0")
	w.do("s0", func(ctx context.Context, a *turn.Agent) error { return a.Amend(ctx, new(theEnd), nil) })
	c.judge(<-heard)
}

// race starts a run, lets a cancel and its rival go at once, and waits for the end.
func (c *contest) race(round int) {
	c.t.Helper()
	session := fmt.Sprint("s", round%lanes)
	parks, mode := round%2 == 0, protocol.Mode([]string{"", "graceful"}[round/2%2])
	run := c.hand.start(session, map[bool]string{true: "park", false: "pause"}[parks])
	c.runs = append(c.runs, run)
	c.sessions[run] = session
	if parks {
		c.hand.until(func(f received) bool { return f.Type == protocol.TypeRunInterrupted && f.Payload.RunID == run })
	} else {
		<-c.model.Reached
	}
	over := make(chan struct{})
	begin := make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		<-begin
		c.hand.say(protocol.RunCancel{RunID: run, Mode: mode})
	})
	both.Go(func() {
		<-begin
		if parks {
			c.rival.say(protocol.ToolApprove{ToolCallID: "c1", RunID: run})
			return
		}
		select {
		case c.model.Resume <- struct{}{}:
		case <-over: // the cancel had cut the answer
		}
	})
	close(begin)
	c.hand.until(ended(run))
	close(over)
	both.Wait()
}

// judge holds what one connection heard of every run.
func (c *contest) judge(heard []received) {
	c.t.Helper()
	ends := map[string]int{}
	outcomes := map[protocol.ServerType]int{}
	of := map[string][]received{}
	for _, f := range heard {
		run := f.Payload.RunID
		if run == "" {
			continue
		}
		if ends[run] > 0 {
			c.t.Errorf("behind the end of its run came %s", f.line)
		}
		if f.Seq != 0 && f.Type.Terminal() {
			ends[run]++
			outcomes[f.Type]++
		}
		of[run] = append(of[run], f)
	}
	for _, run := range c.runs {
		if ends[run] != 1 {
			c.t.Errorf("run %s has %d terminal frames", run, ends[run])
		}
		if got, want := lines(of[run]), text(reference(c.t, c.log(c.sessions[run]), run, 0)); got != want {
			c.t.Fatalf("of run %s came\n%swant\n%s", run, got, want)
		}
	}
	c.t.Logf("%d races ended in %v", len(c.runs), outcomes)
}
