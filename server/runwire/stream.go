package runwire

import (
	"errors"

	"hitchpost/server/follow"
	"hitchpost/server/project"
	"hitchpost/server/protocol"
	"hitchpost/server/sessions"
	"hitchpost/store"
)

// begin says where a stream begins.
type begin int

const (
	fromStart  begin = iota // a run that was open when the connection came: from its start, or the newest window
	fromCursor              // as a client asked, whatever it takes
	fromTail                // a run that starts now, or one of which something was left out
)

// stream is one run on its way to one client. It exists while the run is open, or while a
// client is sent one that is over.
type stream struct {
	conn    *conn
	session string
	run     string

	// Fixed before the opener sees it; then the opener's.
	begin begin
	from  int64 // begins behind this seq (fromCursor); seq of the turn/start where it is known (fromTail)

	// Guarded by conn.q.
	queued    bool
	gone      bool   // the session was deleted
	resumed   bool   // to be told once run.started was sent
	compacted []byte // likewise: the newest run.compaction
	replaying bool   // counted by conn.replays

	// Guarded by conn.mu. reader is nil until the opener is done with it.
	log      *store.Log
	reader   *follow.Reader
	p        *project.Projector
	first    int64           // seq of turn/start
	next     int64           // seq of the event that is projected next
	cursor   int64           // the newest number that was written; a client resubscribes from there. 0 = none
	started  bool            // run.started of the run was written to this connection, or stands in pending
	gap      bool            // what lies between cursor and the next frame was left out
	pending  []project.Frame // made, and still to be written
	finished bool            // the last frame is made
	dropped  bool            // replaced or ended: nothing of it is written any more
	err      error           // why the reader before ended; nil when there was none
}

func (s *stream) isQueued() *bool { return &s.queued }

// wake is called by the log's writer and by the reader.
func (s *stream) wake() { s.conn.wake(s, true) }

// serve writes what the stream has, within the budget. The caller holds conn.mu.
func (s *stream) serve(b *budget) (more bool) {
	if s.dropped {
		return false
	}
	if !s.flush(b) {
		return true
	}
	if s.reader != nil && !s.finished {
		into := &pour{stream: s, budget: b}
		if err := s.reader.Next(into); err != nil {
			s.failed(err)
		} else if into.stopped && !s.finished {
			return true
		}
		if !s.flush(b) {
			return true
		}
		s.caughtUp()
	}
	if s.finished {
		s.conn.drop(s)
	}
	return false
}

// pour makes frames of events: the follow.Sink of a stream.
type pour struct {
	*stream
	budget  *budget
	stopped bool // there was more
}

// Fits keeps the reader back while frames of the event before are still to be written.
func (p *pour) Fits(n int) bool {
	ok := !p.finished && len(p.pending) == 0 && p.budget.fits(n)
	p.stopped = p.stopped || !ok
	return ok
}

// Probe waits for a sign of the client behind what was written so far. One probe serves
// all streams: an answer to a later one tells more.
func (p *pour) Probe(arrived func()) {
	c := p.conn
	c.arrivals = append(c.arrivals, arrived)
	p.budget.w.Probe(c.arrived)
}

func (c *conn) arrived() {
	c.mu.Lock()
	all := c.arrivals
	c.arrivals = nil
	c.mu.Unlock()
	for _, arrived := range all {
		arrived()
	}
}

// Text takes one event.
func (p *pour) Text(line []byte) {
	ev, err := p.log.Decode(line)
	if err != nil {
		p.failed(err)
		return
	}
	p.next = ev.Seq + 1
	p.add(p.p.Next(ev))
	p.flush(p.budget)
}

// add has the frames of one event written, behind the notice of what was left out. The
// last of them is numbered.
func (s *stream) add(frames []project.Frame) {
	if len(frames) == 0 {
		return
	}
	last := frames[len(frames)-1]
	if s.gap && last.Seq != 0 {
		s.pending = append(s.pending, s.notice(last.Seq))
		s.gap = false
	}
	s.pending = append(s.pending, frames...)
	s.started = s.started || frames[0].Seq == s.first
	s.finished = last.Terminal()
}

