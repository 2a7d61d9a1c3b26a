package agentsocket

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"hitchpost/server/wsconn"
)

// Agent Socket v1: one connection per agent. A second one supersedes the first.
func TestASecondConnectionSupersedesTheFirst(t *testing.T) {
	w := newWorld(t, settings{})
	first := w.join("a")
	second := w.join("a")
	first.ended(CodeSuperseded, websocket.StatusPolicyViolation)
	second.alive()
	bystander := w.join("b")
	bystander.alive()
}

// Agent Socket v1: a half-open connection must not block reconnection.
func TestAConnectionThatTakesNothingIsSupersededAtOnce(t *testing.T) {
	w := newWorld(t, settings{})
	log := w.open("a")
	fill(t, log, 200, 100_000) // more than the system's buffers hold
	stuck := w.join("a")
	stuck.send(subscribeFrom(0))
	stuck.event(0) // and reads no more
	start := time.Now()
	next := w.join("a")
	if took := time.Since(start); took >= wsconn.WriteStall { // the first was waited for
		t.Errorf("hello came after %v", took)
	}
	next.send(subscribeFrom(200))
	next.event(200)
	stuck.ws.Write(context.Background(), websocket.MessageText, []byte(`{"type":"inject","text":"from the grave","wake":true}`))
	next.alive()
	if tip, _ := log.Tip(); tip != 200 {
		t.Errorf("tip = %d: a frame of a superseded connection had an effect", tip)
	}
}

func TestOfManyConnectionsAtOnceOneIsLeft(t *testing.T) {
	w := newWorld(t, settings{})
	const n = 30
	peers := map[*peer]bool{}
	lost, answered := make(chan *peer, n), make(chan string)
	var dialed sync.WaitGroup
	var mu sync.Mutex
	for range n {
		dialed.Go(func() {
			p := w.dial("a", "secret-all")
			mu.Lock()
			peers[p] = true
			mu.Unlock()
			go func() {
				var frames []string
				text, err := p.read()
				for ; err == nil && !strings.Contains(text, string(CodeNotRunning)); text, err = p.read() {
					frames = append(frames, text)
				}
				if err == nil {
					answered <- text
				} else if len(frames) == 0 || len(frames) > 2 || !strings.Contains(frames[len(frames)-1], `"superseded"`) {
					t.Errorf("a connection that lost got %q", frames)
				}
				lost <- p
			}()
		})
	}
	dialed.Wait()
	for range n - 1 {
		delete(peers, <-lost)
	}
	for left := range peers {
		left.send(`{"type":"cancel"}`)
		<-answered // a connection that lost could not
	}
}
