package runwire

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"hitchpost/server/auth"
	"hitchpost/server/follow"
	"hitchpost/server/sessions"
	"hitchpost/server/wsconn"
	"hitchpost/store"
	"hitchpost/turn"
)

// Limits bound each stream. A running server can be given others; a stream keeps those
// it began with.
type Limits struct {
	Replay int // events of an open run that a new connection is sent at most
	Queue  int // events that a live stream may be behind
}

// Options is what a Server is made of. The slots and the keyring are shared with the
// other wires; the group is the run wire's own, since its farewell waits for what is
// still to be sent.
type Options struct {
	Store    *store.Store
	Host     *turn.Host
	Book     *sessions.Book
	Keys     *auth.Keyring
	Gate     *auth.Gate
	Failures *auth.Failures
	Group    *wsconn.Group
	Slots    *follow.Slots
	Limits   Limits
	Log      *slog.Logger
}

// Server is the handler of GET /ws.
type Server struct {
	Options
	limits atomic.Pointer[Limits]
	hub    *hub
	shelf  shelf
}

// New returns a Server, which hears of every session from then on. Shutdown ends it.
func New(ctx context.Context, o Options) (*Server, error) {
	s := &Server{Options: o}
	s.SetLimits(o.Limits)
	s.hub = newHub(s)
	if err := s.hub.begin(ctx); err != nil {
		return nil, errors.Join(err, s.Shutdown(ctx))
	}
	return s, nil
}

// SetLimits has what is streamed from now on bounded by l.
func (s *Server) SetLimits(l Limits) { s.limits.Store(&l) }

// lastWords is how long a client may take for what the logs still have for it when the
// server goes.
const lastWords = time.Second

// Shutdown takes no frame any more, sends every connection what the logs have for it,
// closes it with 1001, and returns when the last has ended. When ctx ends first, those
// that are left are cut.
func (s *Server) Shutdown(ctx context.Context) error {
	patience, done := context.WithTimeout(ctx, lastWords)
	s.hub.drain(patience)
	done()
	err := s.Group.Shutdown(ctx)
	s.hub.end()
	return err
}
