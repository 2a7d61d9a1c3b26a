package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts run the program as a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hitchpost": func() {
		example, err := os.ReadFile(os.Getenv("HITCHPOST_TEST_EXAMPLE"))
		if err != nil {
			panic(err)
		}
		os.Exit(Main(os.Args[1:], Program{
			Example: string(example), Version: "v0.0.0-test",
			Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		}))
	}})
}

func TestScripts(t *testing.T) {
	example, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HITCHPOST_TEST_EXAMPLE", example+"/../../config.example.toml")
			return nil
		},
	})
}

// patience bounds what a test waits for; reaching it is a failure.
const patience = time.Minute

// peer is the server's end of one connection to the agent main.
type peer struct {
	t    *testing.T
	conn *websocket.Conn
	seq  *int // of the next event; shared by all connections, as one log is
}

// socket serves one script a connection, one after the other; the log goes on from
// one to the next.
func socket(t *testing.T, scripts ...func(*peer)) string {
	var (
		connections atomic.Int32
		turn        sync.Mutex
	)
	seq := 1
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(connections.Add(1))
		if n > len(scripts) {
			t.Errorf("connection %d was not expected", n)
			http.Error(w, "not expected", http.StatusNotFound)
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		p := &peer{t, conn, &seq}
		turn.Lock()
		scripts[n-1](p)
		turn.Unlock()
		for { // until the client leaves
			if _, _, err := conn.Read(context.Background()); err != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func (p *peer) send(text string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		p.t.Errorf("script cannot write: %v", err)
	}
}

func (p *peer) hello(status, pending string) {
	p.send(fmt.Sprintf(`{"type":"hello","proto":1,"session_id":"main","last_seq":%d,"first_seq":0,"log_id":"L","status":%q,"pending":[%s],"replay_limit":10000}`,
		*p.seq-1, status, pending))
}

// event appends to the log and sends it.
func (p *peer) event(kind, payload string) {
	p.send(fmt.Sprintf(`{"id":"%016x","session_id":"main","seq":%d,"at":"2026-08-18T04:10:11.123456Z","type":%q,"payload":%s}`, *p.seq, *p.seq, kind, payload))
	*p.seq++
}

// chunk streams a piece of an answer.
func (p *peer) chunk(text string) {
	quoted, _ := json.Marshal(text)
	p.event("assistant/chunk", fmt.Sprintf(`{"text":%s}`, quoted))
}

// turn sends a turn that reads the input and answers it.
func (p *peer) turn(input, answer string) {
	p.event("turn/start", `{"agent":"default"}`)
	p.event("step/start", `{"n":1,"model":"demo/guide"}`)
	p.event("user/message", fmt.Sprintf(`{"text":"x","input_id":%q}`, input))
	p.chunk(answer)
	p.event("assistant/message", `{"parts":[]}`)
	p.event("step/end", `{"n":1}`)
	p.event("turn/end", `{"status":"completed"}`)
}

// frame reads the client's next frame, which must have the type.
func (p *peer) frame(kind string) map[string]any {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	frame := map[string]any{}
	_, raw, err := p.conn.Read(ctx)
	if err != nil {
		p.t.Errorf("script waits for %s: %v", kind, err)
		return frame
	}
	if json.Unmarshal(raw, &frame) != nil || frame["type"] != kind {
		p.t.Errorf("the client sent %s, want %s", raw, kind)
	}
	return frame
}

// inject reads a text and returns its id.
func (p *peer) inject(text string) string {
	p.t.Helper()
	frame := p.frame("inject")
	if frame["text"] != text || frame["wake"] != true {
		p.t.Errorf("the client sent %v, want %q with wake", frame, text)
	}
	id, _ := frame["id"].(string)
	return id
}

func (p *peer) subscribed() { p.frame("subscribe") }

// safeBuffer is output that a test may look at while it grows.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// call runs a command in an empty folder.
func call(t *testing.T, stdin io.Reader, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs safeBuffer
	done := make(chan int, 1)
	go func() { done <- Main(args, Program{Stdin: stdin, Stdout: &out, Stderr: &errs}) }()
	select {
	case code = <-done:
	case <-time.After(patience):
		t.Fatalf("%s did not end\nstdout: %s\nstderr: %s", strings.Join(args, " "), out.String(), errs.String())
	}
	return code, out.String(), errs.String()
}
