package agentsocket

import (
	"net/http"
	"net/url"
	"strings"

	"hitchpost/server/auth"
	"hitchpost/server/sessions"
	"hitchpost/server/wsconn"
)

// The farewell frames that say nothing of their own.
var (
	unauthorized = failure(CodeUnauthorized, "the token is missing, wrong, or does not open this agent")
	superseded   = failure(CodeSuperseded, "a newer connection has taken over this agent")
	lagged       = failure(CodeLagged, "the client read too slowly; subscribe again from the last seq it has, plus one")
)

// ServeHTTP takes GET /agents/{agent_id}/ws. Until the upgrade it answers in HTTP,
// and only about the request; everything about tokens and agents is answered in
// frames, after it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	agentID, ok := agentOf(r.URL)
	if !ok {
		http.Error(w, "no such page; an agent's socket is /agents/{agent_id}/ws, "+
			"its id "+sessions.IDRule, http.StatusNotFound)
		return
	}
	if err := s.Gate.Check(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if !wsconn.Asked(w, r, "connect with an upgrade, and a token in Authorization: Bearer") {
		return
	}
	leave, ok := s.Group.Enter()
	if !ok {
		http.Error(w, wsconn.ErrShutdown.Error(), http.StatusServiceUnavailable)
		return
	}
	defer leave()
	// Before anything about the agent is looked up; the upgrade comes first for the
	// good and the bad alike.
	token, opens := s.Keys.Open(auth.Secret(r), agentID)
	ws, err := s.Group.Accept(w, r, auth.Subprotocol)
	if err != nil {
		return // answered
	}
	if !opens {
		ws.End(wsconn.Unauthorized, unauthorized)
		return
	}
	s.admit(r, ws, token, agentID)
}

// agentOf reads the one path segment between /agents/ and /ws, decoded once.
func agentOf(u *url.URL) (string, bool) {
	rest, ok := strings.CutPrefix(u.EscapedPath(), "/agents/")
	segment, ok2 := strings.CutSuffix(rest, "/ws")
	if !ok || !ok2 || strings.Contains(segment, "/") {
		return "", false
	}
	id, err := url.PathUnescape(segment)
	if err != nil || !sessions.ValidID(id) {
		return "", false
	}
	return id, true
}

// admit lets an authorized client in: the session exists durably and the newest
// connection has the agent before hello is sent.
func (s *Server) admit(r *http.Request, ws *wsconn.Conn, token *auth.Token, agentID string) {
	c := &conn{server: s, ws: ws, agentID: agentID, token: token}
	agent, err := s.Host.Hold(r.Context(), agentID, token.Owner)
	if err != nil {
		ws.End(farewell(c.log(), err))
		return
	}
	c.agent = agent
	release, ok := s.Keys.Register(token, agentID, func() { ws.End(wsconn.Unauthorized, unauthorized) })
	if !ok { // the token was taken away a moment ago
		agent.Release()
		ws.End(wsconn.Unauthorized, unauthorized)
		return
	}
	c.release = release
	c.unwatch = agent.OnHalt(func(err error) { ws.End(farewell(c.log(), err)) })
	hello, err := c.hello(r.Context(), auth.Offers(r))
	if err != nil {
		c.giveBack()
		ws.End(farewell(c.log(), err))
		return
	}
	s.take(c)
	if !ws.Serve(c, hello) { // superseded, revoked or shut down before it began
		c.giveBack()
	}
}
