package turn

import (
	"slices"
	"sync"
	"sync/atomic"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// Change is something that has happened to a session. What it tells is on the disk.
type Change struct {
	Session, Owner string

	Resumed bool          // an open turn goes on that nobody ran, before Events; no event tells it. A verdict and a stop tell it themselves
	Events  []store.Event // structural events that were just committed; those that created the session are not among them
	Inbox   []store.Input // every text that waits now, when InboxChanged

	InboxChanged  bool
	StatusChanged bool // what Live says, or the digest
	RowChanged    bool // its title, or whether it is pinned
	Created       bool
	Deleted       bool

	Compaction string // CompactionStarted or CompactionFinished; "" = neither
}

// Phases of a compaction.
const (
	CompactionStarted  = "started"
	CompactionFinished = "finished"
)

// changeWatchers are those who want to hear of every change of every session.
type changeWatchers struct {
	mu  sync.Mutex
	fns atomic.Pointer[[]*func(Change)]
}

// Watch has fn called for every change of every session, behind its commit and in
// order for a session; a streamed piece is none. By then a session whose turn has ended
// takes the next run: fn is called by the goroutine that owns the agent, which handles
// what was asked of it meanwhile behind the message that ended the turn. fn must not
// block, nor wait for an agent; one call may still arrive while stop returns.
func (h *Host) Watch(fn func(Change)) (stop func()) {
	w := &h.watchers
	w.set(func(fns []*func(Change)) []*func(Change) { return append(fns, &fn) })
	return func() {
		w.set(func(fns []*func(Change)) []*func(Change) {
			return slices.DeleteFunc(fns, func(other *func(Change)) bool { return other == &fn })
		})
	}
}

// set changes a copy: tell reads without the lock.
func (w *changeWatchers) set(change func([]*func(Change)) []*func(Change)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fns := change(slices.Clone(w.list()))
	w.fns.Store(&fns)
}

func (w *changeWatchers) list() []*func(Change) {
	if fns := w.fns.Load(); fns != nil {
		return *fns
	}
	return nil
}

// tell tells the watchers.
func (h *Host) tell(c Change) {
	for _, fn := range h.watchers.list() {
		(*fn)(c)
	}
}

func (h *Host) watched() bool { return len(h.watchers.list()) > 0 }

// Liveness is what a process does with a session beside what its log says.
type Liveness struct {
	Running    bool // the open turn is driven, if only to wait for a verdict
	Stopping   bool // a stop was accepted, the turn has yet to end
	Compacting bool // its history is being summarised
}

// Live tells what this process does with a session: nothing, when its agent is not in
// memory. It does not disturb the agent.
func (h *Host) Live(id string) Liveness {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.agents[id]; a != nil {
		return a.shown
	}
	return Liveness{}
}

// Load is how much a host has in hand.
type Load struct {
	Agents     int // in memory
	Running    int // open turns that are driven, if only to wait for a verdict
	Compacting int // histories that are being summarised
}

// Load returns the counts of now. It does not disturb the agents.
func (h *Host) Load() Load {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := Load{Agents: len(h.agents)}
	for _, a := range h.agents {
		if a.shown.Running {
			l.Running++
		}
		if a.shown.Compacting {
			l.Compacting++
		}
	}
	return l
}

// moved brings up to date what Live tells, and tells whether the watchers have yet to
// hear of a change. A turn that has ended in the fold does not run, whatever its goroutine
// has yet to do behind it.
func (a *Agent) moved() bool {
	open := a.st != nil && a.st.turn != nil
	now := Liveness{Running: open && a.running, Stopping: open && a.cancel != nil, Compacting: a.compacting != nil}
	changed := now != a.told
	a.told = now
	a.setLive(now)
	return changed
}

func (a *Agent) setLive(now Liveness) {
	if now == a.shown {
		return
	}
	a.host.mu.Lock()
	a.shown = now
	a.host.mu.Unlock()
}

// drives has Live tell of a turn that is driven before the append that opens it: whoever
// finds it open in the log shall not find that nobody runs it. Its end is told of behind
// the append for the same reason.
func (a *Agent) drives() {
	if a.running && a.st != nil && a.st.turn != nil {
		now := a.shown
		now.Running = true
		a.setLive(now)
	}
}

// announce tells the watchers of an append that is on the disk.
func (a *Agent) announce(w *work, committed []store.Event) {
	moved := a.moved()
	if !a.host.watched() {
		a.wentOn = false
		return
	}
	c := a.change()
	c.StatusChanged = moved || w.Digest != nil
	c.RowChanged = w.Title != nil || w.Pinned != nil
	if c.InboxChanged = len(w.Put)+len(w.Take)+len(w.Calm) > 0; c.InboxChanged {
		c.Inbox = a.waiting()
	}
	for _, ev := range committed {
		if !event.Type(ev.Type).Streamed() {
			c.Events = append(c.Events, ev)
		}
	}
	if c.Resumed || c.StatusChanged || c.RowChanged || c.InboxChanged || len(c.Events) > 0 {
		a.host.tell(c)
	}
}

// announceStatus tells them of what no append tells: a stop, a turn left open, a
// compaction.
func (a *Agent) announceStatus(compaction string) {
	moved := a.moved()
	if !moved && !a.wentOn && compaction == "" || !a.host.watched() {
		return
	}
	c := a.change()
	c.StatusChanged, c.Compaction = moved, compaction
	a.host.tell(c)
}

func (a *Agent) change() Change {
	c := Change{Session: a.id, Owner: a.owner, Resumed: a.wentOn}
	a.wentOn = false
	return c
}

// births are sessions that are being created. Whoever finds one in the store holds it
// only when its creation was told of, so that the watchers hear of that first.
type births struct {
	of   map[string]int // under way, by session
	over sync.Cond
}

func (h *Host) expect(id string) (over func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.births.of[id]++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.births.of[id]--; h.births.of[id] == 0 {
			delete(h.births.of, id)
		}
		h.births.over.Broadcast()
	}
}
