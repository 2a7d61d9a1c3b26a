package runwire

import (
	"strings"
	"testing"
	"time"

	"hitchpost/server/project"
	"hitchpost/store"
	"hitchpost/turn/event"
)

// guarantees 2 and 11
func TestConnectionsOfARunAreSentTheSameLargeFramesAndNothingStaysBehind(t *testing.T) {
	w := newWorld(t, settings{})
	r := w.lay(3, 20, "a")[0]
	peers := []*peer{w.join("secret-all"), w.join("secret-all"), w.join("secret-eye")}
	r.append(encoded(t, event.MessageID(r.step), event.AssistantMessage{Parts: []event.Part{{Type: event.PartText, Text: strings.Repeat("<é>", 1<<20)}}}))
	w.untilPast(r, len(peers))
	w.server.shelf.mu.Lock()
	if n := len(w.server.shelf.groups); n != 1 {
		t.Errorf("%d groups are kept for one large answer", n)
	}
	w.server.shelf.mu.Unlock()
	r.append(encoded(t, event.NewID(), event.StepEnd{N: 1}), encoded(t, event.NewID(), event.TurnEnd{Status: event.Completed}))
	want := text(reference(t, r.log, r.id, 0))
	for i, p := range peers {
		if got := lines(p.toEnd(r.id)); got != want {
			t.Errorf("connection %d was sent %d bytes of frames, want %d", i, len(got), len(want))
		}
	}
	w.stop()
	if s := &w.server.shelf; len(s.groups) > 0 || len(s.streams) > 0 {
		t.Errorf("%d groups and %d logs stay behind", len(s.groups), len(s.streams))
	}
	w.start()
}

// guarantee 11
func TestTheLargeFramesThatAreKeptAreBounded(t *testing.T) {
	var s shelf
	a, b := &store.Log{}, &store.Log{}
	s.enter(a)
	s.enter(a)
	s.enter(b)
	makes := 0
	get := func(log *store.Log, seq int64, size int) {
		t.Helper()
		got := s.frames(log, seq, func() []project.Frame {
			makes++
			return []project.Frame{{Seq: seq, Line: make([]byte, size)}}
		})
		if len(got) != 1 || got[0].Seq != seq || len(got[0].Line) != size {
			t.Errorf("frames of %d: %d of them", seq, len(got))
		}
	}
	get(a, 1, shelfBytes/2)
	get(b, 1, shelfBytes/2)
	get(a, 1, shelfBytes/2)
	if makes != 2 {
		t.Errorf("two events were made %d times", makes)
	}
	get(b, 2, 2*shelfBytes) // the newest is kept whatever it takes
	if len(s.groups) != 1 || s.groups[0].seq != 2 {
		t.Errorf("%d groups are kept", len(s.groups))
	}
	get(a, 1, shelfBytes/2)
	s.leave(a)
	if get(a, 1, shelfBytes/2); makes != 4 {
		t.Errorf("a log that is followed still lost its frames: made %d times", makes)
	}
	s.leave(a)
	if s.leave(b); len(s.groups)+len(s.streams) > 0 {
		t.Errorf("nobody follows, and %d groups are kept", len(s.groups))
	}
}

// untilPast waits until n connections have projected all of the run's log.
func (w *world) untilPast(r *laid, n int) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		past := 0
		for _, c := range w.server.hub.listeners("me", r.log.Session()) {
			c.mu.Lock()
			c.q.Lock()
			s := c.streams[r.id]
			c.q.Unlock()
			if s != nil && s.next > r.tip() {
				past++
			}
			c.mu.Unlock()
		}
		if past == n {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%d of %d connections have the answer before them", past, n)
		}
	}
}
