package httpstream

import (
	"context"
	"sync"
	"time"
)

// watchdog ends a request that stays in one phase too long. There is one phase at a
// time; its timer is the only goroutine, and it only calls end.
type watchdog struct {
	end context.CancelCauseFunc

	mu    sync.Mutex // the transport enters a phase from a goroutine of its own
	timer *time.Timer
	limit time.Duration
}

// enter begins a phase: unless another one begins, or progress is told, within limit,
// the request ends with cause. Zero means no limit.
func (w *watchdog) enter(limit time.Duration, cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if w.limit = limit; limit > 0 {
		w.timer = time.AfterFunc(limit, func() { w.end(cause) })
	}
}

// progress starts the time of the phase again.
func (w *watchdog) progress() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Reset(w.limit)
	}
}

func (w *watchdog) stop() { w.enter(0, nil) }
