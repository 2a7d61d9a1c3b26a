package agentsocket

import (
	"context"
	"log/slog"
	"sync"

	"hitchpost/server/auth"
	"hitchpost/server/wsconn"
	"hitchpost/turn"
)

// conn is one client of one agent: the wsconn.Handler that speaks the protocol.
type conn struct {
	server  *Server
	ws      *wsconn.Conn
	agent   *turn.Agent // held until giveBack
	agentID string
	token   *auth.Token
	release func() // from the keyring
	unwatch func() // of halts

	mu  sync.Mutex    // held while events of a subscription are queued, and while it is replaced
	sub *subscription // nil before the first subscribe
}

// log is made when it is needed: an idle connection has no use for one.
func (c *conn) log() *slog.Logger {
	return c.server.Log.With("agent", c.agentID, "token", c.token.Name)
}

// hello snapshots the session. last_seq comes first: what changes until the status is read
// reaches the client as events behind it, and nothing that the status tells of is missed.
func (c *conn) hello(ctx context.Context, more bool) ([]byte, error) {
	h := hello{Type: "hello", Proto: proto, SessionID: c.agentID}
	h.LastSeq, _ = c.agent.Log().Tip()
	if more {
		state, err := c.agent.State(ctx)
		if err != nil {
			return nil, err
		}
		h.helloMore = &helloMore{
			LogID:       c.server.LogID,
			Status:      state.Status,
			Pending:     state.Pending,
			ReplayLimit: int64(c.server.limits.Load().Replay),
		}
	}
	return encode(h), nil
}

// Message takes one message of the client, in order.
func (c *conn) Message(text []byte, err error) {
	if err != nil {
		c.ws.Send(failure(CodeBadFrame, err.Error()))
		return
	}
	f, err := decode(text)
	if err != nil {
		c.ws.Send(failure(CodeBadFrame, err.Error()))
		return
	}
	c.handle(f)
}

// Fill queues what the subscription has. It holds mu, so a new subscription is
// handled before or after it, never within.
func (c *conn) Fill(w *wsconn.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sub == nil {
		return
	}
	if err := c.sub.fill(w); err != nil {
		c.ws.End(farewell(c.log(), err))
	}
}

// Ended gives everything back.
func (c *conn) Ended(cause *wsconn.Cause) {
	c.log().Debug("connection ended", "cause", cause)
	c.giveBack()
}

func (c *conn) giveBack() {
	c.server.leave(c)
	c.release()
	c.unwatch()
	if c.sub != nil {
		c.sub.reader.Close()
	}
	c.agent.Release()
}
