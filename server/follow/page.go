package follow

import (
	"context"
	"fmt"

	"hitchpost/store"
)

// prepare has the page that begins at from read, unless one is there or on its way,
// or the log still has those events in memory. The caller holds mu.
func (r *Reader) prepare(from int64) {
	if r.fetching || r.closed || len(r.ahead.Lines) > 0 {
		return
	}
	if _, _, ok := r.log.Recent(from, 1, 1); ok {
		return
	}
	waiting, giveUp := context.WithCancel(context.Background())
	r.fetching, r.giveUp = true, giveUp
	r.reading.Go(func() { r.fetch(waiting, from) })
}

// fetch reads a page under a slot, for which it waits as long as waiting lives.
func (r *Reader) fetch(waiting context.Context, from int64) {
	page, err := r.read(waiting, from)
	r.mu.Lock()
	r.giveUp() // frees what the context holds
	r.ahead, r.err, r.fetching, r.giveUp = page, err, false, nil
	r.mu.Unlock()
	r.wake()
}

func (r *Reader) read(waiting context.Context, from int64) (store.Page, error) {
	release, err := r.slots.Take(waiting)
	if err != nil {
		return store.Page{}, err // closed: nobody asks any more
	}
	defer release()
	// A page is bounded, so its read is not cut short; Close waits for it.
	page, err := r.log.Page(context.Background(), from)
	if err == nil && len(page.Lines) == 0 {
		err = fmt.Errorf("the log of %q has no event %d, which it had", r.log.Session(), from)
	}
	return page, err
}
