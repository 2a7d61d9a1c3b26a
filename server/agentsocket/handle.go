package agentsocket

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"hitchpost/server/auth"
	"hitchpost/server/follow"
	"hitchpost/server/sessions"
	"hitchpost/server/wsconn"
	"hitchpost/store"
	"hitchpost/turn"
)

// handle carries a frame out and answers it, if there is anything to answer: what
// was accepted shows in the log.
func (c *conn) handle(f frame) {
	if verb := verbOf(f); !c.token.May(verb) {
		c.ws.Send(failure(CodeUnsupported, fmt.Sprintf("this token may not %s", verb)))
		return
	}
	// The agent decides and commits; neither is cut short by the end of a connection.
	ctx := context.Background()
	var err error
	switch f := f.(type) {
	case subscribe:
		c.subscribe(f.FromSeq)
	case inject:
		err = c.agent.Inject(ctx, turn.Inject{Text: f.Text, Wake: f.Wake, ID: f.ID})
	case cancel:
		err = c.agent.Cancel(ctx, f.Reason)
	case decide:
		err = c.agent.Decide(ctx, turn.Verdict{CallID: f.CallID, Approve: f.Approve, Reason: f.Reason})
	case setModel:
		err = c.agent.SetModel(ctx, f.Role, f.Model)
	case setPolicy:
		err = c.agent.SetPolicy(ctx, f.Patterns, "")
	}
	if err == nil {
		return
	}
	if code, ok := codeOf(err); ok {
		c.ws.Send(failure(code, err.Error()))
		return
	}
	c.ws.End(farewell(c.log(), err))
}

// verbOf is what a token must be allowed for a frame.
func verbOf(f frame) auth.Verbs {
	switch f.(type) {
	case subscribe:
		return auth.Watch
	case inject, cancel:
		return auth.Inject
	case decide:
		return auth.Approve
	default: // set_model, set_policy
		return auth.Admin
	}
}

// codeOf maps a refusal that leaves the connection open.
func codeOf(err error) (Code, bool) {
	var invalid *turn.InvalidError
	switch {
	case errors.As(err, &invalid), errors.Is(err, turn.ErrInboxFull):
		return CodeBadFrame, true
	case errors.Is(err, turn.ErrNotRunning):
		return CodeNotRunning, true
	case errors.Is(err, turn.ErrStaleCall):
		return CodeStaleCall, true
	case errors.Is(err, turn.ErrUnsupported):
		return CodeUnsupported, true
	}
	return "", false
}

// farewell maps an error that ends the connection. The client is told what it can
// do something about; the rest is for the log.
func farewell(log *slog.Logger, err error) (*wsconn.Cause, []byte) {
	var failed *turn.AppendError
	switch {
	case errors.Is(err, turn.ErrDraining):
		return wsconn.ShuttingDown, nil
	case errors.Is(err, follow.ErrLagged):
		return wsconn.Lagged, lagged
	case errors.Is(err, turn.ErrForeign), errors.Is(err, store.ErrDeleted): // before Drop has come
		return wsconn.Unauthorized, unauthorized
	case errors.Is(err, turn.ErrTooManyAgents), errors.As(err, &failed):
		log.Warn("connection ends", "err", err)
		return wsconn.Internal, failure(CodeInternal, err.Error())
	case errors.Is(err, store.ErrDamaged):
		log.Error("connection ends", "err", err)
		return wsconn.Internal, failure(CodeInternal, sessions.Damaged(err))
	default:
		log.Error("connection ends", "err", err)
		return wsconn.Internal, failure(CodeInternal, "the server hit an unexpected error; its log says more")
	}
}
