package runwire

import (
	"context"
	"errors"
	"math"
	"slices"

	"hitchpost/server/project"
	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn"
	"hitchpost/turn/event"
)

// news is what is to be told of a session, unnumbered, to its owner's connections: the
// changes since it was told last, in one.
type news struct {
	owner      string
	created    bool
	deleted    bool
	status     bool
	row        bool
	inbox      []store.Input
	inboxNew   bool
	compaction []byte        // of a session between runs
	told       []store.Event // that tell something by themselves: titles, branches
	outside    []int64       // seqs of checkpoints, which may stand outside a run
}

// note merges a change into the news of its session. The caller holds mu.
func (h *hub) note(ch turn.Change) {
	n := h.news[ch.Session]
	if n == nil {
		n = &news{owner: ch.Owner}
		h.news[ch.Session] = n
		h.order = append(h.order, ch.Session)
	}
	n.created = n.created || ch.Created
	n.deleted = n.deleted || ch.Deleted
	n.status = n.status || ch.StatusChanged
	n.row = n.row || ch.RowChanged
	if ch.InboxChanged {
		n.inbox, n.inboxNew = ch.Inbox, true
	}
	if ch.Compaction != "" && h.open[ch.Session].run == "" {
		n.compaction = compaction("", ch)
	}
	for _, ev := range ch.Events {
		switch typ := event.Type(ev.Type); {
		case typ == event.SessionTitledType, typ == event.SessionBranchedType:
			n.told = slices.DeleteFunc(n.told, func(old store.Event) bool { return old.Type == ev.Type })
			n.told = append(n.told, ev)
		case typ == event.SessionCompactedType:
			n.outside = append(n.outside, ev.Seq)
		}
	}
	select {
	case h.work <- struct{}{}:
	default:
	}
}

// announce makes the frames of what changed, which needs the disk, and hands them to the
// connections.
func (h *hub) announce() {
	for {
		select {
		case <-h.done:
			return
		case <-h.work:
		}
		for session, n := h.take(); n != nil; session, n = h.take() {
			frames, err := h.frames(session, n)
			if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrDeleted) {
				h.server.Log.Error("a session's news are not told", "session", session, "err", err)
			}
			for _, c := range h.listeners(n.owner, session) {
				for _, f := range frames {
					c.out.put(session, f.Type, f.Line)
				}
			}
		}
	}
}

func (h *hub) take() (session string, n *news) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.order) == 0 {
		h.order = nil
		return "", nil
	}
	session = h.order[0]
	h.order = h.order[1:]
	n = h.news[session]
	delete(h.news, session)
	return session, n
}

// frames are what the news of a session are told by. An error leaves out what could not
// be read: REST has it.
func (h *hub) frames(session string, n *news) (out []project.Frame, err error) {
	say := func(p protocol.ServerPayload) {
		out = append(out, project.Frame{Type: p.ServerType(), Line: protocol.Encode(p, 0)})
	}
	if n.deleted {
		say(protocol.SessionDeleted{SessionID: session})
		return out, nil
	}
	ctx := context.Background()
	if n.created || n.status || n.row {
		x, err := h.server.Store.Session(ctx, session)
		if err != nil {
			return out, err
		}
		object, err := h.server.Book.Object(ctx, x)
		if err != nil {
			return out, err
		}
		switch {
		case n.created:
			say(protocol.SessionCreated{Session: object})
		case n.row:
			say(protocol.SessionUpdated{Session: object})
		}
		if n.status {
			say(protocol.SessionStatusChanged{
				SessionID: session, Status: object.Status, LiveRunID: object.LiveRunID, PendingCount: object.PendingCount,
			})
		}
	}
	for _, ev := range n.told {
		if f, ok := project.Broadcast(session, ev); ok {
			out = append(out, f)
		}
	}
	if n.inboxNew {
		say(inbox(session, n.inbox))
	}
	if n.compaction != nil {
		out = append(out, project.Frame{Type: protocol.TypeRunCompaction, Line: n.compaction})
	}
	entries, err := h.entries(ctx, session, n)
	return append(out, entries...), err
}

func inbox(session string, waiting []store.Input) protocol.SessionInbox {
	in := protocol.SessionInbox{SessionID: session, Items: make([]protocol.InboxItem, len(waiting))}
	for i, text := range waiting {
		in.Items[i] = protocol.InboxItem{
			InputID: text.ID, Queue: protocol.Queue(text.Queue), Text: text.Text, Wake: text.Wake, QueuedAt: protocol.Time(text.QueuedAt),
		}
	}
	return in
}

// entries are those that stand outside a run, which no stream sends: checkpoints, and what
// closes the turn that a fork cut.
func (h *hub) entries(ctx context.Context, session string, n *news) (out []project.Frame, err error) {
	if len(n.outside) == 0 && !n.created {
		return nil, nil
	}
	release, err := h.server.Slots.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	log, err := h.server.Store.OpenLog(ctx, session)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if n.created {
		forked, found, err := log.Newest(ctx, -1, string(event.SessionForkedType))
		if err != nil {
			return nil, err
		}
		if found {
			if out, err = outside(ctx, log, forked.Seq, math.MaxInt64); err != nil {
				return nil, err
			}
		}
	}
	for _, seq := range n.outside {
		more, err := outside(ctx, log, seq, seq)
		if err != nil {
			return out, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// outside projects the events from…to, up to the first run, and returns the entries that
// are in none.
func outside(ctx context.Context, log *store.Log, from, to int64) (out []project.Frame, err error) {
	p, err := project.Behind(ctx, log, from-1)
	if err != nil {
		return nil, err
	}
	events, err := log.Structural(ctx, from, to)
	if err != nil {
		return nil, err
	}
	for _, ev := range events {
		for _, f := range p.Next(ev) {
			if f.Run != "" {
				return out, nil
			}
			out = append(out, f)
		}
	}
	return out, nil
}
