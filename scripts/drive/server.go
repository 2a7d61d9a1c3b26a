package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const token = "drive-token-0123456789"

// server is a hitchpost of its own process.
type server struct {
	url   string
	dir   string
	cmd   *exec.Cmd
	log   bytes.Buffer // to be read behind ended
	ended chan struct{}
	exit  error // to be read behind ended
	model *httptest.Server
}

func start(ctx context.Context, race bool) (*server, error) {
	dir, err := os.MkdirTemp("", "hitchpost-drive-")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, ended: make(chan struct{}), model: httptest.NewServer(http.HandlerFunc(answer))}
	binary := filepath.Join(dir, "hitchpost")
	build := []string{"build", "-o", binary}
	if race {
		build = append(build, "-race")
	}
	if out, err := exec.CommandContext(ctx, "go", append(build, ".")...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w\n%s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s.url = "http://" + port
	config := filepath.Join(dir, "hitchpost.toml")
	if err := os.WriteFile(config, fmt.Appendf(nil, `
listen = %q
database = %q
[[tokens]]
name = "drive"
token = %q
[agents.default.models]
main = "scripted/any"
[providers.scripted]
api = "openai"
base_url = %q
`, port, filepath.Join(dir, "hitchpost.db"), token, s.model.URL), 0o600); err != nil {
		return nil, err
	}
	s.cmd = exec.Command(binary, "serve", "-c", config)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.ended)
		s.exit = s.cmd.Wait()
	}()
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

func (s *server) ready(ctx context.Context) error {
	for {
		if resp, err := http.Get(s.url + "/healthz"); err == nil {
			resp.Body.Close()
			return nil
		}
		select {
		case <-s.ended: // it may have lost its port to another program
			return errors.New("the server did not come up")
		case <-ctx.Done():
			return fmt.Errorf("the server did not come up: %w", context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stop drains the server and looks at how it went.
func (s *server) stop() error {
	defer os.RemoveAll(s.dir)
	s.model.CloseClientConnections()
	defer s.model.Close()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-s.ended
	err := s.exit
	if strings.Contains(s.log.String(), "DATA RACE") {
		err = errors.Join(err, errors.New("the race detector found something"))
	}
	if err != nil {
		return fmt.Errorf("the server ended badly: %w\n%s", err, s.log.String())
	}
	return nil
}

// rss is the server's resident memory in bytes.
func (s *server) rss() (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	var kib int
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	_, err = fmt.Sscan(after, &kib)
	return kib << 10, err
}
