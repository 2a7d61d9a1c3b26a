package runwire

import (
	"context"
	"errors"
	"slices"

	"hitchpost/server/protocol"
	"hitchpost/server/sessions"
	"hitchpost/store"
)

// maxReplays is how many runs one connection replays at a time. Each holds a page or two
// of its log, at most 1 MiB each; further ones wait.
const maxReplays = 8

// subscribe replaces this connection's stream of a run by one from a cursor (run wire,
// run.subscribe).
func (c *conn) subscribe(ctx context.Context, f protocol.RunSubscribe) error {
	x, run, err := c.server.Book.Run(ctx, c.token, f.RunID)
	if err != nil {
		return err
	}
	tip, err := c.tip(ctx, x.ID)
	if err != nil {
		return err
	}
	if f.FromSeq > tip {
		return refuse(protocol.CodeBadFrame,
			"from_seq %d is past the newest event of the session, %d: the cursor is from another life of its log", f.FromSeq, tip)
	}
	next := &stream{conn: c, session: x.ID, run: run.ID, begin: fromCursor, from: f.FromSeq}
	if run.End != "" && f.FromSeq >= run.Last { // silence: the client has it all
		next = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.swap(run.ID, next); old != nil {
		c.drop(old)
	}
	if next != nil {
		c.open(next, tip-f.FromSeq <= store.PageEvents) // what is nearly there waits for no replay
	}
	return nil
}

// swap puts a stream of a run, or none, in the place of the one there was.
func (c *conn) swap(run string, next *stream) (old *stream) {
	c.q.Lock()
	defer c.q.Unlock()
	old = c.streams[run]
	if next == nil {
		delete(c.streams, run)
	} else {
		c.keep(next)
	}
	return old
}

// keep holds a stream until it ends. The caller holds q.
func (c *conn) keep(s *stream) {
	if c.streams == nil {
		c.streams = map[string]*stream{}
	}
	c.streams[s.run] = s
}

func (c *conn) tip(ctx context.Context, session string) (int64, error) {
	log, err := c.server.Store.OpenLog(ctx, session)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDeleted) { // a moment ago
		return 0, sessions.ErrNoRun
	}
	if err != nil {
		return 0, err
	}
	defer log.Close()
	tip, _ := log.Tip()
	return tip, nil
}

// attach has the connection hear a run of its owner: one that is open (first is 0), or
// one that starts now, with its turn/start at first. One that it hears or was told of
// already is left alone. It does not block.
func (c *conn) attach(session, run string, first int64) {
	s := &stream{conn: c, session: session, run: run, begin: fromStart}
	if first > 0 {
		s.begin, s.from = fromTail, first
	}
	c.q.Lock()
	known := c.ended || c.streams[run] != nil || c.had.has(run)
	if !known {
		c.keep(s)
	}
	c.q.Unlock()
	if !known {
		c.open(s, first > 0)
	}
}

// drop ends a stream. The caller holds mu.
func (c *conn) drop(s *stream) {
	if s.dropped {
		return
	}
	s.dropped = true
	c.work.Go(s.close)
	c.q.Lock()
	defer c.q.Unlock()
	if c.streams[s.run] == s {
		delete(c.streams, s.run)
	}
	is := func(other *stream) bool { return other == s }
	c.urgent, c.waiting = slices.DeleteFunc(c.urgent, is), slices.DeleteFunc(c.waiting, is)
	c.replayed(s)
}

// open hands a stream to the opener.
func (c *conn) open(s *stream, urgent bool) {
	c.q.Lock()
	defer c.q.Unlock()
	if c.ended {
		return
	}
	if urgent {
		c.urgent = append(c.urgent, s)
	} else {
		c.waiting = append(c.waiting, s)
	}
	c.awakeOpener()
}

// replayed notes that a stream replays no more, and lets another begin. The caller holds q.
func (c *conn) replayed(s *stream) {
	if s.replaying {
		s.replaying = false
		c.replays--
		c.awakeOpener()
	}
}

// awakeOpener has the opener work, unless there is nothing for it. The caller holds q.
func (c *conn) awakeOpener() {
	some := len(c.urgent) > 0 || len(c.waiting) > 0 && c.replays < maxReplays
	if !c.opening && !c.ended && some {
		c.opening = true
		c.work.Go(c.opener)
	}
}

// opener opens streams, one at a time, until none may be: their logs are read, which
// neither the pump nor a log's writer can wait for.
func (c *conn) opener() {
	for s := c.toOpen(); s != nil; s = c.toOpen() {
		s.open()
		c.wake(s, true)
	}
	c.ws.Kick() // it may have been all that was left to do
}

func (c *conn) toOpen() *stream {
	c.q.Lock()
	defer c.q.Unlock()
	switch {
	case c.ended:
	case len(c.urgent) > 0:
		s := c.urgent[0]
		c.urgent = c.urgent[1:]
		return s
	case len(c.waiting) > 0 && c.replays < maxReplays:
		s := c.waiting[0]
		c.waiting = c.waiting[1:]
		s.replaying = true
		c.replays++
		return s
	}
	c.opening = false
	if len(c.urgent) == 0 {
		c.urgent = nil
	}
	if len(c.waiting) == 0 {
		c.waiting = nil
	}
	return nil
}
