package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// ForkPoint says how much of a session a fork copies.
type ForkPoint struct {
	Entry     string // the last entry that is copied; "" = all of the log
	Exclusive bool   // the last one is that before Entry
}

// errForked is the result of a call that had none where its session was forked.
const errForked = "the session was forked before this call had a result; it was not run again"

// Fork makes a session of a prefix of another one's log: the same ids, seqs and payloads,
// its owner and agent definition, and its policy, models, title and leaf as they stood
// there. session/forked follows, and in one append with it the end of a turn that was cut,
// so that a fork runs nothing which its source began. The source may run meanwhile.
// id "" mints one. store.ErrNotFound and store.ErrDeleted are the source's;
// store.ErrExists, store.ErrDeleted and store.ErrInvalid the new id's; ErrNoEntry;
// ErrDraining; an *AppendError.
func (h *Host) Fork(ctx context.Context, source string, at ForkPoint, id string) (store.Session, error) {
	if h.isDraining() {
		return store.Session{}, ErrDraining
	}
	parent, err := h.store.Session(ctx, source)
	if err != nil {
		return store.Session{}, err
	}
	log, err := h.store.OpenLog(ctx, source)
	if err != nil {
		return store.Session{}, err
	}
	defer log.Close()
	n, err := boundary(ctx, log, at)
	if err != nil {
		return store.Session{}, err
	}
	st, err := loadUpto(ctx, log, n-1)
	if err != nil {
		return store.Session{}, err
	}
	end := ending{st: st}
	if err := end.fork(ctx, log, at); err != nil {
		return store.Session{}, err
	}
	digest, err := json.Marshal(st.digest())
	if err != nil {
		return store.Session{}, err
	}
	if id == "" {
		id = event.NewID()
	}
	x := store.Session{ID: id, Owner: parent.Owner, Agent: parent.Agent}
	if x.Title, err = titleAt(ctx, log, n); err != nil {
		return store.Session{}, err
	}
	defer h.expect(id)()
	if err := h.store.Copy(ctx, x, source, n, end.events, digest); err != nil {
		return store.Session{}, unwritten(fmt.Errorf("fork: %w", err))
	}
	h.tell(Change{Session: id, Owner: x.Owner, Created: true})
	return h.store.Session(ctx, id)
}

// titleAt returns the title that the session had when its log held n events.
func titleAt(ctx context.Context, log *store.Log, n int64) (string, error) {
	titled, found, err := log.Newest(ctx, n, string(event.SessionTitledType))
	if err != nil || !found {
		return "", err
	}
	p, err := as[event.SessionTitled](titled)
	if err != nil {
		return "", err
	}
	return p.(event.SessionTitled).Title, nil
}

// entryOf returns the entry of a log with that id, or ErrNoEntry.
func entryOf(ctx context.Context, log *store.Log, id string) (store.Event, error) {
	ev, found, err := log.ByID(ctx, id)
	if err == nil && (!found || !event.MakesEntry(event.Type(ev.Type), ev.Payload)) {
		err = fmt.Errorf("%w: session %s, entry %.40q", ErrNoEntry, log.Session(), id)
	}
	return ev, err
}

// boundary returns the number of events that a fork copies. What ends the turn of the
// last entry, and what begins that of the next one, says nothing that an entry does: a
// fork has the one and not the other, so that it is cut within a turn only where
// the turn had more to say.
func boundary(ctx context.Context, log *store.Log, at ForkPoint) (int64, error) {
	if at.Entry == "" {
		tip, _ := log.Tip()
		return tip + 1, nil
	}
	entry, err := entryOf(ctx, log, at.Entry)
	if err != nil {
		return 0, err
	}
	if at.Exclusive {
		return withoutBeginning(ctx, log, entry.Seq)
	}
	return withEnd(ctx, log, entry.Seq+1)
}

// withoutBeginning leaves out what stands right before the seq n and only leads to it.
func withoutBeginning(ctx context.Context, log *store.Log, n int64) (int64, error) {
	for n > 0 {
		ev, found, err := log.Newest(ctx, n)
		if err != nil || !found {
			return n, err
		}
		n = ev.Seq + 1 // without the pieces of a message that is not copied
		switch event.Type(ev.Type) {
		case event.TurnStartType, event.StepStartType:
			n = ev.Seq
		default:
			return n, nil
		}
	}
	return n, nil
}

// withEnd adds what stands right behind the first n events and only ends their turn.
func withEnd(ctx context.Context, log *store.Log, n int64) (int64, error) {
	behind, err := log.Structural(ctx, n, n+2)
	for _, ev := range behind {
		t := event.Type(ev.Type)
		ends := t == event.StepEndType || t == event.TurnEndType || t == event.SessionTitledType
		if ev.Seq != n || !ends || event.MakesEntry(t, ev.Payload) {
			break
		}
		n++
	}
	return n, err
}

// ending is what stands behind the copied events, decided and folded.
type ending struct {
	st     *state
	events []store.NewEvent
	err    error
}

// fork marks the fork and ends the turn that is open there.
func (e *ending) fork(ctx context.Context, log *store.Log, at ForkPoint) error {
	n := e.st.next
	e.add(event.SessionForked{From: log.Session(), Boundary: n})
	if e.st.turn == nil {
		return e.err
	}
	if s := e.st.turn.step; s != nil && !s.ended {
		if at.Entry == "" && !s.replied && !s.interrupted {
			text, reasoning, err := lostText(ctx, log, s, n-1)
			if err != nil {
				return err
			}
			putAside(s, text, reasoning, e.addAs)
		}
		message := errForked
		for _, c := range s.owed() {
			if !c.logged {
				e.add(c.ToolCall)
			}
			e.add(event.ToolResult{ID: c.ID, Error: &message, Cause: event.CauseForked})
		}
		e.add(event.StepEnd{N: s.n})
	}
	e.add(event.TurnEnd{Status: event.Cancelled, Cause: event.CauseForked})
	return e.err
}

func (e *ending) add(p event.Payload) { e.addAs(event.NewID(), p) }

func (e *ending) addAs(id string, p event.Payload) {
	body, err := event.Encode(p)
	e.err = errors.Join(e.err, err)
	e.events = append(e.events, store.NewEvent{ID: id, Type: string(p.EventType()), Payload: body})
	e.st.apply(e.st.next, id, time.Now(), p) // no text by a person is among them: the time says nothing
}
