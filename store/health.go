package store

import (
	"context"
	"sync/atomic"
)

// Stats counts what was written since the file was opened.
type Stats struct {
	Commits  uint64 // transactions; with Full durability each of them is one sync
	Appends  uint64 // requests in them
	Events   uint64 // events in those
	Failures uint64 // transactions that could not be committed
}

// health is what the writer tells of itself.
type health struct {
	commits, appends, events, failures atomic.Uint64
	fault                              atomic.Pointer[error] // of the newest transaction that failed; nil: one with a probe was committed since
}

// Stats returns the counts of now.
func (s *Store) Stats() Stats {
	h := &s.health
	return Stats{Commits: h.commits.Load(), Appends: h.appends.Load(), Events: h.events.Load(), Failures: h.failures.Load()}
}

// Writable tells why the file cannot be written, nil if it can. As long as no transaction
// has failed it takes the next one for good; else it tries one that changes nothing
// anybody reads and is as large as an ordinary append: on a full disk there is often
// room for a page or two, which is no recovery.
func (s *Store) Writable(ctx context.Context) error {
	fault := s.health.fault.Load()
	if fault == nil {
		return nil
	}
	r := &request{probe: true}
	_, err := r.wait(ctx, func() {
		if !s.writer.queue.add(r) {
			r.answer(ErrClosed)
		}
	})
	if ctx.Err() != nil {
		return *fault // it is not known to be over
	}
	return err
}

// note takes down how a group fared: fault is everybody's trouble, nil for none.
func (h *health) note(group []*request, fault error) {
	if fault != nil {
		h.failures.Add(1)
		h.fault.Store(&fault)
		return
	}
	kept := 0
	for _, r := range group {
		if r.err == nil {
			kept++
			h.events.Add(uint64(len(r.records)))
			if r.probe {
				h.fault.Store(nil)
			}
		}
	}
	if kept > 0 { // else nothing was written
		h.commits.Add(1)
		h.appends.Add(uint64(kept))
	}
}
