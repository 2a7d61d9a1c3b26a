package turn

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/redact"
	"hitchpost/turn/tool"
)

// Config is what agents are made of and bounded by. A running host can be given
// another one.
type Config struct {
	Agents      map[string]Definition       // by name; "default" must exist
	Providers   map[string]model.Client     // by the provider part of provider/model
	Tools       func() *tool.Set            // the roster of now; it may change between two calls
	Ready       func(context.Context) error // waits until the roster is whole, before a request is made; nil = it is
	MaxSteps    int                         // steps a turn
	MaxAgents   int                         // agents in memory at once
	InboxTexts  int                         // texts that may wait in one inbox
	InboxBytes  int                         // and their bytes together
	ToolTimeout time.Duration               // a call; 0 = none
	ResultLimit int                         // bytes of a result that are kept
	Resume      Resume                      // what becomes of the turns that a start finds open; "" = ResumeOnStimulus
	Approvals   bool                        // tools that ask wait for a verdict; else they just run
	Expires     time.Duration               // a standing call is denied after this; 0 = never
	Compaction  int64                       // prompt tokens of a turn's last request from which on the history is summarised behind it; 0 = never
	Log         *slog.Logger

	// Redact masks secrets in everything that is appended from then on; nil = in nothing.
	Redact *redact.Redactor
}

// Definition is what a session is made of.
type Definition struct {
	System string
	Policy []string          // the allow-list floor; nil = the tools that change nothing
	Models map[string]string // role → provider/model
}

// DefaultAgent names the definition of every session whose id names no other.
const DefaultAgent = "default"

// Host keeps the agents in memory. It is the one door for every command,
// whichever wire it came through.
type Host struct {
	store    *store.Store
	current  atomic.Pointer[Config]
	ctx      context.Context // the life of every agent; ended by Drain
	end      context.CancelCauseFunc
	beside   context.Context // the life of requests that no turn waits for; ended as soon as Drain begins
	endAside context.CancelCauseFunc
	draining chan struct{}  // closed when no turn may begin any more
	wg       sync.WaitGroup // every goroutine of every agent
	tools    tool.Runner    // and every tool at work
	watchers changeWatchers

	mu     sync.Mutex
	agents map[string]*Agent
	births births // guarded by mu
}

// New returns a host over an open store. Drain ends it.
func New(st *store.Store, cfg Config) *Host {
	h := &Host{store: st, tools: tool.Runner{Log: cfg.Log}, draining: make(chan struct{}), agents: map[string]*Agent{}}
	h.births = births{of: map[string]int{}, over: sync.Cond{L: &h.mu}}
	h.ctx, h.end = context.WithCancelCause(context.Background())
	h.beside, h.endAside = context.WithCancelCause(h.ctx)
	h.Reload(cfg)
	return h
}

// Reload replaces the configuration. Running steps and tools finish with the old one.
func (h *Host) Reload(cfg Config) { h.current.Store(&cfg) }

func (h *Host) config() *Config      { return h.current.Load() }
func (h *Host) logger() *slog.Logger { return h.config().Log }

// Hold returns the session's agent and keeps it in memory until Release. The
// session is created, as owner's, when there is none. ErrForeign: it is another
// owner's, or was deleted. ErrTooManyAgents: nothing was created.
func (h *Host) Hold(ctx context.Context, id, owner string) (*Agent, error) {
	session, err := h.store.Session(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		if !h.room(id) {
			return nil, ErrTooManyAgents
		}
		session, err = h.create(ctx, id, owner)
	}
	if err == nil && session.Owner != owner {
		return nil, ErrForeign
	}
	var a *Agent
	if err == nil {
		a, err = h.hold(ctx, session)
	}
	if errors.Is(err, store.ErrDeleted) { // also at this very moment
		return nil, ErrForeign
	}
	return a, err
}

func (h *Host) create(ctx context.Context, id, owner string) (store.Session, error) {
	session := store.Session{ID: id, Owner: owner, Agent: h.config().definitionFor(id)}
	err := h.bear(ctx, session, event.SessionCreated{})
	if !errors.Is(err, store.ErrExists) {
		return session, err
	}
	first, found := h.store.Session(ctx, id) // another connection was first
	if errors.Is(found, store.ErrNotFound) {
		return first, &AppendError{err} // in a transaction that has failed
	}
	return first, found
}