// flush writes what is made, as far as it fits.
func (s *stream) flush(b *budget) (all bool) {
	for len(s.pending) > 0 {
		f := s.pending[0]
		if !b.fits(len(f.Line)) {
			return false
		}
		b.write(f.Line)
		s.pending[0] = project.Frame{}
		s.pending = s.pending[1:]
		s.cursor = max(s.cursor, f.Seq)
		if f.Type == protocol.TypeRunStarted && f.Seq == s.first {
			s.conn.note(s.run)
		}
	}
	s.pending = nil
	return s.hint(b)
}

// note remembers that the client was told that a run has started.
func (c *conn) note(run string) {
	c.q.Lock()
	defer c.q.Unlock()
	c.had.add(run)
}

// hint writes what no event marks.
func (s *stream) hint(b *budget) (all bool) {
	if !s.started || s.finished || s.p == nil {
		return true
	}
	s.conn.q.Lock()
	defer s.conn.q.Unlock()
	if s.resumed {
		f, ok := s.p.Resumed()
		if ok && !b.fits(len(f.Line)) {
			return false
		}
		if ok {
			b.write(f.Line)
		}
		s.resumed = false
	}
	if s.compacted != nil {
		if !b.fits(len(s.compacted)) {
			return false
		}
		b.write(s.compacted)
		s.compacted = nil
	}
	return true
}

// caughtUp lets the next replay begin when this one is through, and ends the stream of a
// session that is gone.
func (s *stream) caughtUp() {
	if s.finished || s.reader == nil || !s.reader.AtTail() {
		return
	}
	s.conn.q.Lock()
	gone := s.gone
	s.conn.replayed(s)
	s.conn.q.Unlock()
	if gone {
		s.lose()
	}
}

// failed ends the reader: the client lags and goes on with the newest frame, or the log
// cannot be read. What is to be done now needs the disk, so the opener does it.
func (s *stream) failed(err error) {
	s.conn.work.Go(s.reader.Close)
	s.reader, s.begin, s.err = nil, fromTail, err
	s.conn.open(s, true)
}

// broken ends a stream whose log cannot be read.
func (s *stream) broken(err error) {
	s.conn.log().Error("a run's stream ends", "session", s.session, "run", s.run, "err", err)
	refusal := protocol.RunError{RunID: s.run, Code: protocol.CodeStreamError, Message: "the run's log could not be read; subscribe again"}
	if errors.Is(err, store.ErrDamaged) {
		refusal.Message = sessions.Damaged(err)
	}
	s.pending = append(s.pending, project.Frame{Type: refusal.ServerType(), Line: protocol.Encode(refusal, 0)})
	s.finished = true
}

// lose ends the stream of a run whose session is gone before its terminal frame came.
func (s *stream) lose() {
	s.finished = true
	if !s.started {
		return // a run that the client never heard of
	}
	s.pending = append(s.pending, s.notice(0))
}

// notice tells what was left out before the frame next; 0: none will follow.
func (s *stream) notice(next int64) project.Frame {
	gap := protocol.RunGap{RunID: s.run, LastGood: s.cursor, Next: next}
	for _, f := range s.pending {
		gap.LastGood = max(gap.LastGood, f.Seq)
	}
	if gap.Dropped = next - gap.LastGood - 1; next == 0 {
		tip, _ := s.log.Tip()
		gap.Dropped = max(0, tip-gap.LastGood)
	}
	return project.Frame{Type: gap.ServerType(), Run: s.run, Line: protocol.Encode(gap, 0)}
}

// close gives back what the stream holds. Nobody serves it any more.
func (s *stream) close() {
	if s.reader != nil {
		s.reader.Close()
	}
	if s.log != nil {
		s.conn.server.shelf.leave(s.log)
		s.log.Close()
	}
}
