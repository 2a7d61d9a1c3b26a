package runwire

import (
	"errors"

	"hitchpost/server/follow"
	"hitchpost/server/project"
	"hitchpost/store"
)

// opened is what the opener found for a stream.
type opened struct {
	log   *store.Log
	p     *project.Projector
	first int64 // seq of turn/start
	next  int64 // seq of the event that is read next
	gap   bool  // something between was left out
	over  bool  // the cursor has it all
}

// open reads what a stream needs to begin, or to begin again, and has it read on. It
// holds a slot meanwhile, as every read of a log for a client does.
func (s *stream) open() {
	c := s.conn
	c.mu.Lock()
	dropped := s.dropped
	c.mu.Unlock()
	if dropped {
		c.q.Lock()
		c.replayed(s)
		c.q.Unlock()
		return
	}
	release, err := c.server.Slots.Take(c.life)
	if err != nil {
		return // the connection has ended
	}
	at, err := s.find()
	release()
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.dropped {
		if at.log != nil {
			at.log.Close()
		}
		return
	}
	if at.log != nil {
		s.log = at.log
		c.server.shelf.enter(s.log)
	}
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDeleted), errors.Is(err, project.ErrNoRun):
		s.lose()
	case err != nil && c.life.Err() != nil: // the connection has ended, and its reads with it
	case err != nil:
		s.broken(err)
	case at.over:
		s.finished = true
	default:
		s.start(at)
	}
}

// start has the stream read from where the opener found. The caller holds mu.
func (s *stream) start(at opened) {
	c := s.conn
	s.p, s.first, s.next, s.gap, s.err = at.p, at.first, at.next, at.gap, nil
	s.p.Share = func(seq int64, build func() []project.Frame) []project.Frame {
		return c.server.shelf.frames(s.log, seq, build)
	}
	if s.begin == fromCursor {
		s.cursor = max(s.cursor, s.from)
		c.q.Lock()
		s.started = c.had.has(s.run) && s.from >= s.first
		c.q.Unlock()
	}
	if f, ok := s.p.Started(); ok && !s.started && s.next > s.first {
		s.pending = append(s.pending, f)
		s.started = true
	}
	queue := c.server.limits.Load().Queue
	if s.begin == fromTail {
		s.reader = c.server.Slots.FollowLive(s.log, s.next, queue, s.wake)
	} else {
		s.reader = c.server.Slots.Follow(s.log, s.next, queue, s.wake)
	}
}

// find reads where the stream begins. It looks at nothing that Fill changes: a stream that
// is being opened has no reader.
func (s *stream) find() (at opened, err error) {
	ctx, c := s.conn.life, s.conn
	if s.err != nil && !errors.Is(s.err, follow.ErrLagged) {
		_, err := c.server.Store.Session(ctx, s.session)
		return at, errors.Join(err, s.err) // it was deleted, or the disk fails
	}
	log := s.log
	if log == nil {
		if log, err = c.server.Store.OpenLog(ctx, s.session); err != nil {
			return at, err
		}
		at.log = log
	}
	if s.begin == fromTail && s.err == nil { // a run that starts
		at.first, at.next = s.from, s.from
		at.p, err = project.Behind(ctx, log, s.from-1)
		return at, err
	}
	run, err := project.Find(ctx, log, s.run)
	if err != nil {
		return at, err
	}
	at.first, at.next = run.First, max(run.First, s.next)
	switch s.begin {
	case fromCursor:
		at.next = max(run.First, s.from+1)
		at.over = run.End != "" && at.next > run.Last
	case fromStart:
		at.next, at.gap = follow.Window(run.Last, run.First, int64(c.server.limits.Load().Replay))
	case fromTail:
		newest, err := newestFrame(ctx, log, at.next, run.Last)
		if err != nil {
			return at, err
		}
		if newest > at.next {
			at.next, at.gap = newest, true
		}
	}
	at.p, err = project.Behind(ctx, log, at.next-1)
	return at, err
}
