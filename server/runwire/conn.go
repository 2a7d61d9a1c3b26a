package runwire

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
	"hitchpost/server/sessions"
	"hitchpost/server/wsconn"
	"hitchpost/store"
)

// quantum is how many bytes of frames one source writes before the next has its turn, so
// that no run starves another.
const quantum = 4 << 10

// conn is one client: the wsconn.Handler that speaks the run wire. An idle one holds no
// stream, no log and no timer, however many sessions its owner has.
type conn struct {
	server *Server
	ws     *wsconn.Conn
	from   netip.Addr
	late   *time.Timer // ends it when no token comes
	gone   chan struct{}

	token   *auth.Token // nil before the first frame was accepted; then fixed
	release func()      // from the keyring

	out outbox

	mu       sync.Mutex // held while frames of streams are written, and while one is replaced
	arrivals []func()   // of streams that wait to be shown that the client has what it was sent

	// What the writers of logs touch: held for a few instructions at a time.
	q        sync.Mutex
	streams  map[string]*stream // by run id
	had      history            // runs whose run.started was sent
	ready    []source           // that may have something to write, first come first served
	urgent   []*stream          // to be opened at once: they begin at the tail, or left something out
	waiting  []*stream          // to be opened when one of those that replay is through
	replays  int                // streams that replay, at most maxReplays
	opening  bool               // the opener is at work
	draining bool               // no frame is taken; it ends when nothing is left to send
	ended    bool               // nothing begins any more

	work   sync.WaitGroup  // the opener, and streams being closed
	life   context.Context // of waits for a slot
	cancel func()
}

// source writes frames: a stream, or the outbox. more tells that it could go on at once.
type source interface {
	serve(b *budget) (more bool)
	isQueued() *bool // guarded by conn.q
}

// budget is what a source may write now.
type budget struct {
	w    *wsconn.Writer
	left int  // bytes
	full bool // the connection takes no more before it was flushed
}

// fits tells whether a frame of n bytes may be written.
func (b *budget) fits(n int) bool {
	if b.left <= 0 || b.full {
		return false
	}
	b.full = !b.w.Fits(n)
	return !b.full
}

func (b *budget) write(line []byte) {
	b.w.Text(line)
	b.left -= len(line)
}

func newConn(s *Server, ws *wsconn.Conn, from netip.Addr) *conn {
	c := &conn{server: s, ws: ws, from: from, gone: make(chan struct{})}
	c.out.conn = c
	c.life, c.cancel = context.WithCancel(context.Background())
	return c
}

// log is made when it is needed: an idle connection has no use for one.
func (c *conn) log() *slog.Logger { return c.server.Log.With("token", c.token.Name) }

// Message takes one message of the client, in order.
func (c *conn) Message(text []byte, err error) {
	switch {
	case err == wsconn.ErrTooLarge:
		c.ws.End(wsconn.FrameTooBig, nil)
	case c.token == nil && err != nil:
		c.ws.End(wsconn.FirstFrame, nil)
	case c.token == nil:
		c.authenticate(text)
	case c.isDraining():
		// It will hear 1001; what it asked for now has no effect.
	case err != nil:
		c.refuse(asked{}, protocol.CodeBadFrame, err.Error())
	default:
		c.take(text)
	}
}

// take decodes a frame and carries it out.
func (c *conn) take(text []byte) {
	f, about, err := decode(text)
	if err != nil {
		c.refuse(about, protocol.CodeBadFrame, err.Error())
		return
	}
	if err := c.handle(f); err != nil {
		code, internal := codeOf(err)
		message := err.Error()
		switch {
		case errors.Is(err, store.ErrDamaged):
			c.log().Error("a frame failed", "type", f.ClientType(), "err", err)
			message = sessions.Damaged(err)
		case internal:
			c.log().Error("a frame failed", "type", f.ClientType(), "err", err)
			message = "the server hit an unexpected error; its log says more"
		}
		c.refuse(about, code, message)
	}
}

func (c *conn) refuse(about asked, code protocol.Code, message string) {
	c.ws.Send(protocol.Encode(protocol.RunError{RunID: about.run, SessionID: about.session, Code: code, Message: message}, 0))
}

// Fill writes what the ready sources have, each in its turn.
func (c *conn) Fill(w *wsconn.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		s := c.pop()
		if s == nil {
			break
		}
		b := &budget{w: w, left: quantum}
		if s.serve(b) {
			c.wake(s, false)
		}
		if b.full {
			return // Fill is called again behind the flush
		}
	}
	if w.Empty() && c.isDraining() && c.isIdle() {
		c.ws.End(wsconn.ShuttingDown, nil)
	}
}

// wake has a source served. kick is false where the pump is at work anyway.
func (c *conn) wake(s source, kick bool) {
	c.q.Lock()
	queued := s.isQueued()
	if !*queued && !c.ended {
		*queued = true
		c.ready = append(c.ready, s)
	}
	c.q.Unlock()
	if kick {
		c.ws.Kick()
	}
}

func (c *conn) pop() source {
	c.q.Lock()
	defer c.q.Unlock()
	if len(c.ready) == 0 {
		c.ready = nil
		return nil
	}
	s := c.ready[0]
	c.ready[0] = nil
	c.ready = c.ready[1:]
	*s.isQueued() = false
	return s
}

// isIdle tells whether everything that the logs have was written. The caller holds mu.
func (c *conn) isIdle() bool {
	c.q.Lock()
	defer c.q.Unlock()
	if len(c.ready)+len(c.urgent)+len(c.waiting) > 0 || c.opening {
		return false
	}
	for _, s := range c.streams {
		if s.reader != nil && !s.reader.AtTail() {
			return false // its page is being read
		}
	}
	return true
}

func (c *conn) isDraining() bool {
	c.q.Lock()
	defer c.q.Unlock()
	return c.draining
}

// drain lets the connection end as soon as all there is was sent.
func (c *conn) drain() {
	c.q.Lock()
	c.draining = true
	c.q.Unlock()
	c.ws.Kick()
}

// Ended gives everything back.
func (c *conn) Ended(cause *wsconn.Cause) {
	defer close(c.gone)
	c.late.Stop()
	c.cancel()
	if c.token == nil {
		return
	}
	c.log().Debug("connection ended", "cause", cause)
	c.server.hub.leave(c)
	c.release()
	c.q.Lock()
	c.ended = true
	streams := c.streams
	c.streams, c.ready, c.urgent, c.waiting = nil, nil, nil, nil
	c.q.Unlock()
	c.work.Wait()
	for _, s := range streams {
		s.close()
	}
}

// history is the ids of the newest runs that something was noted for.
type history struct {
	runs  map[string]struct{}
	order []string // oldest first
}

// historyLimit bounds a history, at about 100 bytes a run. Who hears of an older run
// again is told run.started again, which changes nothing.
const historyLimit = 1024

func (h *history) has(run string) bool {
	_, ok := h.runs[run]
	return ok
}

func (h *history) add(run string) {
	if h.has(run) {
		return
	}
	if h.runs == nil {
		h.runs = map[string]struct{}{}
	}
	if len(h.order) == historyLimit {
		delete(h.runs, h.order[0])
		h.order = h.order[1:]
	}
	h.runs[run] = struct{}{}
	h.order = append(h.order, run)
}
