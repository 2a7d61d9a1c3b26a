package wsconn_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"hitchpost/server/wsconn"
)

const heartbeat = 20 * time.Second

// Agent Socket v1, heartbeat: the server sends ping frames on an interval.
func TestHeartbeatKeepsItsInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pings atomic.Int32
		ws, _, _ := pipes(t, wsconn.NewGroup(heartbeat)).connect(t, websocket.DialOptions{
			OnPingReceived: func(context.Context, []byte) bool { pings.Add(1); return true },
		})
		go readAll(ws)
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if n := pings.Load(); n != 3 {
			t.Errorf("pings in 61s = %d, want 3", n)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := pings.Load(); n != 183 {
			t.Errorf("pings in 61m1s = %d, want 183", n)
		}
	})
}

func TestAPeerThatAnswersNoPingForThreeHeartbeatsIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, _, e := pipes(t, wsconn.NewGroup(heartbeat)).connect(t, websocket.DialOptions{
			OnPingReceived: func(context.Context, []byte) bool { return false },
		})
		code := make(chan websocket.StatusCode, 1)
		go func() { _, c := readAll(ws); code <- c }()
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if cause := e.conn.Cause(); cause != nil {
			t.Fatalf("ended after 61s: %v", cause)
		}
		time.Sleep(heartbeat)
		synctest.Wait()
		if cause := e.conn.Cause(); cause != wsconn.Silent {
			t.Fatalf("cause after 81s = %v, want %v", cause, wsconn.Silent)
		}
		if c := <-code; c != websocket.StatusTryAgainLater {
			t.Errorf("close code = %d", c)
		}
	})
}

// guarantee 6
func TestAPeerThatReadsSlowlyIsNotJudgedByItsPongs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, _, e := pipes(t, wsconn.NewGroup(heartbeat)).connect(t, websocket.DialOptions{
			OnPingReceived: func(context.Context, []byte) bool { return false },
		})
		const frames = 100
		for range frames {
			e.put(bytes.Repeat([]byte("x"), 10_000))
		}
		for range frames {
			time.Sleep(25 * time.Second) // 42 minutes in all
			if _, _, err := ws.Read(t.Context()); err != nil {
				t.Fatalf("the connection ended (%v): %v", e.conn.Cause(), err)
			}
		}
	})
}

// What was written a moment ago may lie in the system's buffers, the ping behind it.
func TestAPeerThatHasMuchToReadIsGivenTimeForItsPong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, _, e := pipes(t, wsconn.NewGroup(heartbeat)).connect(t, websocket.DialOptions{
			OnPingReceived: func(context.Context, []byte) bool { return false },
		})
		go readAll(ws)
		e.put(make([]byte, 100*wsconn.DrainRate)) // 100 seconds at the slowest
		time.Sleep(170 * time.Second)
		synctest.Wait()
		if cause := e.conn.Cause(); cause != nil {
			t.Errorf("ended after 170s: %v", cause)
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if cause := e.conn.Cause(); cause != wsconn.Silent {
			t.Errorf("cause after 190s = %v, want %v", cause, wsconn.Silent)
		}
	})
}

// guarantee 6
func TestAPeerThatTakesNothingEndsAfterTheWriteStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, e := pipes(t, wsconn.NewGroup(heartbeat)).connect(t, websocket.DialOptions{}) // reads nothing
		start := time.Now()
		e.put(bytes.Repeat([]byte("x"), 10_000))
		if cause := <-e.ended; cause != wsconn.WriteStalled {
			t.Errorf("cause = %v, want %v", cause, wsconn.WriteStalled)
		}
		if took := time.Since(start); took < wsconn.WriteStall || took > wsconn.WriteStall+2*time.Second {
			t.Errorf("ended after %v, want about %v", took, wsconn.WriteStall)
		}
	})
}

// guarantee 2
func TestASilentPeerDoesNotHoldUpTheClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, raw, e := pipes(t, wsconn.NewGroup(heartbeat)).connect(t, websocket.DialOptions{})
		start := time.Now()
		e.conn.End(wsconn.Superseded, []byte("farewell"))
		_, p, err := ws.Read(t.Context())
		if err != nil || string(p) != "farewell" {
			t.Fatalf("read %q, %v", p, err)
		}
		// It takes the close frame and says something, but never answers it.
		go io.Copy(io.Discard, raw)
		if err := ws.Write(t.Context(), websocket.MessageText, []byte("wait, what?")); err != nil {
			t.Fatal(err)
		}
		<-e.ended
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("the end took %v", took)
		}
	})
}

