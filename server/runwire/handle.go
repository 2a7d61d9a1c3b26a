package runwire

import (
	"context"
	"errors"
	"fmt"

	"hitchpost/server/auth"
	"hitchpost/server/project"
	"hitchpost/server/protocol"
	"hitchpost/server/sessions"
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
		return c.server.Book.Cancel(ctx, c.token, f.RunID, f.Mode)
	case protocol.RunInject:
		return c.inject(ctx, f)
	case protocol.ToolApprove:
		return c.server.Book.Decide(ctx, c.token, turn.Verdict{CallID: f.ToolCallID, RunID: f.RunID, Approve: true})
	case protocol.ToolReject:
		v := turn.Verdict{CallID: f.ToolCallID, RunID: f.RunID}
		if f.Reason != "" {
			v.Reason = &f.Reason
		}
		return c.server.Book.Decide(ctx, c.token, v)
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
	return c.server.Book.With(ctx, x.ID, sessions.ErrAbsent, func(a *turn.Agent) error {
		_, err := a.StartRun(ctx, turn.NewRun{Input: f.Input, Agent: f.Agent})
		return err
	})
}

func (c *conn) inject(ctx context.Context, f protocol.RunInject) error {
	err := c.server.Book.Inject(ctx, c.token, f.RunID, f.Queue, f.Input)
	if invalid := (*turn.InvalidError)(nil); errors.As(err, &invalid) {
		return refuse(protocol.CodeBadFrame, "%s", invalid.Message)
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
	case errors.Is(err, sessions.ErrNoRun), errors.Is(err, sessions.ErrEnded), errors.Is(err, project.ErrNoRun):
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
