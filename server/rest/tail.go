package rest

import (
	"context"
	"fmt"

	"hitchpost/server/follow"
	"hitchpost/store"
)

// What is taken from a log's recent events at once.
const (
	tailEvents = 256
	tailBytes  = 256 << 10
)

// tail reads a log for one request that waits for it, at that request's pace: nothing is
// queued for it, and it holds a page at most.
type tail struct {
	log   *store.Log
	slots *follow.Slots
	next  int64
	moved chan struct{} // something was committed since it was emptied
	stop  func()        // is to be called at the end
}

// follow begins at seq from.
func (s *Server) follow(log *store.Log, from int64) *tail {
	t := &tail{log: log, slots: s.Slots, next: from, moved: make(chan struct{}, 1)}
	t.stop = log.Watch(func() {
		select {
		case t.moved <- struct{}{}:
		default:
		}
	})
	return t
}

// read returns the next events that are there, none at the tip: then moved tells of more.
func (t *tail) read(ctx context.Context) ([]store.Event, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	lines, _, ok := t.log.Recent(t.next, tailEvents, tailBytes)
	if !ok {
		release, err := t.slots.Take(ctx)
		if err != nil {
			return nil, context.Cause(ctx)
		}
		page, err := t.log.Page(context.WithoutCancel(ctx), t.next) // it is bounded
		release()
		if err != nil {
			return nil, err
		}
		if lines = page.Lines; len(lines) == 0 {
			return nil, fmt.Errorf("the log of %q has no event %d, which it had", t.log.Session(), t.next)
		}
	}
	events := make([]store.Event, len(lines))
	for i, line := range lines {
		var err error
		if events[i], err = t.log.Decode(line); err != nil {
			return nil, err
		}
	}
	t.next += int64(len(lines))
	return events, nil
}
