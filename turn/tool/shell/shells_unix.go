//go:build unix

package shell

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"hitchpost/turn/tool/sandbox"
)

// Shells are the shells of a server, one a session at most. It is safe for concurrent
// use.
type Shells struct {
	bash string // absolute
	box  *sandbox.Sandbox
	env  []string // names
	idle time.Duration
	log  *slog.Logger

	mu       sync.Mutex
	sessions map[string]*session
	closed   bool
}

// session is the shell of one session. Whoever holds turn owns all but what mu guards.
type session struct {
	turn  chan struct{} // one call at a time
	timer *time.Timer   // ends the shell when nobody uses it

	mu     sync.Mutex
	closed bool
	calls  int    // that have begun
	shell  *shell // nil = none
	temp   string // its folder for temporary files, which outlives the shell; "" = none yet
}

var errClosed = errors.New("the shell was closed; nothing of the command is left")

// New finds bash. The error says why the tool cannot be offered.
func New(o Options) (*Shells, error) {
	bash, err := exec.LookPath("bash")
	if err == nil {
		bash, err = filepath.Abs(bash)
	}
	if err != nil {
		return nil, fmt.Errorf("the tool Bash is not offered, install bash: %w", err)
	}
	s := &Shells{bash: bash, box: o.Sandbox, env: o.Env, idle: o.Idle, log: o.Log, sessions: make(map[string]*session)}
	if s.idle == 0 {
		s.idle = defaultIdle
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	return s, nil
}

// enter waits until the session has no call and takes it.
func (s *Shells) enter(ctx context.Context, id string) (*session, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	one, ok := s.sessions[id]
	if !ok {
		one = &session{turn: make(chan struct{}, 1)}
		s.sessions[id] = one
	}
	s.mu.Unlock()
	select {
	case one.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	one.mu.Lock()
	one.calls++
	one.mu.Unlock()
	if one.timer != nil {
		one.timer.Stop() // if that is too late, unused sees the call, or ready that the shell is ending
	}
	return one, nil
}

// leave gives the session back and starts its idle time.
func (s *Shells) leave(one *session) {
	one.mu.Lock()
	if calls := one.calls; one.shell != nil && !one.closed {
		one.timer = time.AfterFunc(s.idle, func() { s.unused(one, calls) })
	}
	one.mu.Unlock()
	<-one.turn
}

// unused ends the shell of a session in which no call has begun since those.
func (s *Shells) unused(one *session, calls int) {
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.calls == calls {
		one.shell.end(fmt.Sprintf("the last one was not used for %s", s.idle))
	}
}

// ready gives the session's shell, a fresh one if need be, and what the model must know
// of it.
func (s *Shells) ready(ctx context.Context, one *session) (sh *shell, note string, err error) {
	sh, note, err = s.fresh(one)
	if err != nil || note != "" || !sh.proc.Stale() {
		return sh, note, err
	}
	return s.renew(ctx, one, sh)
}

// fresh gives the session's shell if it lives, else a new one.
func (s *Shells) fresh(one *session) (sh *shell, note string, err error) {
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.closed {
		return nil, "", errClosed
	}
	if sh = one.shell; sh != nil && !sh.ending() {
		return sh, "", nil
	}
	if sh != nil {
		if !sh.wait() {
			return nil, "", errors.New("the last shell does not end: a process of it cannot be killed")
		}
		note = "[a fresh shell: " + sh.reason() + "; working directory and environment are back at the start]\n"
	}
	if one.temp == "" {
		if one.temp, err = os.MkdirTemp("", "hitchpost-"); err != nil {
			return nil, "", fmt.Errorf("no private folder for temporary files: %w", err)
		}
	}
	if sh, err = s.start(one.temp); err != nil {
		return nil, "", err
	}
	one.shell = sh
	return sh, note, nil
}

// Close ends the shell of a session, which may come back with its next call.
func (s *Shells) Close(id string) {
	s.mu.Lock()
	one := s.sessions[id]
	delete(s.sessions, id)
	s.mu.Unlock()
	if one != nil {
		s.shut(one)
	}
}

// CloseAll ends every shell for good. It comes back when nothing is left of them.
func (s *Shells) CloseAll() {
	s.mu.Lock()
	all := s.sessions
	s.sessions, s.closed = nil, true
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, one := range all {
		wg.Go(func() { s.shut(one) })
	}
	wg.Wait()
}

func (s *Shells) shut(one *session) {
	one.mu.Lock()
	one.closed = true
	sh := one.shell
	one.mu.Unlock()
	if sh == nil { // then it will have none any more, and no folder either
		return
	}
	sh.end(errClosed.Error())
	if !sh.wait() {
		s.log.Error("a process of a shell cannot be killed", "supervisor", sh.proc.Supervisor())
	}
	if err := os.RemoveAll(one.temp); err != nil {
		s.log.Error("a shell's temporary files are left", "error", err)
	}
}

// environ is what the allow list lets through.
func (s *Shells) environ() []string {
	var env []string
	for _, name := range s.env {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
