package turn

import (
	"slices"
	"sync"
)

// watchers are those who want to hear of a halt.
type watchers struct {
	mu  sync.Mutex
	fns []*func(error)
}

// OnHalt has fn called each time a turn of the agent stops where it is because the
// log cannot be written (guarantee 8): no event can tell of that. fn is called from the
// agent's goroutine with an *AppendError and must not block; one call may still
// arrive while stop returns.
func (a *Agent) OnHalt(fn func(error)) (stop func()) {
	w := &a.watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fns = append(slices.Clip(w.fns), &fn) // copied: tell iterates outside the lock
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.fns = slices.DeleteFunc(slices.Clone(w.fns), func(other *func(error)) bool { return other == &fn })
	}
}

func (w *watchers) tell(err error) {
	w.mu.Lock()
	fns := w.fns
	w.mu.Unlock()
	for _, fn := range fns {
		(*fn)(err)
	}
}