// bear creates a session with its first events. ErrDraining: no life begins any more.
func (h *Host) bear(ctx context.Context, session store.Session, first ...event.Payload) error {
	if h.isDraining() {
		return ErrDraining
	}
	events := make([]store.NewEvent, len(first))
	for i, p := range first {
		body, err := event.Encode(p)
		if err != nil {
			return err
		}
		events[i] = store.NewEvent{Type: string(p.EventType()), Payload: body}
	}
	defer h.expect(session.ID)()
	if err := h.store.Create(ctx, session, events); err != nil {
		return &AppendError{err}
	}
	h.tell(Change{Session: session.ID, Owner: session.Owner, Created: true})
	return nil
}

// room tells whether one more agent fits.
func (h *Host) room(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, here := h.agents[id]
	return here || len(h.agents) < h.config().MaxAgents
}

func (h *Host) hold(ctx context.Context, session store.Session) (*Agent, error) {
	return h.holdWithin(ctx, session, h.config().MaxAgents)
}

func (h *Host) holdWithin(ctx context.Context, session store.Session, limit int) (*Agent, error) {
	log, err := h.store.OpenLog(ctx, session.ID) // counted: a second open costs nothing
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.births.of[session.ID] > 0 {
		h.births.over.Wait()
	}
	if a, ok := h.agents[session.ID]; ok {
		log.Close()
		if a.closed.Load() {
			return nil, ErrForeign
		}
		a.refs++
		return a, nil
	}
	if len(h.agents) >= limit {
		log.Close()
		return nil, ErrTooManyAgents
	}
	a := &Agent{host: h, id: session.ID, owner: session.Owner, parent: session.ParentID, log: log, def: session.Agent, refs: 1}
	h.agents[session.ID] = a
	return a, nil
}

func (h *Host) retain(a *Agent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a.refs++
}

func (h *Host) release(a *Agent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.refs--; a.refs == 0 {
		delete(h.agents, a.id)
		a.log.Close()
	}
}

// spawn runs work beside the agent's goroutine and has its report handled there.
// The agent stays in memory until then.
func (a *Agent) spawn(work func() (report func())) {
	a.host.retain(a)
	a.host.wg.Go(func() {
		report := work()
		a.post(func() {
			defer a.host.release(a)
			switch {
			case a.st == nil: // halted: what the log holds is unknown until it is read again
			case a.host.ctx.Err() != nil:
				a.leave()
			default:
				report()
				if a.host.isDraining() {
					a.restIfParked() // the last neighbour of a parked call may just have ended
				}
			}
		})
	})
}

// leave stops driving a turn whose work was cut by the end of the host. The log has
// it open; what had been streamed is in it.
func (a *Agent) leave() {
	if a.asking != nil {
		a.showRest(a.asking)
	}
	a.cut(ErrDraining)
	if a.commit() == nil {
		a.rest()
	}
}

func (h *Host) isDraining() bool {
	select {
	case <-h.draining:
		return true
	default:
		return false
	}
}

func (h *Host) held() []*Agent {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.agents))
}

// restIfParked lets go of a turn that waits for a person and for nothing else. The
// log has it parked, for the next process too.
func (a *Agent) restIfParked() {
	if a.st != nil && a.running && a.waitsForPerson() {
		a.leave()
	}
}

// waitsForPerson tells whether no call of the run under way can end by itself: it
// waits for a verdict, or for a subagent that does, or that the drain has stopped.
func (a *Agent) waitsForPerson() bool {
	for _, j := range a.jobs {
		if j.result == nil && !j.call.stands() && !j.abandoned {
			return false
		}
	}
	return len(a.jobs) > 0
}

// Drain lets every running step end within grace, begins no other, then cuts what
// still runs and waits for every goroutine. Turns that were cut stay open in the
// log. No command may come any more. The error names tools that would not stop.
func (h *Host) Drain(grace time.Duration) error {
	close(h.draining)
	h.endAside(ErrDraining)
	for _, a := range h.held() {
		a.post(a.restIfParked)
	}
	cut := make(chan struct{})
	timer := time.AfterFunc(grace, func() {
		defer close(cut)
		h.end(ErrDraining)
	})
	h.wg.Wait()
	h.end(ErrDraining)
	if !timer.Stop() {
		<-cut
	}
	ctx, done := context.WithTimeout(context.Background(), tool.Grace)
	defer done()
	err := h.tools.Wait(ctx)
	h.wg.Wait() // for the last messages of a Task that was slow to stop
	return err
}
