package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// link is what carries a connection: a child process or an HTTP client.
type link interface {
	transport() sdk.Transport
	// call returns the context to send a call with, and what is closed when the server has
	// been told that the context was ended before the answer.
	call(ctx context.Context) (sending context.Context, told <-chan struct{})
	silent() <-chan struct{} // closed when nothing comes from the other side any more; nil = that is never known
	hangUp()                 // asks the other side to end
	kill()                   // ends everything at once; may be called at any time, from anywhere
	wait() error             // until nothing is left of it; the error says how a child ended
}

// conn is one connection to a server, from its handshake to its end.
type conn struct {
	wire    *wire
	link    link
	session *sdk.ClientSession
	changed chan struct{}   // the server's list of tools has changed
	lost    chan struct{}   // closed when the session is over
	retired chan struct{}   // closed when no further call may begin
	idle    chan struct{}   // closed when retired and no call is under way
	mount   context.Context // the life of the mount
	life    context.Context // of the calls: ends when the connection is taken down
	end     context.CancelCauseFunc
	limit   time.Duration // that calls under way may still take once retired

	mu    sync.Mutex
	calls int // under way
	out   bool
}

// startFactor is how much longer than a call a start may take: a package may have to
// be fetched first.
const startFactor = 4

// connect starts the server or dials it, and shakes hands.
func (s *server) connect() (*conn, error) {
	ctx, stop := context.WithTimeoutCause(s.ctx, startFactor*s.cfg.Timeout, errTimeout)
	defer stop()
	c := &conn{
		wire: newWire(s.output), changed: make(chan struct{}, 1), lost: make(chan struct{}),
		retired: make(chan struct{}), idle: make(chan struct{}),
		mount: s.ctx, limit: s.cfg.Timeout,
	}
	var err error
	if s.cfg.URL != "" {
		c.link, err = dial(s.cfg, c.wire)
	} else {
		c.link, err = start(s.cfg, s.baseEnv, c.wire)
	}
	if err != nil {
		return nil, err
	}
	release := context.AfterFunc(ctx, c.link.kill)
	c.session, err = c.client().Connect(ctx, c.link.transport(), nil)
	if !release() && err == nil {
		err = context.Cause(ctx)
		_ = c.session.Close() // the link is gone; so is what this could still say
	}
	if err != nil {
		if ctx.Err() == nil {
			c.link.hangUp() // a child that is about to end by itself says why
		}
		c.link.kill()
		return nil, c.explain(ctx, err, c.link.wait())
	}
	c.life, c.end = context.WithCancelCause(s.ctx)
	return c, nil
}

func (c *conn) client() *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "hitchpost", Version: "1"}, &sdk.ClientOptions{
		Logger:       slog.New(slog.DiscardHandler), // it would repeat what a server sent
		Capabilities: &sdk.ClientCapabilities{},     // nothing of ours is the server's to ask for
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			select {
			case c.changed <- struct{}{}:
			default: // a listing is due already
			}
		},
	})
}

// keep waits for the end of a connection, takes it down and leaves nothing of it.
func (c *conn) keep() {
	ended := make(chan struct{})
	go func() { // ends with the session, which is closed below
		defer close(ended)
		_ = c.session.Wait()
		close(c.lost)
	}()
	c.untilUseless()
	c.retire()
	c.end(errors.New("the connection is being ended"))
	within(cancelGrace, c.idle) // a session that is being closed tells the server of no call that has ended
	killer := time.AfterFunc(stopGrace, c.link.kill)
	defer killer.Stop()
	c.link.hangUp()
	_ = c.session.Close() // fails when the other side has gone first
	_ = c.link.wait()     // how a child ends that was told to says nothing
	<-ended
	<-c.idle
}

func (c *conn) untilUseless() {
	select {
	case <-c.lost:
		return
	case <-c.life.Done():
		return
	case <-c.retired:
	}
	last := time.NewTimer(c.limit)
	defer last.Stop()
	select {
	case <-c.idle:
	case <-c.lost:
	case <-c.life.Done():
	case <-last.C:
	}
}

// cause says why a lost connection was lost. It waits until keep has taken it down.
func (c *conn) cause() error {
	return c.explain(c.mount, errors.New("it closed the connection"), c.link.wait())
}

// explain finds the best word for a failure: the end of ctx, what was wrong with the
// server's messages, how its process ended, or else the error itself.
func (c *conn) explain(ctx context.Context, err, exit error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if fault := c.wire.fault(); fault != nil {
		return fault
	}
	var left *exitError
	if errors.As(exit, &left) && !left.killed {
		return left
	}
	return err
}

// enter counts a call in, unless the connection is retired or lost.
func (c *conn) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.lost:
		return false
	case <-c.retired:
		return false
	default:
	}
	c.calls++
	return true
}

func (c *conn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls--; c.calls == 0 && c.out {
		close(c.idle)
	}
}

// retire lets no further call in. Those under way go on.
func (c *conn) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.out {
		return
	}
	c.out = true
	close(c.retired)
	if c.calls == 0 {
		close(c.idle)
	}
}

// call runs one call that has entered, and counts it out. It returns soon after the
// end of ctx even if the server does not read what it is sent; the goroutine then
// stays behind until the connection is taken down.
func (c *conn) call(ctx context.Context, params *sdk.CallToolParams) (*sdk.CallToolResult, error) {
	type answer struct {
		result *sdk.CallToolResult
		err    error
	}
	done := make(chan answer, 1)
	go func() { // keep waits for it
		defer c.leave()
		ctx, end := context.WithCancelCause(ctx)
		defer end(nil)
		defer context.AfterFunc(c.life, func() { end(context.Cause(c.life)) })()
		sending, told := c.link.call(ctx)
		result, err := c.session.CallTool(sending, params)
		done <- answer{result, err}
		if err != nil && ctx.Err() != nil {
			within(cancelGrace, told)
		}
	}()
	select {
	case a := <-done:
		return a.result, a.err
	case <-ctx.Done():
	}
	late := time.NewTimer(cancelGrace)
	defer late.Stop()
	select {
	case a := <-done:
		return a.result, a.err
	case <-late.C:
		return nil, context.Cause(ctx)
	}
}

// within waits until done is closed, but no longer than a while.
func within(a time.Duration, done <-chan struct{}) {
	late := time.NewTimer(a)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
}

// lostError is a failure of the connection, not of the tool.
type lostError struct {
	server, what string
	cause        error
}

func (e *lostError) Error() string {
	return fmt.Sprintf("mcp server %s %s: %v", e.server, e.what, e.cause)
}

func (e *lostError) Unwrap() error { return e.cause }
