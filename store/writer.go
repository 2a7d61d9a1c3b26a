package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
)

// writer owns the one connection that writes. Its goroutine alone uses it.
type writer struct {
	store   *Store
	conn    *sql.Conn
	queue   *queue
	stopped chan struct{} // closed when run has returned
	check   checkpoints
	sql     statements
	places  map[*Log]place // where the logs stand in the open transaction
	gone    map[int64]bool // keys of the sessions deleted in the open transaction
	chores  chores
}

// commit is one that is under way.
type commit struct{ published chan struct{} } // closed then, or when it has failed

// place is where a log stands once the requests of a transaction are in.
type place struct{ tip, pos int64 }

func newWriter(ctx context.Context, s *Store, conn *sql.Conn) (*writer, error) {
	w := &writer{store: s, conn: conn, queue: newQueue(), stopped: make(chan struct{}),
		check: checkpoints{conn: conn, wal: s.path + "-wal"}, places: make(map[*Log]place), gone: make(map[int64]bool)}
	if err := w.sql.prepare(ctx, conn); err != nil {
		return nil, err
	}
	switch _, err := w.check.run(ctx); { // a crash's leftovers go into the file, and the mark is set
	case isFull(err): // they stay where they are, and can be read: a full disk heals without a restart, so it is no reason against one
		w.postpone(err)
		s.health.fault.Store(&err)
	case err != nil:
		return nil, errors.Join(err, w.sql.close(conn))
	}
	if err := w.chores.load(ctx, conn, s.options.SearchText != nil); err != nil {
		return nil, errors.Join(err, w.sql.close(conn))
	}
	return w, nil
}

// run commits group after group until stop, and does its chores a bounded piece at a
// time in between: nobody waits for more than one of them.
func (w *writer) run() {
	defer close(w.stopped)
	for {
		group, over := w.queue.group(w.choresWait())
		if over {
			return
		}
		if len(group) > 0 {
			w.commitGroup(group)
		}
		w.chore()
		w.checkpoint()
	}
}

// stop lets the writer finish what was accepted and waits for it.
func (w *writer) stop() {
	w.queue.close()
	<-w.stopped
}

// finish folds the write-ahead log in and gives the connection back.
func (w *writer) finish() error {
	err := w.check.fold(context.Background())
	if err != nil {
		err = fmt.Errorf("%w; nothing is lost, the newest commits are in %s: keep it beside the file, the next start reads it", err, w.check.wal)
	}
	return errors.Join(err, w.sql.close(w.conn), w.conn.Close())
}

// commitGroup commits the requests of a group in one transaction, less those
// that cannot be stored, then publishes, then answers.
func (w *writer) commitGroup(group []*request) {
	now := &commit{published: make(chan struct{})}
	w.store.committing.Store(now) // before anybody can see it on the disk
	for {
		var failed *request
		err := w.conn.Raw(func(any) (err error) {
			failed, err = w.try(&group)
			return err
		})
		if err == nil {
			w.chores.failed = false
			w.store.health.note(group, nil)
			break
		}
		if failed != nil { // without it the others may well succeed
			failed.err = err
			if failed.log != nil {
				failed.log.lost = err
			}
			continue
		}
		w.store.health.note(group, err)
		for _, r := range group {
			if r.err == nil {
				r.err = err
				if r.log != nil {
					r.log.lost = err
				}
			}
		}
		break
	}
	crashPoint("after", group)
	w.publish(group)
	w.store.committing.Store(nil)
	close(now.published)
	for _, r := range group {
		r.answer(r.err)
	}
}

// try runs one transaction over the requests that have not failed. When a request
// is to blame it is returned with the error; otherwise the error is everybody's.
func (w *writer) try(group *[]*request) (failed *request, err error) {
	if _, err := w.sql.begin.run(); err != nil {
		// A failed rollback may have left a transaction open. If that was not it, trying
		// again would only wait for a locked file a second time.
		if _, none := w.sql.rollback.run(); none != nil {
			return nil, fmt.Errorf("begin: %w", err)
		}
		if _, err := w.sql.begin.run(); err != nil {
			return nil, fmt.Errorf("begin: %w", err)
		}
	}
	clear(w.places)
	clear(w.gone)
	for i := 0; i < len(*group); i++ {
		r := (*group)[i]
		if r.err == nil {
			r.err = w.misplaced(r) // then nothing of it was written, and the transaction goes on
		}
		if r.err == nil {
			if err := w.apply(r); err != nil {
				w.sql.rollback.run()
				if sharedFault(err) {
					return nil, err
				}
				return r, err
			}
		}
		if i == len(*group)-1 {
			*group = w.join(*group)
		}
	}
	if err := w.fault("commit"); err != nil {
		w.sql.rollback.run()
		return nil, fmt.Errorf("commit: %w", err)
	}
	crashPoint("before", *group)
	if _, err := w.sql.commit.run(); err != nil {
		w.sql.rollback.run()
		return nil, fmt.Errorf("commit: %w", err)
	}
	return nil, nil
}

