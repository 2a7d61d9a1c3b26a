package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Delete deletes a session: ErrNotFound, ErrDeleted. It is gone at once: an open Log
// of it fails its next append, and its next read, with ErrDeleted. Its rows leave the
// file piece by piece between the appends of others, also over restarts, and their
// space is used again. A tombstone with the id, owner and agent stays for ever.
func (s *Store) Delete(ctx context.Context, id string) error {
	r := &request{remove: id}
	_, err := r.wait(ctx, func() {
		if !s.writer.queue.add(r) {
			r.answer(ErrClosed)
		}
	})
	if errors.Is(err, ErrNotFound) {
		if _, found := s.Session(ctx, id); errors.Is(found, ErrDeleted) {
			err = ErrDeleted
		}
	}
	if err != nil {
		return fmt.Errorf("delete session %q: %w", id, err)
	}
	return nil
}

// bury makes a session a tombstone, in the open transaction.
func (w *writer) bury(r *request) error {
	res, err := w.sql.buryLeftover.run(r.remove)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return ErrNotFound
	}
	if r.removed, err = res.LastInsertId(); err != nil {
		return err
	}
	w.gone[r.removed] = true
	_, err = w.sql.burySession.run(time.Now().UnixMicro(), r.removed)
	return err
}

// ended ends the open log of a session that was deleted, and returns it when somebody
// watches. Whoever opens it from now on reads the tombstone, and whoever was opening
// it has put his Log where it is found here.
func (w *writer) ended(r *request) *Log {
	w.chores.remove = append(w.chores.remove, r.removed)
	w.store.mu.Lock()
	l := w.store.logs[r.remove]
	w.store.mu.Unlock()
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
	l.recent, l.bytes, l.dropped = nil, 0, 0
	if len(l.watchers) == 0 {
		return nil
	}
	return l
}
