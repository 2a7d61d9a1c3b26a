package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hitchpost/server/agentsocket"
	"hitchpost/server/auth"
	"hitchpost/server/follow"
	"hitchpost/server/wsconn"
	"hitchpost/store"
	"hitchpost/turn"
	"hitchpost/turn/tool"
)

// The wire benchmarks drive a server in a process of its own, so that its CPU time,
// memory and system calls are its own: the test binary runs itself again with the
// path of the file in benchEnv, and takes commands on its standard input.
const (
	benchEnv    = "HITCHPOST_BENCH_SERVER"
	benchSecret = "bench"
)

// benchServer is the parent's side.
type benchServer struct {
	b     *testing.B
	addr  string
	in    *json.Encoder
	out   *bufio.Scanner
	child *exec.Cmd
}

func startBenchServer(b *testing.B, path string) *benchServer {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerOfTheBenchmarks$")
	cmd.Env = append(os.Environ(), benchEnv+"="+path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	s := &benchServer{b: b, in: json.NewEncoder(in), out: bufio.NewScanner(out), child: cmd}
	s.addr = s.line()
	b.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return s
}

func (s *benchServer) line() string {
	s.b.Helper()
	if !s.out.Scan() {
		s.b.Fatalf("the server is gone: %v", s.out.Err())
	}
	return s.out.Text()
}

// ask sends a command and returns its figure.
func (s *benchServer) ask(command string, args ...any) int64 {
	s.b.Helper()
	if err := s.in.Encode(append([]any{command}, args...)); err != nil {
		s.b.Fatal(err)
	}
	n, err := strconv.ParseInt(s.line(), 10, 64)
	if err != nil {
		s.b.Fatal(err)
	}
	return n
}

// TestServerOfTheBenchmarks is no test: it is the server, when it is run as one.
func TestServerOfTheBenchmarks(t *testing.T) {
	path := os.Getenv(benchEnv)
	if path == "" {
		t.Skip("run by the benchmarks")
	}
	st, err := store.Open(context.Background(), path, store.Options{Durability: store.Normal})
	if err != nil {
		t.Fatal(err)
	}
	tools, _ := tool.NewSet(nil)
	gate, _ := auth.NewGate("127.0.0.1:0", nil)
	group := wsconn.NewGroup(20 * time.Second)
	host := turn.New(st, turn.Config{
		Agents: map[string]turn.Definition{turn.DefaultAgent: {}}, Tools: func() *tool.Set { return tools },
		MaxAgents: 100_000, InboxTexts: 1000, InboxBytes: 8 << 20, Log: slog.New(slog.DiscardHandler),
	})
	handler := agentsocket.New(agentsocket.Options{
		Host:  host,
		Keys:  auth.NewKeyring([]*auth.Token{auth.NewToken("bench", "me", auth.DigestOf(benchSecret), nil, auth.All)}),
		Gate:  gate,
		Group: group, Slots: follow.NewSlots(4), LogID: st.LogID(),
		Limits: agentsocket.Limits{Replay: 10_000, Queue: 256}, Log: slog.New(slog.DiscardHandler),
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	writes := new(atomic.Int64)
	server := &http.Server{Handler: handler}
	go server.Serve(countingListener{l, writes})
	fmt.Println(l.Addr())

	commands := json.NewDecoder(os.Stdin)
	for {
		var c []any
		if commands.Decode(&c) != nil {
			break
		}
		fmt.Println(obeyBench(t, st, host, writes, c))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	group.Shutdown(ctx)
	server.Close()
	host.Drain(0)
	st.Close()
	os.Exit(0) // before the testing package prints
}

func obeyBench(t *testing.T, st *store.Store, host *turn.Host, writes *atomic.Int64, c []any) int64 {
	switch c[0] {
	case "fill": // session, events, bytes of text: returns the tip
		return benchFill(t, st, host, c[1].(string), int64(c[2].(float64)), int(c[3].(float64)))
	case "append": // session: one event, durable when answered
		return benchFill(t, st, host, c[1].(string), 1, 100)
	case "writes":
		return writes.Load()
	case "cpu": // nanoseconds of this process
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return u.Utime.Nano() + u.Stime.Nano()
	case "mallocs":
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.Mallocs)
	case "free": // give back what connecting left behind
		debug.FreeOSMemory()
		return 0
	case "rss": // bytes
		status, _ := os.ReadFile("/proc/self/status")
		for line := range strings.SplitSeq(string(status), "\n") {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				return n << 10
			}
		}
	}
	t.Fatalf("unknown command %v", c)
	return 0
}

func benchFill(t *testing.T, st *store.Store, host *turn.Host, session string, events int64, size int) int64 {
	ctx := context.Background()
	agent, err := host.Hold(ctx, session, "me")
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Release()
	log := agent.Log()
	payload := json.RawMessage(`{"text":"` + strings.Repeat("x", size) + `"}`)
	for events > 0 {
		tip, _ := log.Tip()
		b := store.Batch{From: tip + 1}
		for range min(events, 1000) {
			b.Events = append(b.Events, store.NewEvent{Type: "assistant/chunk", Payload: payload, Streamed: true})
		}
		if _, err := log.Append(ctx, b); err != nil {
			t.Fatal(err)
		}
		events -= int64(len(b.Events))
	}
	tip, _ := log.Tip()
	return tip
}

// countingListener counts the writes to its sockets.
type countingListener struct {
	net.Listener
	writes *atomic.Int64
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countingConn{c, l.writes}, err
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countingConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}
