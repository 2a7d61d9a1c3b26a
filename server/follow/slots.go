package follow

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// Slots bounds the log reads under way, over all wires (Agent Socket v1,
// "Concurrent replays are capped").
type Slots struct {
	free           *semaphore.Weighted // first come, first served
	taken, waiting atomic.Int64
}

// NewSlots allows n reads at once.
func NewSlots(n int) *Slots { return &Slots{free: semaphore.NewWeighted(int64(n))} }

// Load tells how many slots are taken now, and how many wait for one.
func (s *Slots) Load() (taken, waiting int64) { return s.taken.Load(), s.waiting.Load() }

// Take waits for a slot, in order of asking. Whoever reads a log for a client outside
// a Reader takes one around the read too.
func (s *Slots) Take(ctx context.Context) (release func(), err error) {
	s.waiting.Add(1)
	err = s.free.Acquire(ctx, 1)
	s.waiting.Add(-1)
	if err != nil {
		return nil, err
	}
	s.taken.Add(1)
	return s.give, nil
}

func (s *Slots) give() {
	s.taken.Add(-1)
	s.free.Release(1)
}

// Window caps a replay that begins at from when the newest event is tip: it returns
// the seq where the replay begins (Agent Socket v1, "Replay is capped").
func Window(tip, from, limit int64) (start int64, truncated bool) {
	if tip-from+1 > limit { // cannot overflow: -1 <= tip, 0 <= from
		return tip - limit + 1, true
	}
	return from, false
}
