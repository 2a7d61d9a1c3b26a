package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hitchpost/turn/tool"
)

// TestMain is the stub when a test starts the binary as a server, and fails when a
// test leaves a goroutine behind (guarantee 12).
func TestMain(m *testing.M) {
	if os.Getenv(stubEnv) != "" {
		runStub()
		os.Exit(0)
	}
	code := m.Run()
	if left := goroutinesLeft(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines left behind:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// goroutinesLeft gives those that end a few seconds to do so: the SDK does not wait
// for its notices of cancelled calls.
func goroutinesLeft() string {
	for deadline := time.Now().Add(30 * time.Second); ; runtime.Gosched() {
		stacks := make([]byte, 1<<20)
		var left []string
		for g := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			ours := strings.Contains(g, "hitchpost/turn/tool/mcp.") || strings.Contains(g, "modelcontextprotocol")
			if ours && !strings.Contains(g, ".TestMain(") {
				left = append(left, g)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
	}
}

// world is a mount and what is seen of it.
type world struct {
	*Mounts
	t       *testing.T
	log     *syncBuffer
	changes chan struct{} // one for each OnChange
	notes   string        // what the stubs saw
	runner  *tool.Runner
}

// mount mounts servers, and a stub called "stub" with env if there are none.
func mount(t *testing.T, env map[string]string, configs ...ServerConfig) *world {
	t.Helper()
	w := &world{
		t: t, log: &syncBuffer{}, changes: make(chan struct{}, 100),
		notes: filepath.Join(t.TempDir(), "notes"), runner: &tool.Runner{},
	}
	if len(configs) == 0 {
		configs = []ServerConfig{w.stub("stub", env)}
	}
	for i, c := range configs { // a stub made before the world was
		if _, ok := c.Env[stubEnv]; ok && c.Env["STUB_NOTES"] == "" {
			configs[i] = w.stub(c.Name, c.Env)
			configs[i].Timeout, configs[i].Approval = c.Timeout, c.Approval
		}
	}
	m, err := Open(context.Background(), configs, Options{
		Log:      slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		BaseEnv:  []string{"PATH"},
		OnChange: func() { w.changes <- struct{}{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Mounts = m
	t.Cleanup(m.Close)
	return w
}

func (w *world) stub(name string, env map[string]string) ServerConfig {
	all := map[string]string{stubEnv: "1", "STUB_NOTES": w.notes}
	maps.Copy(all, env)
	return ServerConfig{Name: name, Command: []string{os.Args[0]}, Env: all}
}

// stubServer is a stub with a timeout.
func stubServer(name string, timeout time.Duration) ServerConfig {
	return ServerConfig{Name: name, Env: map[string]string{stubEnv: "1"}, Timeout: timeout}
}

func (w *world) ready() *world {
	w.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if err := w.Ready(ctx); err != nil {
		w.t.Fatal(err)
	}
	return w
}

// changed waits for the next OnChange.
func (w *world) changed() {
	w.t.Helper()
	select {
	case <-w.changes:
	case <-time.After(time.Minute):
		w.t.Fatalf("no change of the roster; log:\n%s", w.log)
	}
}

func (w *world) names() []string {
	var names []string
	for _, t := range w.Tools() {
		names = append(names, t.Name)
	}
	return names
}

func (w *world) tool(name string) *tool.Tool {
	w.t.Helper()
	tools := w.Tools()
	i := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Name == name })
	if i < 0 {
		w.t.Fatalf("no tool %s in %q; log:\n%s", name, w.names(), w.log)
	}
	return &tools[i]
}

// conn is the first server's connection.
func (w *world) conn() *conn {
	s := w.servers[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// call runs a tool as a turn does.
func (w *world) call(name, args string) tool.Result {
	w.t.Helper()
	return w.callIn(context.Background(), name, args, nil)
}

func (w *world) callIn(ctx context.Context, name, args string, progress func(string)) tool.Result {
	w.t.Helper()
	call := tool.Call{Session: "s1", ID: "c1", Args: json.RawMessage(args), Progress: progress}
	return w.runner.Run(ctx, w.tool(name), call, tool.Limits{Timeout: 10 * time.Minute})
}

// text is the content of a result that must be a string.
func (w *world) text(r tool.Result) string {
	w.t.Helper()
	var s string
	if r.Error != "" || json.Unmarshal(r.Content, &s) != nil {
		w.t.Fatalf("not a text: %+v (%s); log:\n%s", r, r.Content, w.log)
	}
	return s
}

// waitFor waits for something that happens beside us and has no channel.
func waitFor(t *testing.T, what string, seen func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !seen(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("it never came true: %s", what)
		}
	}
}

func (w *world) noted(line string) bool {
	b, _ := os.ReadFile(w.notes)
	return slices.Contains(strings.Split(string(b), "\n"), line)
}

// alive tells whether a process runs; one that only waits to be reaped does not.
func (w *world) alive(pid string) bool {
	if runtime.GOOS != "linux" {
		w.t.Skip("processes are looked up in /proc")
	}
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
