package runwire

import (
	"context"
	"errors"
	"fmt"

	"hitchpost/server/auth"
	"hitchpost/server/project"
	"hitchpost/server/protocol"
	"hitchpost/server/sessions"
	"hitchpost/store"
	"hitchpost/turn"
)

// refused is a frame that cannot be carried out.
type refused struct {
	code    protocol.Code
	message string
}

func (r *refused) Error() string { return r.message }

func refuse(code protocol.Code, format string, args ...any) error {
	return &refused{code, fmt.Sprintf(format, args...)}
}

// handle carries a frame out. Success is silent: the events tell.
func (c *conn) handle(f frame) error {
	if verb := verbOf(f); !c.token.May(verb) {
		return refuse(protocol.CodeForbidden, "this token may not %s", verb)
	}
	// The agent decides and commits; neither is cut short by the end of a connection.
	ctx := context.Background()
	switch f := f.(type) {
	case protocol.RunCreate:
		return c.createRun(ctx, f)
	case protocol.RunSubscribe:
		return c.subscribe(ctx, f)
	case protocol.RunCancel:
		return c.cancelRun(ctx, f)
	case protocol.RunInject:
		return c.inject(ctx, f)
	case protocol.ToolApprove:
		return c.decide(ctx, f.RunID, turn.Verdict{CallID: f.ToolCallID, Approve: true})
	case protocol.ToolReject:
		v := turn.Verdict{CallID: f.ToolCallID}
		if f.Reason != "" {
			v.Reason = &f.Reason
		}
		return c.decide(ctx, f.RunID, v)
	}
	return nil
}

// verbOf is what a token must be allowed for a frame.
func verbOf(f frame) auth.Verbs {
	switch f.(type) {
	case protocol.RunSubscribe:
		return auth.Watch
	case protocol.ToolApprove, protocol.ToolReject:
		return auth.Approve
	}
	return auth.Inject // run.create, run.cancel, run.inject
}

func (c *conn) createRun(ctx context.Context, f protocol.RunCreate) error {
	x, err := c.server.Book.Row(ctx, c.token, f.SessionID)
	if err != nil {
		return err
	}
	return c.with(ctx, x.ID, sessions.ErrAbsent, func(a *turn.Agent) error {
		_, err := a.StartRun(ctx, turn.NewRun{Input: f.Input, Agent: f.Agent})
		return err
	})
}

func (c *conn) cancelRun(ctx context.Context, f protocol.RunCancel) error {
	x, run, err := c.server.Book.Run(ctx, c.token, f.RunID)
	if err != nil || run.End != "" {
		return err // an ended run: silence
	}
	stop := turn.Stop{Mode: turn.Abort, Resumable: true}
	if f.Mode == protocol.ModeGraceful {
		stop.Mode = turn.Graceful
	}
	err = c.with(ctx, x.ID, sessions.ErrNoRun, func(a *turn.Agent) error { return a.StopRun(ctx, run.ID, stop) })
	if errors.Is(err, turn.ErrNotRunning) { // it has ended meanwhile
		return nil
	}
	return err
}

func (c *conn) inject(ctx context.Context, f protocol.RunInject) error {
	x, run, err := c.server.Book.Run(ctx, c.token, f.RunID)
	if err != nil {
		return err
	}
	ended := refuse(protocol.CodeRunNotFound, "run %s has ended; create another with run.create", run.ID)
	if run.End != "" {
		return ended
	}
	err = c.with(ctx, x.ID, sessions.ErrNoRun, func(a *turn.Agent) error {
		return a.InjectInto(ctx, run.ID, turn.Inject{Text: f.Input, Queue: string(f.Queue)})
	})
	var invalid *turn.InvalidError
	switch {
	case errors.Is(err, turn.ErrNotRunning):
		return ended
	case errors.As(err, &invalid):
		return refuse(protocol.CodeBadFrame, "%s", invalid.Message)
	}
	return err
}

func (c *conn) decide(ctx context.Context, runID string, v turn.Verdict) error {
	session, run, err := c.server.Book.Standing(ctx, c.token, v.CallID, runID)
	if err != nil {
		return err
	}
	v.RunID, v.By = run, c.token.Name
	return c.with(ctx, session, sessions.ErrNoCall, func(a *turn.Agent) error { return a.Decide(ctx, v) })
}

// with does something with the agent of a session that the token reaches. absent is the
// answer if it was deleted a moment ago.
func (c *conn) with(ctx context.Context, session string, absent error, do func(*turn.Agent) error) error {
	a, err := c.server.Host.Open(ctx, session)
	if err == nil {
		defer a.Release()
		err = do(a)
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDeleted) || errors.Is(err, turn.ErrForeign) { // it is being deleted
		return absent
	}
	return err
}

// codeOf maps what a frame was refused with, to what the client is told. internal is
// true where the message is for the server's log alone.
func codeOf(err error) (code protocol.Code, internal bool) {
	var own *refused
	var invalid *turn.InvalidError
	var failed *turn.AppendError
	switch {
	case errors.As(err, &own):
		return own.code, false
	case errors.Is(err, sessions.ErrAbsent):
		return protocol.CodeSessionNotFound, false
	case errors.Is(err, sessions.ErrNoRun), errors.Is(err, project.ErrNoRun):
		return protocol.CodeRunNotFound, false
	case errors.Is(err, sessions.ErrNoCall), errors.Is(err, sessions.ErrAmbiguous),
		errors.Is(err, turn.ErrStaleCall), errors.Is(err, turn.ErrUnsupported):
		return protocol.CodeApprovalFailed, false
	case errors.Is(err, turn.ErrTurnOpen):
		return protocol.CodeSessionBusy, false
	case errors.Is(err, turn.ErrInboxFull):
		return protocol.CodeBadFrame, false
	case errors.As(err, &invalid):
		return protocol.CodeConfigError, false
	case errors.As(err, &failed):
		return protocol.CodePersistError, false
	case errors.Is(err, turn.ErrDraining), errors.Is(err, turn.ErrTooManyAgents):
		return protocol.CodeInternal, false
	}
	return protocol.CodeInternal, true
}