// join adds the requests that came while the group was applied: whoever the last
// commit answered has its next one ready by now. Gosched lets those that are
// about to queue do so; it is no waiting, with nobody to run it returns at once.
func (w *writer) join(group []*request) []*request {
	n := len(group)
	if group = w.queue.take(group); len(group) > n {
		return group
	}
	runtime.Gosched()
	return w.queue.take(group)
}

// misplaced refuses a batch that does not continue its log.
func (w *writer) misplaced(r *request) error {
	if r.log == nil {
		return nil
	}
	at, ok := w.places[r.log]
	if !ok {
		at.tip, at.pos = r.log.Tip()
		w.places[r.log] = at
	}
	if r.log.deleted() || w.gone[r.log.key] {
		return ErrDeleted
	}
	if r.from > at.tip+1 && r.log.lost != nil { // then that is why
		return fmt.Errorf("%w: the append before it failed: %w", ErrConflict, r.log.lost)
	}
	if r.from != at.tip+1 {
		return fmt.Errorf("%w: it was to begin at seq %d, the log goes on at %d", ErrConflict, r.from, at.tip+1)
	}
	return nil
}

// apply writes one request into the open transaction.
func (w *writer) apply(r *request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while storing: %v", p)
		}
	}()
	if err := w.fault("insert"); err != nil {
		return err
	}
	if r.remove != "" {
		return w.bury(r)
	}
	if r.giveUp {
		return nil // its rows go by and by, see publish
	}
	if r.probe {
		_, err := w.sql.probe.run()
		return err
	}
	var key int64
	var owner string
	var at place
	if r.draft != nil {
		if err := w.applyDraft(r); err != nil {
			return err
		}
		key, owner, at = r.draft.key, r.draft.owner, r.draft.at
	} else {
		key, owner, at = r.log.key, r.log.owner, w.places[r.log]
	}
	for i := range r.records {
		e := &r.records[i]
		at.tip++
		at.pos += int64(len(e.line))
		if _, err := w.sql.addEvent.run(key, at.tip, e.typ, e.id, at.pos, string(e.line)); err != nil {
			if isConstraint(err) {
				err = fmt.Errorf("%w: event %d, %s, has an id or a seq that is taken: %w", ErrConflict, i, e.typ, err)
			}
			return err
		}
	}
	if err := w.applyInbox(key, r); err != nil {
		return err
	}
	if err := w.applyRow(key, owner, r); err != nil {
		return err
	}
	if r.log != nil {
		w.places[r.log] = at
	}
	return nil
}

// applyRow writes what a batch says of its session.
func (w *writer) applyRow(key int64, owner string, r *request) error {
	if err := w.index(key, owner, r.texts); err != nil {
		return err
	}
	if r.title != nil {
		if _, err := w.sql.setTitle.run(*r.title, key); err != nil {
			return err
		}
		if err := w.indexTitle(key, owner, *r.title); err != nil {
			return err
		}
	}
	if r.pinned != nil {
		if _, err := w.sql.setPinned.run(*r.pinned, key); err != nil {
			return err
		}
	}
	if r.digest != nil {
		if _, err := w.sql.setDigest.run(string(r.digest), key); err != nil {
			return err
		}
	}
	return nil
}

// publish makes the committed requests visible, then calls each log's watchers once.
func (w *writer) publish(group []*request) {
	var moved []*Log
	for _, r := range group {
		if r.giveUp { // also when the transaction failed
			w.chores.remove = append(w.chores.remove, r.draft.key)
		}
		if r.remove != "" && r.err == nil {
			if l := w.ended(r); l != nil {
				moved = append(moved, l)
			}
		}
		if r.err != nil || r.log == nil {
			continue
		}
		r.log.lost = nil
		if len(r.records) == 0 {
			continue
		}
		if r.log.publish(r.records) && !slices.Contains(moved, r.log) {
			moved = append(moved, r.log)
		}
	}
	for _, l := range moved {
		l.notify()
	}
}

// checkpoint runs one when due. One that fails is tried again later: what was
// committed is safe in the write-ahead log.
func (w *writer) checkpoint() {
	if !w.check.due() {
		return
	}
	pages, err := w.check.run(context.Background())
	if err == nil && pages > walGated {
		// Readers overlap so that there is never a moment without one: make one.
		w.store.gate.Lock()
		_, err = w.check.run(context.Background())
		w.store.gate.Unlock()
	}
	if err != nil {
		w.postpone(err)
	}
}

// postpone has a checkpoint that failed tried again later.
func (w *writer) postpone(err error) {
	w.check.next = w.check.written() + walRetry
	slog.Error("checkpoint failed, the write-ahead log grows", "file", w.store.path, "err", err)
}

// fault injects a test's failure.
func (w *writer) fault(stage string) error {
	if w.store.options.fault == nil {
		return nil
	}
	return w.store.options.fault(stage)
}
