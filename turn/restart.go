package turn

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// Resume says what becomes of the turns that a start finds open.
type Resume string

const (
	ResumeOnStimulus Resume = "stimulus" // they wait for a text, a verdict or a run
	ResumeAtStart    Resume = "start"    // they go on by themselves, a few at a time
)

const (
	resumedAtOnce = 4           // turns that a start lets go on at the same time
	roomPause     = time.Second // before what found no room in memory is tried again
)

// Start takes up what the death of a process left. Waking texts begin their turns;
// open turns go on, or wait for a stimulus. The expiry of a call that was parked
// before is such a stimulus: until then nothing of its turn runs.
func (h *Host) Start(ctx context.Context) error {
	waking, err := h.store.WakingSessions(ctx)
	if err != nil {
		return err
	}
	open, err := h.store.Unclosed(ctx, string(event.TurnStartType), string(event.TurnEndType))
	if err != nil {
		return err
	}
	var later []string
	for _, id := range waking {
		err := h.visit(ctx, id, func(a *Agent) error { return a.takeUp(ctx, false) })
		switch {
		case errors.Is(err, ErrTooManyAgents):
			later = append(later, id)
		case ctx.Err() != nil:
			return err
		case err != nil: // one session's fault keeps none of the others waiting
			h.logger().Error("the waiting texts of a session could not be started", "session", id, "err", err)
		}
	}
	cfg := h.config()
	goOn := cfg.Resume == ResumeAtStart
	if goOn {
		later = append(later, open...)
	}
	h.wg.Go(func() { h.takeUpLater(later, goOn) })
	if !goOn && cfg.Approvals && cfg.Expires > 0 {
		h.wg.Go(func() { h.expireParked(open, cfg.Expires) })
	}
	return nil
}

// visit holds the agent of a session for as long as the work takes.
func (h *Host) visit(ctx context.Context, id string, work func(*Agent) error) error {
	session, err := h.store.Session(ctx, id)
	if err != nil {
		return err
	}
	a, err := h.hold(ctx, session)
	if err != nil {
		return err
	}
	defer a.Release()
	return work(a)
}

// visitWhenRoom is a visit that waits for room in memory, and gives up when the host
// drains.
func (h *Host) visitWhenRoom(id string, work func(*Agent) error) {
	for {
		if h.isDraining() {
			return
		}
		err := h.visit(h.beside, id, work)
		if !errors.Is(err, ErrTooManyAgents) {
			gone := errors.Is(err, store.ErrDeleted) || errors.Is(err, ErrForeign)
			if err != nil && !gone && !h.isDraining() {
				h.logger().Error("what a restart left could not be taken up", "session", id, "err", err)
			}
			return
		}
		select {
		case <-time.After(roomPause):
		case <-h.draining:
		}
	}
}

// takeUp begins the turn of a waking text, or lets the open turn go on. That of a
// subagent is its caller's to deal with.
func (a *Agent) takeUp(ctx context.Context, openTurn bool) error {
	return a.do(ctx, func() error {
		switch {
		case a.host.isDraining() || a.running:
		case a.st.turn == nil && a.woken():
			a.begin(nil)
		case a.st.turn != nil && openTurn && a.parent == "":
			a.resume(nil)
		}
		return nil
	})
}

// takeUpLater takes up sessions a few at a time: the next one when one is at rest.
func (h *Host) takeUpLater(ids []string, openTurns bool) {
	var group errgroup.Group
	group.SetLimit(resumedAtOnce)
	for _, id := range ids {
		group.Go(func() error {
			h.visitWhenRoom(id, func(a *Agent) error {
				if err := a.takeUp(h.beside, openTurns); err != nil {
					return err
				}
				select {
				case <-a.atRest():
				case <-h.draining:
				}
				return nil
			})
			return nil
		})
	}
	_ = group.Wait() // what failed was logged
}

// deadline is when the first of a session's standing calls expires.
type deadline struct {
	session string
	at      time.Time
}

// expireParked denies calls that were parked before the start when their time is up.
// Their agents are in memory only for that moment.
func (h *Host) expireParked(open []string, limit time.Duration) {
	for _, next := range h.deadlines(open, limit) {
		timer := time.NewTimer(time.Until(next.at))
		select {
		case <-timer.C:
		case <-h.draining:
			timer.Stop()
			return
		}
		h.visitWhenRoom(next.session, func(a *Agent) error { return a.expireAt(h.beside, next.at, limit) })
	}
}

func (h *Host) deadlines(open []string, limit time.Duration) (out []deadline) {
	for _, id := range open {
		h.visitWhenRoom(id, func(a *Agent) error {
			return a.do(context.Background(), func() error { // for out must not be written later
				var first time.Time
				for _, c := range a.allStanding() {
					if at := c.asked.Add(limit); first.IsZero() || at.Before(first) {
						first = at
					}
				}
				if !first.IsZero() {
					out = append(out, deadline{id, first})
				}
				return nil
			})
		})
	}
	slices.SortFunc(out, func(a, b deadline) int { return a.at.Compare(b.at) })
	return out
}

// expireAt denies what has expired by then and resumes the turn, in which the calls
// that still stand wait for their own expiry. A turn that runs does so by itself.
func (a *Agent) expireAt(ctx context.Context, then time.Time, limit time.Duration) error {
	return a.do(ctx, func() error {
		if a.running || a.host.isDraining() {
			return nil
		}
		var expired *call
		for _, c := range a.allStanding() {
			if !c.asked.Add(limit).After(then) {
				a.denyExpired(c, limit)
				expired = c
			}
		}
		if expired != nil {
			a.resume(expired)
		}
		return nil
	})
}
