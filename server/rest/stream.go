package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"hitchpost/server/auth"
	"hitchpost/server/project"
	"hitchpost/store"
)

// flushBytes is how much of a stream is written before it is sent on, where more waits.
const flushBytes = 32 << 10

// streamRun streams a run's frames from a cursor on.
func streamRun(c *call) error {
	cursor, err := c.cursor()
	if err != nil {
		return err
	}
	x, run, err := c.server.book.Run(c.ctx, c.token, c.r.PathValue("run"))
	if err != nil {
		return err
	}
	log, err := c.server.Store.OpenLog(c.ctx, x.ID)
	if err != nil {
		return err
	}
	defer log.Close()
	if tip, _ := log.Tip(); cursor > tip {
		return invalid("the cursor %d is beyond the log, which ends at %d: it is from another life of it", cursor, tip)
	}
	if run.End != "" && cursor >= run.Last {
		return c.done(http.StatusNoContent)
	}
	ctx, _, release, err := c.attach(x.ID)
	if err != nil {
		return err
	}
	defer release()
	from := max(cursor, run.First-1)
	p, err := project.Behind(c.lasting(), log, from)
	if err != nil {
		return err
	}
	s := &stream{c: c, tail: c.server.follow(log, from+1), run: run.ID, projector: p}
	defer s.tail.stop()
	s.begin()
	if c.r.Method == http.MethodHead {
		return nil
	}
	return s.serve(ctx)
}

// stream is a run's frames on their way to one client.
type stream struct {
	c         *call
	tail      *tail
	run       string
	projector *project.Projector
	unsent    int // bytes written since the last flush
	over      bool
	err       error // of the client, who then is gone
}

func (s *stream) begin() {
	h := s.c.w.Header()
	h.Set("Content-Type", mediaEvents)
	h.Set("X-Accel-Buffering", "no") // a proxy that gathers would hold frames back
	s.c.w.WriteHeader(http.StatusOK)
	s.flush()
}

// serve sends what there is and what comes until the run is over, or somebody ends it.
// Why it ended is not for the client: it comes back and is told then.
func (s *stream) serve(ctx context.Context) error {
	beat := time.NewTicker(s.c.server.Heartbeat)
	defer beat.Stop()
	for !s.over && s.err == nil && s.c.token.May(auth.Watch) {
		events, err := s.tail.read(ctx)
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, store.ErrDeleted) { // a deletion drops its streams a moment later
				s.c.server.Log.Error("stream ends", "run", s.run, "err", err)
			}
			break
		}
		s.send(events)
		if len(events) > 0 {
			continue
		}
		s.flush()
		select {
		case <-s.tail.moved:
		case <-beat.C:
			s.write(": ping\n\n")
			s.flush()
		case <-ctx.Done():
		}
	}
	s.flush()
	return nil
}

func (s *stream) send(events []store.Event) {
	for _, ev := range events {
		for _, f := range s.projector.Next(ev) {
			if f.Run != s.run {
				continue
			}
			s.frame(f)
			if f.Terminal() {
				s.over = true
				return
			}
		}
		if s.unsent >= flushBytes {
			s.flush()
		}
	}
}

// frame writes one. Without a number it has no id: the one before it stays the cursor.
func (s *stream) frame(f project.Frame) {
	if f.Seq != 0 {
		s.write(fmt.Sprintf("id: %d\n", f.Seq))
	}
	s.write("event: " + string(f.Type) + "\ndata: ")
	s.write(string(f.Line))
	s.write("\n\n")
}

func (s *stream) write(text string) {
	if s.err == nil {
		_, s.err = s.c.w.Write([]byte(text))
		s.unsent += len(text)
	}
}

func (s *stream) flush() {
	if s.err == nil {
		s.err = s.c.w.Flush()
		s.unsent = 0
	}
}
