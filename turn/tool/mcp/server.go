package mcp

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"hitchpost/turn/tool"
)

// server is one mounted server. Its manage goroutine makes the connections and the
// roster; calls borrow the connection.
type server struct {
	cfg      ServerConfig
	ctx      context.Context // the life of the mount
	log      *slog.Logger
	output   *outputLog // what the server itself prints
	mask     masker
	baseEnv  []string
	onChange func()
	ready    chan struct{} // closed when the first request need not wait any more
	settle   func()        // closes ready, once
	kick     chan struct{} // a call needs a connection now

	mu      sync.Mutex
	conn    *conn         // nil while there is none that a call may use
	attempt chan struct{} // closed at the end of the attempt to connect that runs, or runs next
	err     error         // why there is no connection
	tools   []tool.Tool   // sorted; kept while the server is away
}

var (
	errStarting = errors.New("it has not answered yet")
	errGivenUp  = errors.New("a call was given up, a new connection is made")
)

func newServer(ctx context.Context, cfg ServerConfig, o Options) *server {
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Approval == "" {
		cfg.Approval = tool.ByPolicy
	}
	s := &server{
		cfg: cfg, ctx: ctx, log: o.Log.With("mcp", cfg.Name), mask: newMasker(cfg),
		baseEnv: o.BaseEnv, onChange: o.OnChange,
		ready: make(chan struct{}), kick: make(chan struct{}, 1),
		attempt: make(chan struct{}), err: errStarting,
	}
	s.settle = sync.OnceFunc(func() { close(s.ready) })
	s.output = newOutputLog(s.log, s.mask)
	return s
}

// manage keeps the server connected until the mount ends, and leaves nothing behind.
func (s *server) manage() {
	defer s.settle()
	patience := time.AfterFunc(s.cfg.Timeout, s.settle)
	defer patience.Stop()
	var keepers sync.WaitGroup // connections that are being ended
	defer keepers.Wait()
	pause := minPause
	for s.ctx.Err() == nil {
		began := time.Now()
		c, err := s.connect()
		if err == nil {
			keepers.Go(c.keep)
			err = s.list(c)
		}
		s.attempted(c, err)
		if err == nil {
			s.settle()
			err = s.serve(c)
			s.away(err)
		}
		if c != nil {
			c.retire()
		}
		if time.Since(began) > steady {
			pause = minPause
		}
		s.rest(err, pause)
		pause = min(2*pause, maxPause)
	}
}

// serve lists the tools again on every change, until a call has given the connection
// up or it is lost. It returns why.
func (s *server) serve(c *conn) error {
	for {
		select {
		case <-c.changed:
		case <-c.retired:
			return errGivenUp
		case <-c.lost:
			return c.cause()
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
		select { // a burst of changes is one
		case <-time.After(relistPause):
		case <-c.lost:
			return c.cause()
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
		if err := s.list(c); err != nil {
			s.log.Warn("mcp server did not list its tools again, the known ones stay", "error", s.mask.error(err))
		}
	}
}

// attempted says how an attempt to connect ended, to calls that wait for it too.
func (s *server) attempted(c *conn, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = s.mask.error(err)
	if err == nil {
		s.conn = c
	}
	close(s.attempt)
	s.attempt = make(chan struct{})
}

// away takes the connection from later calls.
func (s *server) away(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn, s.err = nil, s.mask.error(err)
}

// list asks for the server's tools and puts them on the roster.
func (s *server) list(c *conn) error {
	ctx, stop := context.WithTimeoutCause(s.ctx, s.cfg.Timeout, errTimeout)
	defer stop()
	listed, err := c.list(ctx)
	if err != nil {
		return err
	}
	tools := s.mount(listed)
	s.mu.Lock()
	changed := !sameTools(s.tools, tools)
	s.tools = tools
	s.mu.Unlock()
	if changed {
		s.onChange()
	}
	return nil
}

// rest waits before the next attempt, unless a call needs one now.
func (s *server) rest(err error, pause time.Duration) {
	if s.ctx.Err() != nil {
		return
	}
	pause = pause/2 + rand.N(pause)
	s.log.Warn("mcp server is not connected", "error", s.mask.error(err), "again_in", pause.Round(time.Millisecond))
	var never *startError
	if errors.As(err, &never) {
		s.settle()
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.kick:
	case <-s.ctx.Done():
	}
}

// borrow returns the connection, and waits for one that is being made. The caller
// gives it back with leave.
func (s *server) borrow(ctx context.Context) (*conn, error) {
	for tried := false; ; tried = true {
		s.mu.Lock()
		c, attempt, err := s.conn, s.attempt, s.err
		s.mu.Unlock()
		if c != nil && c.enter() {
			return c, nil
		}
		if c == nil && tried {
			return nil, &lostError{s.cfg.Name, "is not connected", err}
		}
		select {
		case s.kick <- struct{}{}:
		default:
		}
		select {
		case <-attempt:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// drop makes sure that no later call uses the connection.
func (s *server) drop(c *conn) {
	s.mu.Lock()
	if s.conn == c {
		s.conn, s.err = nil, errGivenUp
	}
	s.mu.Unlock()
	c.retire()
}

func (s *server) roster() []tool.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Status{Name: s.cfg.Name, Tools: len(s.tools), Err: s.err}
}
