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

	begin, commit, rollback, addEvent, findSession, addSession,
	addInput, takeInput, calmInput, addSeen *sql.Stmt
}

func newWriter(ctx context.Context, s *Store, conn *sql.Conn) (*writer, error) {
	w := &writer{store: s, conn: conn, queue: newQueue(), stopped: make(chan struct{}), check: checkpoints{conn: conn}}
	for _, p := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&w.begin, "BEGIN IMMEDIATE"},
		{&w.commit, "COMMIT"},
		{&w.rollback, "ROLLBACK"},
		{&w.addEvent, "INSERT INTO events(session, seq, type, id, pos, event) VALUES(?,?,?,?,?,?)"},
		{&w.findSession, "SELECT deleted_at IS NOT NULL FROM sessions WHERE id = ?"},
		{&w.addSession, "INSERT INTO sessions(id, owner, agent, title, parent_id, pinned, created_at) VALUES(?,?,?,?,?,?,?)"},
		{&w.addInput, "INSERT INTO inbox(session, position, input_id, client_id, queue, text, wake, queued_at) VALUES(?,?,?,?,?,?,?,?)"},
		{&w.takeInput, "DELETE FROM inbox WHERE session = ? AND position = ?"},
		{&w.calmInput, "UPDATE inbox SET wake = 0 WHERE session = ? AND position = ?"},
		{&w.addSeen, "INSERT INTO inputs_seen(session, client_id) VALUES(?,?)"},
	} {
		var err error
		if *p.to, err = conn.PrepareContext(ctx, p.sql); err != nil {
			return nil, fmt.Errorf("prepare %q: %w", p.sql, err)
		}
	}
	if _, err := w.check.run(ctx); err != nil { // a crash's leftovers go into the file, and the mark is set
		return nil, err
	}
	return w, nil
}

// run commits group after group until stop.
func (w *writer) run() {
	defer close(w.stopped)
	for {
		// Whoever was just answered may have its next append ready; let it. This
		// is no waiting: with nobody to run it returns at once.
		runtime.Gosched()
		group := w.queue.group()
		if group == nil {
			return
		}
		w.commitGroup(group)
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
	return errors.Join(w.check.fold(context.Background()), w.conn.Close())
}

// place is where a log stands once the requests of a transaction are in.
type place struct{ tip, pos int64 }

// commitGroup commits the requests of a group in one transaction, less those
// that cannot be stored, then publishes, then answers.
func (w *writer) commitGroup(group []*request) {
	for {
		failed, err := w.try(group)
		if err == nil {
			break
		}
		if failed != nil { // without it the others may well succeed
			failed.err = err
			continue
		}
		for _, r := range group {
			if r.err == nil {
				r.err = err
			}
		}
		break
	}
	w.publish(group)
	for _, r := range group {
		r.answer(r.err)
	}
}

// try runs one transaction over the requests that have not failed. When a request
// is to blame it is returned with the error; otherwise the error is everybody's.
func (w *writer) try(group []*request) (failed *request, err error) {
	ctx := context.Background() // no caller's context may end the transaction of the others
	if _, err := w.begin.ExecContext(ctx); err != nil {
		w.rollback.ExecContext(ctx) // a failed rollback may have left a transaction open
		if _, err := w.begin.ExecContext(ctx); err != nil {
			return nil, fmt.Errorf("begin: %w", err)
		}
	}
	places := make(map[*Log]place, len(group))
	for _, r := range group {
		if r.err != nil {
			continue
		}
		if r.err = r.misplaced(places); r.err != nil {
			continue // nothing of it was written: the transaction goes on
		}
		if err := w.apply(ctx, r, places); err != nil {
			w.rollback.ExecContext(ctx)
			if sharedFault(err) {
				return nil, err
			}
			return r, err
		}
	}
	if err := w.fault("commit"); err != nil {
		w.rollback.ExecContext(ctx)
		return nil, fmt.Errorf("commit: %w", err)
	}
	if _, err := w.commit.ExecContext(ctx); err != nil {
		w.rollback.ExecContext(ctx)
		return nil, fmt.Errorf("commit: %w", err)
	}
	return nil, nil
}

// misplaced refuses a batch that does not continue its log.
func (r *request) misplaced(places map[*Log]place) error {
	if r.log == nil {
		return nil
	}
	at, ok := places[r.log]
	if !ok {
		at.tip, at.pos = r.log.Tip()
		places[r.log] = at
	}
	if r.from != at.tip+1 {
		return fmt.Errorf("%w: it was to begin at seq %d, the log goes on at %d", ErrConflict, r.from, at.tip+1)
	}
	return nil
}

// apply writes one request into the open transaction.
func (w *writer) apply(ctx context.Context, r *request, places map[*Log]place) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while storing: %v", p)
		}
	}()
	if err := w.fault("insert"); err != nil {
		return err
	}
	key, at := int64(0), place{tip: -1}
	if r.create != nil {
		if key, err = w.insertSession(ctx, r.create); err != nil {
			return err
		}
	} else {
		key, at = r.log.key, places[r.log]
	}
	for i := range r.records {
		e := &r.records[i]
		at.tip++
		at.pos += int64(len(e.line))
		if _, err := w.addEvent.ExecContext(ctx, key, at.tip, e.typ, e.id, at.pos, string(e.line)); err != nil {
			if isConstraint(err) {
				err = fmt.Errorf("%w: event %d, %s, has an id or a seq that is taken: %w", ErrConflict, i, e.typ, err)
			}
			return err
		}
	}
	if err := w.applyInbox(ctx, key, r); err != nil {
		return err
	}
	if r.log != nil {
		places[r.log] = at
	}
	return nil
}

// publish makes the committed requests visible, then calls each log's watchers once.
func (w *writer) publish(group []*request) {
	var moved []*Log
	for _, r := range group {
		if r.err != nil || r.log == nil || len(r.records) == 0 {
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
		w.check.next = w.check.written() + walRetry
		slog.Error("checkpoint failed, the write-ahead log grows", "file", w.store.path, "err", err)
	}
}

// fault injects a test's failure.
func (w *writer) fault(stage string) error {
	if w.store.options.fault == nil {
		return nil
	}
	return w.store.options.fault(stage)
}