// guarantee 2
func TestAPeerThatReadsAgainFindsThatItLagged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, _, e := pipes(t, wsconn.NewGroup(heartbeat)).connect(t, websocket.DialOptions{})
		for range 100 {
			e.put(bytes.Repeat([]byte("x"), 10_000))
		}
		time.Sleep(5 * time.Second)
		e.conn.Send([]byte("an answer that waits"))
		e.conn.End(wsconn.Lagged, []byte("lagged"))
		time.Sleep(20 * time.Second)
		texts, code := readAll(ws)
		if n := len(texts); n == 0 || n > 10 || texts[n-1] != "lagged" || slices.Contains(texts, "an answer that waits") {
			t.Errorf("%d frames, want what was under way and then the farewell", n)
		}
		if code != websocket.StatusTryAgainLater {
			t.Errorf("close code = %d, want 1013", code)
		}
		<-e.ended
	})
}

// guarantee 5
func TestAMessageThatIsNeverFinishedEndsItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, raw, e := pipes(t, wsconn.NewGroup(heartbeat)).connect(t, websocket.DialOptions{
			OnPingReceived: func(context.Context, []byte) bool { return false }, // no pong into the half message
		})
		codes := make(chan websocket.StatusCode, 1)
		go func() { _, code := readAll(ws); codes <- code }()
		start := time.Now()
		raw.Write([]byte{0x81, 0xfe, 0x10, 0x00, 0, 0, 0, 0}) // 4,096 bytes are to come
		for range 59 {                                        // progress, but not enough of it
			time.Sleep(time.Second)
			raw.Write([]byte("a"))
		}
		if cause := <-e.ended; cause != wsconn.Unfinished {
			t.Errorf("cause = %v, want %v", cause, wsconn.Unfinished)
		}
		if took := time.Since(start); took < wsconn.MessageTimeout || took > wsconn.MessageTimeout+2*time.Second {
			t.Errorf("ended after %v, want about %v", took, wsconn.MessageTimeout)
		}
		if code := <-codes; code != websocket.StatusProtocolError {
			t.Errorf("close code = %d, want 1002", code)
		}
	})
}

// guarantee 3
func TestEndReturnsAtOnceWhileAWriteIsBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, e := pipes(t, wsconn.NewGroup(heartbeat)).connect(t, websocket.DialOptions{})
		e.put(bytes.Repeat([]byte("x"), 1<<20))
		synctest.Wait() // the pump is blocked
		start := time.Now()
		e.conn.Kick()
		e.conn.Ping()
		e.conn.End(wsconn.Superseded, []byte("farewell"))
		if took := time.Since(start); took != 0 {
			t.Errorf("Kick, Ping and End took %v", took)
		}
		if cause := <-e.ended; cause != wsconn.Superseded {
			t.Errorf("cause = %v", cause)
		}
		if took := time.Since(start); took > wsconn.WriteStall+2*time.Second {
			t.Errorf("the end took %v", took)
		}
	})
}

// A client that asks and never takes the answers is read no further than its
// answers have room, and ends by the write deadline.
func TestAPeerThatTakesNoAnswersIsNotReadForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, e := pipes(t, wsconn.NewGroup(heartbeat)).connect(t, websocket.DialOptions{})
		sent := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 1000 { // as the reader's goroutine would
				e.conn.Send(make([]byte, 10_000))
				if e.conn.Cause() == nil {
					sent++
				}
			}
		}()
		if cause := <-e.ended; cause != wsconn.WriteStalled {
			t.Errorf("cause = %v, want %v", cause, wsconn.WriteStalled)
		}
		<-done
		if sent > 100 {
			t.Errorf("%d answers of 10 kB were queued for a peer that takes none", sent)
		}
	})
}

// What left us may lie in the system's buffers for long; a probe tells.
func TestAProbeArrivesWhenThePeerHasReadWhatWasBeforeIt(t *testing.T) {
	g := wsconn.NewGroup(50 * time.Millisecond) // whose pongs are no answers to a probe
	ws, _, e := sockets(t, g).connect(t, websocket.DialOptions{})
	arrived := make(chan struct{})
	const frames = 20
	e.mu.Lock()
	for range frames {
		e.queue = append(e.queue, make([]byte, 10_000)) // all of it fits into the buffers
	}
	e.probe = func() { close(arrived) }
	e.mu.Unlock()
	e.conn.Kick()
	for range frames - 1 {
		if _, _, err := ws.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(200 * time.Millisecond)
	select {
	case <-arrived:
		t.Error("the probe arrived before the last frame was read")
	default:
	}
	go readAll(ws)
	<-arrived
}
