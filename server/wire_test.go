package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"hitchpost/server/protocol"
)

// runWire is a client of the run wire.
type runWire struct {
	t  *testing.T
	ws *websocket.Conn
}

// wireFrame is a frame of it, as far as these tests look at one.
type wireFrame struct {
	Type    protocol.ServerType
	Seq     int64
	Payload struct {
		RunID     string `json:"run_id"`
		SessionID string `json:"session_id"`
		EntryID   string `json:"entry_id"`
		Delta     string
		Status    protocol.SessionStatus
		Pending   []protocol.PendingCall
		Code      protocol.Code
		Entry     json.RawMessage
	}
	raw string
}

func (s *running) runWire(token string) *runWire {
	s.t.Helper()
	ws, _, err := websocket.Dial(context.Background(), "ws://"+s.listen+"/ws", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	ws.SetReadLimit(-1)
	s.t.Cleanup(func() { ws.CloseNow() })
	w := &runWire{s.t, ws}
	w.send(`{"type":"auth","token":"` + token + `"}`)
	if f := w.until(func(wireFrame) bool { return true }); f[0].Type != protocol.TypeAuthOK {
		s.t.Fatalf("the first frame is %+v", f[0])
	}
	return w
}

func (w *runWire) send(frame string) {
	w.t.Helper()
	if err := w.ws.Write(context.Background(), websocket.MessageText, []byte(frame)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *runWire) read() (f wireFrame, err error) {
	ctx, done := context.WithTimeout(context.Background(), time.Minute)
	defer done()
	_, text, err := w.ws.Read(ctx)
	if err == nil {
		f.raw = string(text)
		err = json.Unmarshal(text, &f)
	}
	return f, err
}

func (w *runWire) until(it func(wireFrame) bool) (all []wireFrame) {
	w.t.Helper()
	for {
		f, err := w.read()
		if err != nil {
			w.t.Fatal(err)
		}
		if all = append(all, f); it(f) {
			return all
		}
	}
}

func over(f wireFrame) bool { return f.Seq != 0 && f.Type.Terminal() }

// TestARunIsFollowedOverTheRunWireThroughAKill: who comes back with a cursor has every
// frame once, and each entry is what REST says of it, byte for byte.
func TestARunIsFollowedOverTheRunWireThroughAKill(t *testing.T) {
	p := newPlace(t, "")
	s := p.serve()
	s.ask(secret, "POST", "/api/v1/sessions", `{"id":"main"}`)
	w := s.runWire(secret)
	w.send(`{"type":"run.create","payload":{"session_id":"main","input":"think 2000"}}`)
	deltas := 0
	all := w.until(func(f wireFrame) bool {
		if f.Type == protocol.TypeRunDelta {
			deltas++
		}
		return deltas == 20
	})
	run := all[len(all)-1].Payload.RunID
	s.kill()
	s = p.serve()
	w = s.runWire(secret)
	w.send(`{"type":"run.create","payload":{"session_id":"main","input":"and go on"}}`)
	all = w.until(over)
	if last := all[len(all)-1]; last.Payload.RunID != run || last.Type != protocol.TypeRunOutput {
		t.Errorf("ended with %+v", last)
	}
	_, body := s.ask(secret, "GET", "/api/v1/sessions/main/messages", "")
	var history []json.RawMessage
	if err := json.Unmarshal([]byte(body), &history); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range all {
		if f.Type != protocol.TypeRunEntry {
			continue
		}
		if n == len(history) || string(history[n]) != string(f.Payload.Entry) {
			t.Fatalf("entry %d is %s, REST has %d entries", n, f.Payload.Entry, len(history))
		}
		n++
	}
	if n != len(history) || n < 3 {
		t.Errorf("%d entries came, REST has %d", n, len(history))
	}
}

// TestAReloadAndADrainReachTheRunWire: a token that is taken away closes 1008, a stop 1001.
func TestAReloadAndADrainReachTheRunWire(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGHUP on Windows")
	}
	const another = "another-secret-token-0123456789"
	p := newPlace(t, "")
	p.configure("", secret, another)
	s := p.serve()
	gone, stays := s.runWire(another), s.runWire(secret)
	p.configure("", secret)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if code := gone.end(); code != websocket.StatusPolicyViolation {
		t.Errorf("the token that was taken away: close %d", code)
	}
	ended := make(chan websocket.StatusCode, 1)
	go func() { ended <- stays.end() }()
	if code := s.term(); code != 0 {
		t.Errorf("the server left with %d", code)
	}
	if code := <-ended; code != websocket.StatusGoingAway {
		t.Errorf("the stop: close %d", code)
	}
}

// end reads to the close and returns its code.
func (w *runWire) end() websocket.StatusCode {
	for {
		if _, err := w.read(); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

// TestTheRunWiresDoorCountsWrongTokensWithREST: one count for every surface.
func TestTheRunWiresDoorCountsWrongTokensWithREST(t *testing.T) {
	p := newPlace(t, "")
	s := p.serve()
	for range 10 {
		if status, _ := s.ask(strings.Repeat("wrong", 5), "GET", "/api/v1/sessions", ""); status != http.StatusUnauthorized {
			t.Fatalf("a wrong token: %d", status)
		}
	}
	_, answer, err := websocket.Dial(context.Background(), "ws://"+s.listen+"/ws", nil)
	if err == nil || answer.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the run wire: %v, %v; want 429", answer, err)
	}
	if status, _ := s.ask(secret, "GET", "/api/v1/sessions", ""); status != http.StatusOK {
		t.Errorf("a right token over REST: %d", status)
	}
}
