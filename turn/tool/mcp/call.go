package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hitchpost/turn/event"
	"hitchpost/turn/tool"
)

var errTimeout = errors.New("it took too long")

// run is a mounted tool's Run.
func (s *server) run(ctx context.Context, remote string, call tool.Call) tool.Result {
	ctx, stop := context.WithTimeoutCause(ctx, s.cfg.Timeout, errTimeout)
	defer stop()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(s.ctx, func() { end(errClosed) })()
	c, err := s.borrow(ctx)
	if err != nil {
		return s.failed(ctx, err)
	}
	result, err := c.request(ctx, remote, call)
	if err == nil {
		return unseal(result)
	}
	if !refused(err) && !cancelled(ctx) {
		err = s.lost(ctx, c, err)
		s.drop(c) // before the failure is told: the next call may come right behind it
	}
	return s.failed(ctx, err)
}

// request sends one call and has its progress reported.
func (c *conn) request(ctx context.Context, remote string, call tool.Call) (*sdk.CallToolResult, error) {
	token, done := c.wire.listen(call.Progress)
	defer done()
	args := call.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	params := &sdk.CallToolParams{Name: remote, Arguments: args, Meta: sdk.Meta{}}
	params.SetProgressToken(token)
	return c.call(ctx, params)
}

// lost adds to an error what became of the connection.
func (s *server) lost(ctx context.Context, c *conn, err error) error {
	var exit error
	if answer(err) == nil { // else this one request did not get through
		select {
		case <-c.lost:
			exit = c.link.wait()
		case <-c.link.silent(): // the session is about to be over
			exit = c.link.wait()
		case <-time.After(cancelGrace):
		case <-ctx.Done():
		}
	}
	return &lostError{s.cfg.Name, "was lost during the call, whose outcome is unknown", c.explain(c.mount, err, exit)}
}

// failed makes an error the result of a call.
func (s *server) failed(ctx context.Context, err error) tool.Result {
	switch {
	case context.Cause(ctx) == errTimeout:
		seconds := strconv.FormatFloat(s.cfg.Timeout.Seconds(), 'f', -1, 64)
		return tool.Result{Error: "mcp timeout after " + seconds + "s", Cause: string(event.CodeToolTimeout)}
	case ctx.Err() != nil:
		return tool.Fail("cancelled")
	case refused(err):
		err = fmt.Errorf("mcp server %s refused the call: %w", s.cfg.Name, answer(err))
	}
	return tool.Result{Error: s.mask.text(err.Error()), Cause: string(event.CodeMCP)}
}

// refused tells whether the server itself answered with an error. The SDK uses the
// same type for what its own transport refuses, which a code tells apart.
func refused(err error) bool {
	e := answer(err)
	return e != nil && e.Code != codeTransport
}

func answer(err error) *jsonrpc.Error {
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// cancelled tells whether the caller, not the clock, has ended ctx.
func cancelled(ctx context.Context) bool {
	return ctx.Err() != nil && context.Cause(ctx) != errTimeout
}
