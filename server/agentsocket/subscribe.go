package agentsocket

import (
	"hitchpost/server/follow"
	"hitchpost/server/wsconn"
)

// subscription is the one stream of events of a connection.
type subscription struct {
	notice []byte // replay_truncated, nil once it is queued or when there is none
	reader *follow.Reader
}

// subscribe replaces the subscription (Agent Socket v1, subscribe). The window is
// fixed here, whenever its events are read and sent.
func (c *conn) subscribe(from int64) {
	log, limits := c.agent.Log(), c.server.limits.Load()
	tip, _ := log.Tip()
	start, cut := follow.Window(tip, from, int64(limits.Replay))
	next := &subscription{reader: c.server.Slots.Follow(log, start, limits.Queue, c.ws.Kick)}
	if cut {
		next.notice = encode(truncated{"replay_truncated", from, start})
	}
	c.mu.Lock()
	old := c.sub
	c.sub = next
	c.mu.Unlock()
	if old != nil {
		old.reader.Close()
	}
	c.ws.Kick()
}

// fill queues events as long as they fit.
func (s *subscription) fill(w *wsconn.Writer) error {
	if s.notice != nil {
		if !w.Fits(len(s.notice)) {
			return nil
		}
		w.Text(s.notice)
		s.notice = nil
	}
	return s.reader.Next(w)
}
