package turn

import (
	"context"
	"math"
)

// Delete ends a session for good. From the moment it begins every other command for the
// session is refused with ErrForeign; an open turn is aborted, its tools killed, before
// anything is deleted. Sessions of its subagents are sessions of their own and stay.
// store.ErrNotFound, store.ErrDeleted; ErrForeign while another Delete is at it;
// ErrDraining: it has not begun; an *AppendError. One that fails leaves the session as it
// was, less the turn that was open. A context that ends stops the waiting, not the deletion.
func (h *Host) Delete(ctx context.Context, id string) error {
	if h.isDraining() {
		return ErrDraining
	}
	session, err := h.store.Session(ctx, id)
	if err != nil {
		return err
	}
	a, err := h.holdWithin(ctx, session, math.MaxInt) // for a moment; a full host must not keep the session
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	h.wg.Go(func() {
		err := a.delete()
		a.Release()
		done <- err
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (a *Agent) delete() error {
	if !a.closed.CompareAndSwap(false, true) {
		return ErrForeign
	}
	a.tell(a.abort)
	<-a.atRest()
	a.await(a.forget)
	if err := a.host.store.Delete(context.Background(), a.id); err != nil {
		a.closed.Store(false) // what it knew is read again
		return unwritten(err)
	}
	a.await(func() { a.host.tell(Change{Session: a.id, Owner: a.owner, Deleted: true}) })
	return nil
}

// await has the agent's goroutine do something that no refusal keeps from being done,
// and waits for it.
func (a *Agent) await(message func()) {
	done := make(chan struct{})
	a.host.retain(a)
	a.post(func() {
		message()
		a.host.release(a)
		close(done)
	})
	<-done
}

// abort ends the open turn, if there is one, whatever it is at. No other begins behind it.
func (a *Agent) abort() {
	a.refuseStart(ErrForeign)
	if a.ready() != nil || a.st.turn == nil {
		return // a log that cannot be read can still be deleted, and nothing of it runs
	}
	_ = a.stop(Stop{Mode: Abort, Resumable: true}) // a turn is open
	_ = a.settle()                                 // a failed append has stopped it
}

// forget drops what the agent knows and what still runs beside it, so that nothing is
// appended any more.
func (a *Agent) forget() {
	a.cut(ErrForeign)
	a.commits.Wait() // none may come behind the deletion
	a.st, a.titling = nil, false
	a.work = work{}
	a.rest()
}
