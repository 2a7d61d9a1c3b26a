//go:build unix

package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hitchpost/turn/tool"
	"hitchpost/turn/tool/sandbox"
)

// patience is how long a test polls for something that no channel tells of.
const patience = time.Minute

func TestMain(m *testing.M) {
	sandbox.Main()
	if ws := os.Getenv(serveEnv); ws != "" {
		serve(ws)
	}
	code := m.Run()
	if code == 0 {
		if err := leftover(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// leftover finds goroutines of this module that outlive the tests, and children.
func leftover() error {
	deadline := time.Now().Add(patience)
	for {
		buf := make([]byte, 1<<20)
		stacks := string(buf[:runtime.Stack(buf, true)])
		n := strings.Count(stacks, "hitchpost/turn/tool/shell.(*") + strings.Count(stacks, "hitchpost/turn/tool/sandbox.(*")
		if n == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("goroutines are left over:\n%s", stacks)
		}
		time.Sleep(time.Millisecond)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bench is a workspace with its shells.
type bench struct {
	*Shells
	t  testing.TB
	ws string
}

// open makes shells over a fresh workspace. Configure may change the defaults, which are
// mode none with PATH let through.
func open(t testing.TB, configure ...func(*sandbox.Config, *Options)) *bench {
	t.Helper()
	ws, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	c := sandbox.Config{Mode: sandbox.None, Workspace: []string{ws}}
	o := Options{Env: []string{"PATH"}}
	for _, f := range configure {
		f(&c, &o)
	}
	o.Sandbox, err = sandbox.New(c)
	must(t, err)
	s, err := New(o)
	must(t, err)
	t.Cleanup(s.CloseAll)
	return &bench{s, t, c.Workspace[0]}
}

// locked asks for Landlock, and skips where this kernel does not hold by it.
func locked(c *sandbox.Config, _ *Options) { c.Mode = sandbox.Landlock }

func needLandlock(t testing.TB) {
	t.Helper()
	if _, err := sandbox.New(sandbox.Config{Mode: sandbox.Landlock, Workspace: []string{t.TempDir()}}); err != nil {
		t.Skip(err)
	}
}

// call runs Bash as an agent does, its arguments checked and its result capped.
func (b *bench) call(ctx context.Context, session, command string, more ...any) tool.Result {
	b.t.Helper()
	set, err := tool.NewSet(b.Tools())
	must(b.t, err)
	bash, _ := set.Lookup("Bash")
	a := map[string]any{"command": command}
	call := tool.Call{Session: session}
	for _, m := range more {
		switch m := m.(type) {
		case time.Duration:
			a["timeout"] = m.Milliseconds()
		case func(string):
			call.Progress = m
		}
	}
	call.Args, err = json.Marshal(a)
	must(b.t, err)
	var r tool.Runner
	return r.Run(ctx, bash, call, tool.Limits{Result: 256 << 10})
}

// run is call's text, or "error: " and its error.
func (b *bench) run(command string, more ...any) string {
	b.t.Helper()
	return text(b.t, b.call(b.t.Context(), "s", command, more...))
}

func text(t testing.TB, r tool.Result) string {
	t.Helper()
	if r.Error != "" {
		return "error: " + r.Error
	}
	var s string
	must(t, json.Unmarshal(r.Content, &s))
	return s
}

func expect(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// processes are the living ones whose command line holds the word.
func processes(t testing.TB, word string) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		out, err := exec.Command("ps", "-axo", "pid,stat,command").Output()
		must(t, err)
		var all []string
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, word) && !strings.Contains(line, " Z") {
				all = append(all, line)
			}
		}
		return all
	}
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(t, err)
	var all []string
	for _, path := range paths {
		line, err := os.ReadFile(path) // of a zombie it is empty
		if err == nil && bytes.Contains(line, []byte(word)) {
			all = append(all, path)
		}
	}
	return all
}

// until polls for what no channel tells of.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never came: %s", what)
		}
	}
}
