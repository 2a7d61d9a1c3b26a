//go:build unix

package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hitchpost/turn/event"
	"hitchpost/turn/tool"
	"hitchpost/turn/tool/sandbox"
)

// escapes are ways in which processes try to outlive their shell. %s is a word to find
// them by.
var escapes = map[string]string{
	"the plain case":    "sleep %[1]s & touch up; sleep %[1]s",
	"disowned":          "nohup sleep %[1]s >/dev/null 2>&1 & disown -a; touch up; sleep %[1]s",
	"double fork":       "( ( sleep %[1]s & ) & ); touch up; sleep %[1]s",
	"own session":       "setsid sh -c 'sleep %[1]s & touch up; sleep %[1]s' & wait",
	"double fork twice": "setsid sh -c '(setsid sh -c \"sleep %[1]s & touch up; sleep %[1]s\" &) ; exit' ; sleep %[1]s",
	"deaf to signals":   "trap '' TERM INT HUP; sh -c \"trap '' TERM INT HUP QUIT; touch up; sleep %[1]s; sleep %[1]s\"; sleep %[1]s",
	"stopped":           "sh -c 'touch up; kill -STOP $$; : %[1]s' & wait",
	"in a pipe":         "yes | (touch up; sleep %[1]s) | cat",
}

// Guarantee 2.
func TestAfterAnAbortNoProcessIsLeft(t *testing.T) {
	for _, mode := range []string{sandbox.None, sandbox.Auto} {
		n := 0
		for name, command := range escapes {
			n++
			t.Run(mode+" "+name, func(t *testing.T) {
				b := open(t, func(c *sandbox.Config, _ *Options) { c.Mode = mode })
				ctx, cancel := context.WithCancelCause(t.Context())
				word := fmt.Sprintf("%d.%d", 1000+n, time.Now().UnixNano())
				up := filepath.Join(b.ws, "up")
				go func() {
					for {
						if _, err := os.Stat(up); err == nil && len(processes(t, word)) > 0 {
							cancel(errors.New("stop"))
							return
						}
						time.Sleep(time.Millisecond)
					}
				}()
				res := b.call(ctx, "s", fmt.Sprintf(command, word))
				expect(t, "result", res.Error, "cancelled")
				if left := processes(t, word); len(left) > 0 {
					t.Errorf("left over: %q", left)
				}
				if got := b.run("echo next"); !strings.HasPrefix(got, "[a fresh shell: the last one was killed, stop;") || !strings.HasSuffix(got, "next\n[exit code 0]") {
					t.Errorf("the next call gave %q", got)
				}
			})
		}
	}
}

// Guarantee 2.
func TestACommandIsKilledWhenItsTimeIsUp(t *testing.T) {
	b := open(t)
	res := b.call(t.Context(), "s", "sleep 1002.5", 100*time.Millisecond)
	expect(t, "error", res.Error, "the command took longer than 100ms and was killed, with the shell and everything that it started")
	expect(t, "cause", res.Cause, string(event.CodeToolTimeout))
	if left := processes(t, "1002.5"); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

// Guarantee 2. The test says when the time is up: when the command has printed.
func TestATimeoutKillsTheCommandAndKeepsWhatItPrinted(t *testing.T) {
	b := open(t)
	ctx, timeUp := context.WithCancelCause(t.Context())
	done := make(chan tool.Result)
	go func() {
		args := []byte(`{"command":"echo before; (setsid sleep 1003.5 &); touch up; sleep 1003.5"}`)
		done <- b.Tools()[0].Run(ctx, tool.Call{Session: "s", Args: args})
	}()
	until(t, "the command", func() bool { _, err := os.Stat(filepath.Join(b.ws, "up")); return err == nil })
	timeUp(errTimeout)
	res := <-done
	expect(t, "error", res.Error, "the command took longer than 2m0s and was killed, with the shell and everything that it started\nbefore")
	expect(t, "cause", res.Cause, string(event.CodeToolTimeout))
	if left := processes(t, "1003.5"); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
	if got := b.run("echo next"); !strings.HasPrefix(got, "[a fresh shell: ") {
		t.Errorf("the next call gave %q", got)
	}
}

// Guarantee 2.
func TestCloseEndsARunningCallAndEverythingOfTheSession(t *testing.T) {
	b := open(t)
	b.run("sleep 1004.5 & (setsid sleep 1004.5 &)")
	other := text(t, b.call(t.Context(), "other", "sleep 1005.5 & echo $TMPDIR"))
	done := make(chan string)
	go func() { done <- b.run("touch up; sleep 1004.5") }()
	until(t, "the command's file", func() bool { _, err := os.Stat(filepath.Join(b.ws, "up")); return err == nil })
	b.Close("s")
	if left := processes(t, "1004.5"); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
	expect(t, "the call", <-done, "error: the shell was closed; nothing of the command is left")
	until(t, "the other session's job", func() bool { return len(processes(t, "1005.5")) == 1 })
	expect(t, "the session comes back", b.run("echo again"), "again\n[exit code 0]")
	b.CloseAll()
	if left := processes(t, "1005.5"); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
	expect(t, "after the end", b.run("echo"), "error: the shell was closed; nothing of the command is left")
	temp, _, _ := strings.Cut(other, "\n")
	if _, err := os.Stat(temp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary folder is left: %v", err)
	}
}

// Guarantee 2: a cancel while the call waits for its turn.
func TestACallThatWaitsForItsTurnCanBeCancelled(t *testing.T) {
	b := open(t)
	first := make(chan string)
	go func() { first <- b.run("touch up; until [ -e go ]; do sleep 0.01; done") }()
	until(t, "the first call", func() bool { _, err := os.Stat(filepath.Join(b.ws, "up")); return err == nil })
	ctx, cancel := context.WithCancel(t.Context())
	second := make(chan string)
	go func() { second <- text(t, b.call(ctx, "s", "touch second")) }()
	cancel()
	expect(t, "second", <-second, "error: cancelled")
	must(t, os.WriteFile(filepath.Join(b.ws, "go"), nil, 0o644))
	expect(t, "first", <-first, "[exit code 0]")
	if _, err := os.Stat(filepath.Join(b.ws, "second")); err == nil {
		t.Error("a cancelled call ran")
	}
}

// serveEnv makes the test program a server of its own, whose workspace it names.
const serveEnv = "HITCHPOST_TEST_SERVE"

func serve(ws string) {
	box, err := sandbox.New(sandbox.Config{Workspace: []string{ws}})
	if err != nil {
		panic(err)
	}
	s, err := New(Options{Sandbox: box, Env: []string{"PATH"}})
	if err != nil {
		panic(err)
	}
	s.Tools()[0].Run(context.Background(), tool.Call{Args: []byte(`{"command":"(setsid sleep 1009.5 &); touch up; sleep 1009.5"}`)})
}

// Guarantee 2, and 7 of package sandbox.
func TestAServerThatIsKilledLeavesNoProcessAndNoFile(t *testing.T) {
	ws := t.TempDir()
	server := exec.Command(os.Args[0])
	temp := t.TempDir()
	server.Env = append(os.Environ(), serveEnv+"="+ws, "TMPDIR="+temp)
	must(t, server.Start())
	until(t, "the command", func() bool {
		_, err := os.Stat(filepath.Join(ws, "up"))
		return err == nil && len(processes(t, "1009.5")) == 2
	})
	must(t, server.Process.Kill())
	server.Wait()
	until(t, "the end of its processes", func() bool { return len(processes(t, "1009.5")) == 0 })
	until(t, "the end of its temporary files", func() bool { left, err := os.ReadDir(temp); return err == nil && len(left) == 0 })
}
