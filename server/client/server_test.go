package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestMain fails the package when an Agent left a goroutine behind (guarantee 7).
func TestMain(m *testing.M) {
	code := m.Run()
	deadline := time.Now().Add(30 * time.Second)
	for code == 0 {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		if !strings.Contains(string(stacks), "client.(*Agent)") {
			break
		}
		if time.Now().After(deadline) {
			fmt.Fprintf(os.Stderr, "goroutines of agents are left:\n%s\n", stacks)
			code = 1
		}
		runtime.Gosched()
	}
	os.Exit(code)
}

// patience bounds what a test waits for; reaching it is a failure.
const patience = time.Minute

// peer is the server's end of one connection, in the hands of a script.
type peer struct {
	t    *testing.T
	conn *websocket.Conn
}

// server runs one script a connection, in order. A connection beyond the scripts
// fails the test.
type server struct {
	*httptest.Server
	connections atomic.Int32
}

func newServer(t *testing.T, scripts ...func(*peer)) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(s.connections.Add(1))
		if n > len(scripts) {
			t.Errorf("connection %d was not expected", n)
			http.Error(w, "not expected", http.StatusNotFound)
			return
		}
		if r.URL.Path != "/agents/main/ws" || r.Header.Get("Authorization") != "Bearer s3cret" {
			t.Errorf("request for %s with %q", r.URL.Path, r.Header.Get("Authorization"))
		}
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"hitchpost.v1"}})
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		if conn.Subprotocol() != "hitchpost.v1" {
			t.Errorf("subprotocol %q", conn.Subprotocol())
		}
		conn.SetReadLimit(-1)
		scripts[n-1](&peer{t, conn})
	}))
	t.Cleanup(s.Close)
	return s
}

func (p *peer) send(text string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		p.t.Errorf("script cannot write: %v", err)
	}
}

func (p *peer) hello(last int, log string) {
	p.send(fmt.Sprintf(`{"type":"hello","proto":1,"session_id":"main","last_seq":%d,"first_seq":0,"log_id":%q,"status":"idle","pending":[],"replay_limit":10000}`, last, log))
}

func line(seq int) string {
	return fmt.Sprintf(`{"id":"%016x","session_id":"main","seq":%d,"at":"2026-08-18T04:10:11.123456Z","type":"assistant/chunk","payload":{"text":"<%d>"}}`, seq, seq, seq)
}

// events sends the events from..to, inclusive.
func (p *peer) events(from, to int) {
	for seq := from; seq <= to; seq++ {
		p.send(line(seq))
	}
}

func (p *peer) message(seq int, kind, inputID string) {
	p.send(fmt.Sprintf(`{"id":"%016x","session_id":"main","seq":%d,"at":"2026-08-18T04:10:11.123456Z","type":%q,"payload":{"text":"x","input_id":%q}}`, seq, seq, kind, inputID))
}

func (p *peer) error(code, text string) {
	p.send(fmt.Sprintf(`{"type":"error","code":%q,"message":%q}`, code, text))
}

func (p *peer) close(code websocket.StatusCode) { p.conn.Close(code, "as scripted") }

// want reads the client's next frame and compares it.
func (p *peer) want(frame string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, raw, err := p.conn.Read(ctx)
	if err != nil {
		p.t.Errorf("script waits for %s: %v", frame, err)
		return
	}
	if !sameJSON(string(raw), frame) {
		p.t.Errorf("the client sent %s, want %s", raw, frame)
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}

// stay keeps the connection until the client leaves it.
func (p *peer) stay() {
	for {
		if _, _, err := p.conn.Read(context.Background()); err != nil {
			return
		}
	}
}

func subscribeFrom(seq int) string { return fmt.Sprintf(`{"type":"subscribe","from_seq":%d}`, seq) }

var quick = Options{MinWait: time.Millisecond, MaxWait: 4 * time.Millisecond}

func dial(t *testing.T, s *server, o Options) *Agent {
	t.Helper()
	a, err := Dial(t.Context(), s.URL, "s3cret", "main", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// next returns the next message.
func next(t *testing.T, a *Agent) Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	m, err := a.Next(ctx)
	if err != nil {
		t.Fatalf("Next: %v", err)
	}
	return m
}

// ending reads until the Agent ends and returns why, with the events that came before.
func ending(t *testing.T, a *Agent) (seqs []int64, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for m, err := range a.Messages(ctx) {
		if err != nil {
			return seqs, err
		}
		if e, ok := m.(Event); ok {
			seqs = append(seqs, e.Seq)
		}
	}
	panic("unreachable")
}

// until reads up to the event with the seq and returns every seq and truncation.
func until(t *testing.T, a *Agent, last int64) (seqs []int64, cuts []Truncated) {
	t.Helper()
	for {
		switch m := next(t, a).(type) {
		case Event:
			seqs = append(seqs, m.Seq)
			if m.Seq == last {
				return seqs, cuts
			}
		case Truncated:
			cuts = append(cuts, m)
		}
	}
}

func through(from, to int64) []int64 {
	var seqs []int64
	for seq := from; seq <= to; seq++ {
		seqs = append(seqs, seq)
	}
	return seqs
}
