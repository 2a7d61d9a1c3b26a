package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"hitchpost/server/protocol"
	"hitchpost/server/sessions"
	"hitchpost/store"
	"hitchpost/turn"
)

// refusal is an error that the client is told.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return r.message }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return refuse(http.StatusBadRequest, format, args...)
}

// Why a request that waits ends before what it waits for has come.
var (
	errRevoked  = refuse(http.StatusUnauthorized, "the token was taken away")
	errNarrowed = refuse(http.StatusForbidden, "the token may not watch any more")
	errDraining = refuse(http.StatusServiceUnavailable, "the server is shutting down")
	errGone     = fmt.Errorf("%w: it was deleted", sessions.ErrAbsent)
)

// codes names each status that an error is answered with (run wire, REST).
var codes = map[int]protocol.RESTCode{
	http.StatusBadRequest:            protocol.RESTValidation,
	http.StatusUnauthorized:          protocol.RESTUnauthorized,
	http.StatusForbidden:             protocol.RESTForbidden,
	http.StatusNotFound:              protocol.RESTNotFound,
	http.StatusMethodNotAllowed:      protocol.RESTValidation,
	http.StatusConflict:              protocol.RESTConflict,
	http.StatusRequestEntityTooLarge: protocol.RESTTooLarge,
	http.StatusTooManyRequests:       protocol.RESTRateLimited,
	http.StatusInternalServerError:   protocol.RESTInternal,
	http.StatusBadGateway:            protocol.RESTUpstream,
	http.StatusServiceUnavailable:    protocol.RESTUnavailable,
}

// statuses maps what the parts below refuse with.
var statuses = []struct {
	err    error
	status int
}{
	{sessions.ErrNoRun, http.StatusNotFound},
	{sessions.ErrNoCall, http.StatusNotFound},
	{sessions.ErrEnded, http.StatusNotFound},
	{sessions.ErrAmbiguous, http.StatusConflict},
	{turn.ErrNotRunning, http.StatusNotFound},
	{turn.ErrStaleCall, http.StatusNotFound},
	{turn.ErrNoInput, http.StatusNotFound},
	{turn.ErrNoEntry, http.StatusBadRequest},
	{turn.ErrTurnOpen, http.StatusConflict},
	{turn.ErrUnsupported, http.StatusConflict},
	{turn.ErrInboxFull, http.StatusConflict},
	{turn.ErrKeyReused, http.StatusConflict},
	{turn.ErrTooManyAgents, http.StatusServiceUnavailable},
	{turn.ErrDraining, http.StatusServiceUnavailable},
	{store.ErrClosed, http.StatusServiceUnavailable},
}

// refusalOf says how an error is answered. What is nobody's fault but ours is for
// the server's log, and the client is told so.
func (c *call) refusalOf(err error) *refusal {
	var known *refusal
	var wrong *turn.InvalidError
	var failed *turn.AppendError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &wrong):
		return &refusal{http.StatusBadRequest, wrong.Message}
	case errors.As(err, &failed):
		c.server.Log.Warn("request failed", "route", c.route.path, "err", err)
		return &refusal{http.StatusServiceUnavailable, err.Error()}
	case errors.Is(err, sessions.ErrAbsent), errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDeleted),
		errors.Is(err, turn.ErrForeign):
		return c.absent()
	case errors.Is(err, store.ErrDamaged):
		c.server.Log.Error("request failed", "route", c.route.path, "err", err)
		return &refusal{http.StatusInternalServerError, sessions.Damaged(err)}
	}
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return &refusal{s.status, err.Error()}
		}
	}
	if errors.Is(err, context.Canceled) {
		if errors.As(context.Cause(c.ctx), &known) {
			return known
		} // else the client is gone
		return &refusal{http.StatusServiceUnavailable, "the request was given up"}
	}
	c.server.Log.Error("request failed", "route", c.route.path, "err", err)
	return &refusal{http.StatusInternalServerError, "the server hit an unexpected error; its log says more"}
}

// absent answers for what the path names, whatever became of it.
func (c *call) absent() *refusal {
	if run := c.r.PathValue("run"); run != "" {
		return &refusal{http.StatusNotFound, fmt.Sprintf("%v: %.140q", sessions.ErrNoRun, run)}
	}
	if call := c.r.PathValue("call"); call != "" {
		return &refusal{http.StatusNotFound, fmt.Sprintf("%v: %.140q", sessions.ErrNoCall, call)}
	}
	return &refusal{http.StatusNotFound, fmt.Sprintf("%v: %.140q", sessions.ErrAbsent, c.r.PathValue("session"))}
}

// problemBody is the schema of every refusal.
var problemBody = protocol.RESTError{}

func problem(r *refusal) protocol.RESTError {
	return protocol.RESTError{Error: protocol.RESTProblem{Code: codes[r.status], Message: r.message}}
}
