package runwire

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"hitchpost/server/protocol"
)

// Clients that drop and come back at random moments, with the cursor they have, all end
// with the same frames, and the end of the run reaches each.
//
// guarantees 2 and 3
func TestClientsThatComeAndGoEndWithWhatTheLogSays(t *testing.T) {
	w := newWorld(t, settings{replay: 100, queue: 50})
	w.create("a", "me")
	w.model.Replies <- append(slices.Repeat([]string{"piece "}, 2000), look)
	w.model.Replies <- slices.Repeat([]string{"more "}, 500)
	first := w.join("secret-all")
	run := first.start("a", "hi")
	var clients sync.WaitGroup
	seen := make([]map[int64]string, fewer(12, 4))
	for i := range seen {
		seen[i] = map[int64]string{}
		clients.Go(func() { w.wander(run, seen[i]) })
	}
	clients.Wait()
	for _, f := range reference(t, w.log("a"), run, 0) {
		for i, had := range seen {
			if f.Seq != 0 && had[f.Seq] != string(f.Line) {
				t.Fatalf("client %d has %q in place of %s", i, had[f.Seq], f.Line)
			}
		}
	}
}

// wander follows a run to its end over connections that last for a few frames each.
func (w *world) wander(run string, had map[int64]string) {
	cursor := int64(0)
	for over := false; !over; {
		p := w.join("secret-all")
		p.say(protocol.RunSubscribe{RunID: run, FromSeq: cursor})
		hole := false
		for n := rand.IntN(600); n > 0 && !over; n-- {
			f, err := p.read()
			if err != nil {
				break
			}
			switch {
			case f.Payload.RunID != run:
				continue
			case f.Type == protocol.TypeRunGap: // of the stream that the connection began with, or a true one
				hole = f.Payload.Next > cursor+1
			case f.Type == protocol.TypeRunError && f.Seq == 0:
				w.t.Errorf("refused: %s", f.line)
			case f.Seq == 0:
				continue
			}
			if f.Seq == 0 {
				continue
			}
			if old, ok := had[f.Seq]; ok && old != f.line {
				w.t.Errorf("%d was %s and is %s", f.Seq, old, f.line)
			}
			had[f.Seq] = f.line
			if hole && f.Seq > cursor && !strings.Contains(f.line, `"run.started"`) {
				break // ask again for what is missing
			}
			cursor = max(cursor, f.Seq)
			over = f.Type.Terminal()
		}
		p.ws.CloseNow()
	}
}
