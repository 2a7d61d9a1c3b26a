//go:build !windows

package cli

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"hitchpost/server"
	"hitchpost/server/config"
)

func interrupt(t *testing.T) {
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Error(err)
	}
}

func TestCtrlCInChatCancelsTheTurnAndTheSecondLeaves(t *testing.T) {
	input, keyboard := io.Pipe() // nothing is typed
	defer keyboard.Close()
	var stdout safeBuffer
	url := socket(t, func(p *peer) {
		p.hello("running", "")
		p.subscribed()
		interrupt(t)
		p.frame("cancel")
		p.event("turn/end", `{"status":"cancelled"}`)
		p.event("turn/start", `{}`)
		p.chunk("on and on")
		for !strings.Contains(stdout.String(), "on and on") {
			time.Sleep(time.Millisecond) // until the chat knows of the new turn
		}
		interrupt(t) // is for the new turn
		p.frame("cancel")
		interrupt(t) // leaves
	})
	code := make(chan int)
	go func() {
		code <- Main([]string{"chat", "main", "--url", url, "--token", "t"}, Program{Stdin: input, Stdout: &stdout, Stderr: io.Discard})
	}()
	select {
	case got := <-code:
		if got != 0 || strings.Count(stdout.String(), "cancelling…") != 2 {
			t.Errorf("exit %d, stdout %q", got, stdout.String())
		}
	case <-time.After(patience):
		t.Fatalf("the chat did not end: %q", stdout.String())
	}
}

func TestCtrlCLeavesAnIdleChatAtOnce(t *testing.T) {
	input, keyboard := io.Pipe()
	defer keyboard.Close()
	url := socket(t, func(p *peer) {
		p.hello("idle", "")
		p.subscribed()
		interrupt(t)
	})
	if code, stdout, stderr := call(t, input, "chat", "main", "--url", url, "--token", "t"); code != 0 {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestCtrlCInSendLeavesTheTurnRunningAndSaysSo(t *testing.T) {
	url := socket(t, func(p *peer) {
		p.hello("idle", "")
		p.subscribed()
		p.inject("look")
		p.event("turn/start", `{}`)
		interrupt(t)
	})
	code, _, stderr := call(t, nil, "send", "main", "look", "--url", url, "--token", "t")
	if code != 1 || !strings.Contains(stderr, "main goes on without you") {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
}

func TestCtrlCIsHowATailEnds(t *testing.T) {
	url := socket(t, func(p *peer) {
		p.hello("idle", "")
		p.subscribed()
		interrupt(t)
	})
	if code, _, stderr := call(t, nil, "tail", "main", "--url", url, "--token", "t"); code != 0 || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
}

func TestSIGHUPReloads(t *testing.T) {
	t.Chdir(t.TempDir())
	var c commands
	cfg, err := c.load()
	if err != nil {
		t.Fatal(err)
	}
	p := Program{Stderr: &safeBuffer{}}
	out := make(chan server.Reload)
	go (&reloader{log: p.logger(config.Default()), cfg: cfg, load: c.load, out: out}).run(t.Context())
	if err := os.WriteFile(config.FileName, []byte("replay_limit = 7"), 0o600); err != nil {
		t.Fatal(err)
	}
	hangUps, stop := reloadSignals() // from here on SIGHUP does not end the process
	defer stop()
	deadline := time.After(patience)
	for { // the reloader may not be listening yet
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		<-hangUps
		select {
		case next := <-out:
			if next.Config.ReplayLimit != 7 {
				t.Errorf("reloaded replay_limit %d", next.Config.ReplayLimit)
			}
			return
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			t.Fatal("nothing was reloaded")
		}
	}
}
