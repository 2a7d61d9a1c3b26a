package runwire

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn"
	"hitchpost/turn/event"
)

// hub knows who is connected and which runs are open, and tells the one about the other.
// It holds nothing for a session that rests.
type hub struct {
	server *Server
	stop   func()        // ends the watching
	work   chan struct{} // has one element while there is news
	done   chan struct{} // closed to end the announcer
	once   sync.Once
	over   sync.WaitGroup

	mu       sync.Mutex // may be taken inside a conn's mu, and a conn's q inside this; never the other way
	owners   map[string]map[*conn]struct{}
	open     map[string]openRun // by session
	heard    map[string]bool    // sessions that spoke while the open runs were being looked up; nil behind that
	news     map[string]*news   // by session
	order    []string           // of news
	draining bool
}

// openRun is a run without its terminal frame.
type openRun struct{ owner, run string }

func newHub(s *Server) *hub {
	h := &hub{
		server: s, work: make(chan struct{}, 1), done: make(chan struct{}),
		owners: map[string]map[*conn]struct{}{}, open: map[string]openRun{},
		heard: map[string]bool{}, news: map[string]*news{},
	}
	h.stop = s.Host.Watch(h.changed)
	h.over.Go(h.announce)
	return h
}

// begin looks up the runs that are open. What changes meanwhile is heard, and newer.
func (h *hub) begin(ctx context.Context) error {
	ids, err := h.server.Store.Unclosed(ctx, string(event.TurnStartType), string(event.TurnEndType))
	if err != nil {
		return fmt.Errorf("look up the open runs: %w", err)
	}
	for _, id := range ids {
		run, err := h.lookUp(ctx, id)
		if errors.Is(err, store.ErrDeleted) || errors.Is(err, store.ErrNotFound) {
			continue
		}
		if errors.Is(err, store.ErrDamaged) { // it keeps no other from being served
			h.server.Log.Error("the open run of a session is not told", "session", id, "err", err)
			continue
		}
		if err != nil {
			return fmt.Errorf("look up the open runs: %w", err)
		}
		h.mu.Lock()
		if run.run != "" && !h.heard[id] {
			h.open[id] = run
		}
		h.mu.Unlock()
	}
	h.mu.Lock()
	h.heard = nil
	h.mu.Unlock()
	return nil
}

func (h *hub) lookUp(ctx context.Context, session string) (openRun, error) {
	x, err := h.server.Store.Session(ctx, session)
	if err != nil {
		return openRun{}, err
	}
	log, err := h.server.Store.OpenLog(ctx, session)
	if err != nil {
		return openRun{}, err
	}
	defer log.Close()
	mark, _, err := log.Newest(ctx, -1, string(event.TurnStartType), string(event.TurnEndType), string(event.SessionForkedType))
	if err != nil || event.Type(mark.Type) != event.TurnStartType {
		return openRun{}, err
	}
	return openRun{owner: x.Owner, run: mark.ID}, nil
}

// end stops hearing and waits for the announcer.
func (h *hub) end() {
	h.stop()
	h.once.Do(func() { close(h.done) })
	h.over.Wait()
}

// join has a connection hear everything its token reaches: the runs that are open, and
// from now on what changes. Both are one step, so no run is heard twice or not at all.
func (h *hub) join(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.owners[c.token.Owner] == nil {
		h.owners[c.token.Owner] = map[*conn]struct{}{}
	}
	h.owners[c.token.Owner][c] = struct{}{}
	if h.draining {
		c.drain()
	}
	for session, run := range h.open {
		if run.owner == c.token.Owner && c.hears(session) {
			c.attach(session, run.run, 0)
		}
	}
}

func (h *hub) leave(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.owners[c.token.Owner], c)
	if len(h.owners[c.token.Owner]) == 0 {
		delete(h.owners, c.token.Owner)
	}
}

// listeners are the connections that a session of an owner reaches.
func (h *hub) listeners(owner, session string) []*conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := slices.Collect(maps.Keys(h.owners[owner]))
	return slices.DeleteFunc(all, func(c *conn) bool { return !c.hears(session) })
}

func (h *hub) isDraining() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.draining
}

// drain has every connection sent what there is and closed, and waits for that.
func (h *hub) drain(ctx context.Context) {
	h.mu.Lock()
	h.draining = true
	var all []*conn
	for _, conns := range h.owners {
		all = slices.AppendSeq(all, maps.Keys(conns))
	}
	h.mu.Unlock()
	for _, c := range all {
		c.drain()
	}
	for _, c := range all {
		select {
		case <-c.gone:
		case <-ctx.Done():
			return
		}
	}
}

// changed is called by the host behind each commit. It does not block: streams open
// beside it, and what is broadcast is made by the announcer.
func (h *hub) changed(ch turn.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.heard != nil {
		h.heard[ch.Session] = true
	}
	conns := h.owners[ch.Owner]
	for _, ev := range ch.Events {
		switch event.Type(ev.Type) {
		case event.TurnStartType:
			h.open[ch.Session] = openRun{owner: ch.Owner, run: ev.ID}
			if ch.Created { // a fork's copy
				continue
			}
			for c := range conns {
				if c.hears(ch.Session) {
					c.attach(ch.Session, ev.ID, ev.Seq)
				}
			}
		case event.TurnEndType, event.SessionForkedType:
			delete(h.open, ch.Session)
		}
	}
	for c := range conns {
		if c.hears(ch.Session) {
			c.tell(ch, h.open[ch.Session].run)
		}
	}
	if ch.Deleted {
		delete(h.open, ch.Session)
	}
	if len(conns) > 0 {
		h.note(ch)
	}
}

// hears tells whether the token lets its holder watch a session of its owner.
func (c *conn) hears(session string) bool { return c.token.May(auth.Watch) && c.token.Reaches(session) }

// tell passes on what concerns the stream of a run and stands in no event.
func (c *conn) tell(ch turn.Change, run string) {
	if !ch.Deleted && !ch.Resumed && (ch.Compaction == "" || run == "") {
		return
	}
	c.q.Lock()
	var woken []*stream
	for _, s := range c.streams {
		switch {
		case s.session != ch.Session:
			continue
		case ch.Deleted:
			s.gone = true
		case s.run != run:
			continue
		}
		s.resumed = s.resumed || ch.Resumed
		if ch.Compaction != "" {
			s.compacted = compaction(run, ch)
		}
		woken = append(woken, s)
	}
	c.q.Unlock()
	for _, s := range woken {
		s.wake()
	}
}

func compaction(run string, ch turn.Change) []byte {
	return protocol.Encode(protocol.RunCompaction{RunID: run, SessionID: ch.Session, Phase: protocol.Phase(ch.Compaction)}, 0)
}
