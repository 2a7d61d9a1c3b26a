package agentsocket

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"hitchpost/server/auth"
	"hitchpost/server/follow"
	"hitchpost/server/wsconn"
	"hitchpost/turn"
)

// Limits bound each connection. A running server can be given others; a
// subscription keeps those it began with.
type Limits struct {
	Replay int // events that one subscribe replays at most
	Queue  int // events that a live client may be behind
}

// Options is what a Server is made of. The slots, the group and the keyring are
// shared with the other wires.
type Options struct {
	Host   *turn.Host
	Keys   *auth.Keyring
	Gate   *auth.Gate
	Group  *wsconn.Group
	Slots  *follow.Slots
	LogID  string // identity of the file
	Limits Limits
	Log    *slog.Logger
}

// Server is the handler of GET /agents/{agent_id}/ws. Its connections end with the
// Group's Shutdown.
type Server struct {
	Options
	limits atomic.Pointer[Limits]

	mu   sync.Mutex
	live map[string]*conn // the connection of each agent, the newest
}

// New returns a Server.
func New(o Options) *Server {
	s := &Server{Options: o, live: map[string]*conn{}}
	s.SetLimits(o.Limits)
	return s
}

// SetLimits has what is subscribed from now on bounded by l.
func (s *Server) SetLimits(l Limits) { s.limits.Store(&l) }

// Drop ends the connection of a session that was deleted.
func (s *Server) Drop(session string) {
	s.mu.Lock()
	c := s.live[session]
	s.mu.Unlock()
	if c != nil {
		c.ws.End(wsconn.Unauthorized, unauthorized)
	}
}

// take makes c the connection of its agent and ends the one before it, at once:
// whether the old client answers, or is there at all, does not matter to the new one
// (Agent Socket v1, one connection per agent).
func (s *Server) take(c *conn) {
	s.mu.Lock()
	old := s.live[c.agentID]
	s.live[c.agentID] = c
	s.mu.Unlock()
	if old != nil {
		old.ws.End(wsconn.Superseded, superseded)
	}
}

// leave forgets c, unless a newer connection has taken its place.
func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[c.agentID] == c {
		delete(s.live, c.agentID)
	}
}
