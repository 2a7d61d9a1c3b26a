package server_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hitchpost/server/wiretest"
	"hitchpost/turn/tool/sandbox"
)

// build makes the binary that every test of this package drives, once.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hitchpost-test-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "hitchpost")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", binary, "hitchpost")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
})

func TestMain(m *testing.M) {
	sandbox.Main()
	code := m.Run()
	if binary, err := build(); err == nil {
		os.RemoveAll(filepath.Dir(binary))
	}
	os.Exit(code)
}

// place is a folder with a configuration, in which servers and commands run.
type place struct {
	t      *testing.T
	dir    string
	listen string
	binary string
	env    []string // beside what command sets
}

const secret = "e2e-secret-token-0123456789abcdef"

// newPlace makes a folder. The configuration is extra below a listen address and one token.
func newPlace(t *testing.T, extra string) *place {
	t.Helper()
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: t.TempDir(), listen: wiretest.Address(t), binary: binary}
	p.configure(extra, secret)
	return p
}

// configure writes hitchpost.toml.
func (p *place) configure(extra string, tokens ...string) {
	p.t.Helper()
	text := fmt.Sprintf("listen = %q\n%s\n", p.listen, extra)
	for i, token := range tokens {
		text += fmt.Sprintf("[[tokens]]\nname = \"t%d\"\ntoken = %q\n", i, token)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "hitchpost.toml"), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// command prepares a call of the binary.
func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.binary, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "HITCHPOST_TOKEN="+secret, "HITCHPOST_URL=")
	cmd.Env = append(cmd.Env, p.env...)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// run calls the binary and returns what it printed and its exit code.
func (p *place) run(args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	cmd := p.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	ctx, done := context.WithTimeout(context.Background(), 60*time.Second)
	defer done()
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer stop()
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// running is a server process.
type running struct {
	*place
	cmd  *exec.Cmd
	log  *output
	gone bool
}

// serve starts a server and waits until it answers.
func (p *place) serve() *running {
	p.t.Helper()
	s := &running{place: p, cmd: p.command("serve"), log: &output{}}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if !s.gone {
			s.kill()
		}
		if p.t.Failed() {
			p.t.Logf("server:\n%s", s.log)
		}
	})
	p.until("the server answers", func() bool {
		resp, err := http.Get("http://" + p.listen + "/healthz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return s
}

// kill is kill -9.
func (s *running) kill() {
	s.gone = true
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// term is kill -TERM, as a service manager sends it; it returns the exit code.
func (s *running) term() int {
	s.t.Helper()
	s.gone = true
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

func (p *place) until(what string, reached func() bool) {
	p.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !reached() {
		if time.Now().After(deadline) {
			p.t.Fatalf("a minute went by and not: %s", what)
		}
		time.Sleep(10 * time.Millisecond) // another process: there is nothing to wait on
	}
}

// output collects what a process prints while others read it.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func (o *output) has(text string) bool { return strings.Contains(o.String(), text) }
