package agentsocket

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"hitchpost/server/wsconn"
)

// Agent Socket v1, liveness: a dropped connection never cancels a turn.
func TestADroppedConnectionNeverCancelsATurn(t *testing.T) {
	w := newWorld(t, settings{})
	w.model.Replies <- []string{"a", wait, "b"}
	p := w.join("a")
	p.send(subscribeFrom(0), `{"type":"inject","text":"go","wake":true}`)
	<-w.model.Reached
	p.ws.CloseNow()
	for w.group.Len() > 0 {
		time.Sleep(time.Millisecond)
	}
	w.model.Resume <- struct{}{}
	p = w.join("a")
	p.send(subscribeFrom(1))
	types := p.until("turn/end")
	if n := strings.Count(strings.Join(types, " "), "assistant/chunk"); n != 2 {
		t.Errorf("events %v, want both chunks", types)
	}
}

func TestSupersedeDoesNotTouchTheAgent(t *testing.T) {
	w := newWorld(t, settings{})
	w.model.Replies <- []string{"a", wait, "b"}
	p := w.join("a")
	p.send(`{"type":"inject","text":"go","wake":true}`)
	<-w.model.Reached
	p = w.join("a")
	w.model.Resume <- struct{}{}
	p.send(subscribeFrom(1))
	if types := p.until("turn/end"); slices.Contains(types, "assistant/interrupted") {
		t.Errorf("events %v", types)
	}
}

// Agent Socket v1, server to client: session events have seq, protocol frames never do.
func TestEveryFrameIsAnEventWithSeqOrAProtocolFrameWithout(t *testing.T) {
	w := newWorld(t, settings{replay: 2})
	fill(t, w.open("a"), 5, 10)
	p := w.dial("a", "secret-all")
	p.send(`{"type":"nonsense"}`, subscribeFrom(0))
	for range 5 {
		text := p.next()
		protocol := strings.HasPrefix(text, `{"type":"`)
		event := strings.HasPrefix(text, `{"id":"`) && strings.Contains(text, `,"seq":`)
		if protocol == event || protocol && strings.Contains(text, `"seq"`) {
			t.Errorf("neither or both: %s", text)
		}
	}
}

// Agent Socket v1, heartbeat: ping frames on an interval.
func TestAnIdleConnectionIsPinged(t *testing.T) {
	w := newWorld(t, settings{heartbeat: 50 * time.Millisecond})
	pings := make(chan struct{}, 100)
	ws, _, err := websocket.Dial(context.Background(), w.address("a"), &websocket.DialOptions{
		HTTPHeader:     map[string][]string{"Authorization": {"Bearer secret-all"}},
		OnPingReceived: func(context.Context, []byte) bool { pings <- struct{}{}; return true },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	p := &peer{t, ws}
	go p.rest()
	for range wsconn.MissedPings { // so many come, whenever they are answered
		<-pings
	}
}
