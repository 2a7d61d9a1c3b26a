package runwire

import (
	"net/http"
	"net/netip"
	"time"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
	"hitchpost/server/wsconn"
)

// authTimeout is how long the first frame may take (run wire, Connection).
const authTimeout = 10 * time.Second

// ServeHTTP takes GET /ws. Until the upgrade it answers in HTTP, and only about the
// request; the token comes in the first frame.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.Gate.Check(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if !wsconn.Asked(w, r, `connect with an upgrade, then send {"type":"auth","token":"…"}`) {
		return
	}
	from := s.Failures.Address(r)
	if !s.Failures.Allow(from) {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many wrong tokens came from this address; try again in a minute", http.StatusTooManyRequests)
		return
	}
	leave, ok := s.Group.Enter()
	if !ok || s.hub.isDraining() {
		if ok {
			leave()
		}
		http.Error(w, wsconn.ErrShutdown.Error(), http.StatusServiceUnavailable)
		return
	}
	defer leave()
	ws, err := s.Group.Accept(w, r)
	if err != nil {
		return // answered
	}
	s.admit(ws, from)
}

// admit has a connection read; it hears nothing before its token is accepted.
func (s *Server) admit(ws *wsconn.Conn, from netip.Addr) {
	c := newConn(s, ws, from)
	c.late = time.AfterFunc(authTimeout, func() { ws.End(wsconn.NoToken, nil) })
	if !ws.Serve(c) { // shut down before it began
		c.late.Stop()
	}
}

// admits returns the token of a secret that may come in from an address. A right one of an
// address that has used up its failures is refused, and counts as none.
func (s *Server) admits(secret string, from netip.Addr) (*auth.Token, bool) {
	token, ok := s.Keys.Lookup(secret)
	if !ok {
		s.Failures.Failed(from)
		return nil, false
	}
	return token, s.Failures.Allow(from)
}

// authenticate takes the first frame: a token that is known, or the end. The address is
// asked for once more, since many connections can be opened before the first one fails.
func (c *conn) authenticate(text []byte) {
	m, err := parse(text)
	if err != nil || protocol.ClientType(m.NeedString("type")) != protocol.TypeAuth {
		c.ws.End(wsconn.FirstFrame, nil)
		return
	}
	secret := m.NeedString("token")
	if m.Err() != nil {
		c.ws.End(wsconn.FirstFrame, nil)
		return
	}
	token, ok := c.server.admits(secret, c.from)
	if !ok {
		c.ws.End(wsconn.WrongToken, nil)
		return
	}
	release, ok := c.server.Keys.RegisterAll(token, func() { c.ws.End(wsconn.Withdrawn, nil) })
	if !ok { // taken away a moment ago
		c.ws.End(wsconn.WrongToken, nil)
		return
	}
	c.late.Stop()
	c.token, c.release = token, release
	agents, allow := token.Grant()
	c.mu.Lock() // so that auth.ok is the first frame, and who has it hears of all that follows
	defer c.mu.Unlock()
	c.server.hub.join(c)
	c.ws.Send(protocol.Encode(protocol.AuthOK{Owner: token.Owner, Allow: allow.Names(), Agents: agents, LogID: c.server.Store.LogID()}, 0))
}
