package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// RecentBytes bounds the recent events kept for the live readers of a log, beside
// Options.RecentEvents. A single larger event is kept still.
const RecentBytes = 8 << 20

// Log is one session's log, opened. All who open a session share one Log; its
// tip, recent events and watchers live while anybody holds it.
type Log struct {
	store *Store
	id    string

	refs int // guarded by Store.mu: holders, and requests under way

	opening sync.Mutex // held while the row and the tip are read
	opened  atomic.Bool
	key     int64  // of the session's row; fixed once opened
	head    string // of its envelopes; likewise
	owner   string // in the search's index; likewise

	lost error // the writer's: of the newest append that failed, if none was committed since

	submit sync.Mutex // held from stamping a batch to queueing it: at and queue have one order
	lastAt time.Time  // guarded by submit

	mu       sync.Mutex
	gone     bool // the session was deleted
	tip, pos int64
	recent   [][]byte // the newest events, kept only while somebody watches; see push
	bytes    int      // of recent
	dropped  int      // bytes that left recent but that its array still holds
	watchers []*watcher
}

type watcher struct{ fn func() }

// OpenLog opens the log of a session: ErrNotFound, ErrDeleted. Whoever opens it closes it.
func (s *Store) OpenLog(ctx context.Context, id string) (*Log, error) {
	s.mu.Lock()
	l := s.logs[id]
	if l == nil {
		l = &Log{store: s, id: id}
		s.logs[id] = l
	}
	l.refs++
	s.mu.Unlock()
	if err := l.open(ctx); err != nil {
		l.Close()
		return nil, fmt.Errorf("open log: %w", err)
	}
	return l, nil
}

// held returns the log of a session if somebody holds it, else nil: then all that is
// committed of it is published.
func (s *Store) held(id string) *Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.logs[id]; l != nil && l.opened.Load() {
		return l
	}
	return nil
}

func (l *Log) open(ctx context.Context) error {
	l.opening.Lock()
	defer l.opening.Unlock()
	if l.opened.Load() {
		if l.deleted() {
			return fmt.Errorf("session %q: %w", l.id, ErrDeleted)
		}
		return nil
	}
	done, err := l.store.reading()
	if err != nil {
		return fmt.Errorf("session %q: %w", l.id, err)
	}
	defer done()
	var owner string
	var deleted bool
	var seq, pos sql.NullInt64
	var newest []byte
	err = l.store.queries.tip.QueryRowContext(ctx, l.id).Scan(&l.key, &owner, &deleted, &seq, &pos, &newest)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("session %q: %w", l.id, ErrNotFound)
	case err != nil:
		return fmt.Errorf("session %q: %w", l.id, err)
	case deleted:
		return fmt.Errorf("session %q: %w", l.id, ErrDeleted)
	}
	l.head, l.owner, l.tip = envelopeHead(l.id), ownerWord(owner), -1
	if seq.Valid {
		e, err := decode(l.head, newest)
		if err != nil {
			return fmt.Errorf("session %q, seq %d: %w", l.id, seq.Int64, err)
		}
		l.tip, l.pos, l.lastAt = seq.Int64, pos.Int64, e.At
	}
	l.opened.Store(true)
	return nil
}

// Close gives the log back. It is not to be used after that by the same holder.
func (l *Log) Close() { l.release() }

func (l *Log) retain() {
	l.store.mu.Lock()
	l.refs++
	l.store.mu.Unlock()
}

func (l *Log) release() {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if l.refs--; l.refs == 0 && l.store.logs[l.id] == l {
		delete(l.store.logs, l.id)
	}
}

// Session is the id of the session.
func (l *Log) Session() string { return l.id }

// Decode reads an envelope of this log back, such as a line of a Page; the Event
// shares its memory.
func (l *Log) Decode(line []byte) (Event, error) {
	e, err := decode(l.head, line)
	if err != nil {
		return Event{}, fmt.Errorf("read %q: %w", l.id, err)
	}
	return e, nil
}

// Tip returns the newest committed seq, -1 if there is none, and the length of
// the log in bytes up to and including it (envelopes, without separators).
func (l *Log) Tip() (seq, pos int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tip, l.pos
}

// Watch has the writer call fn after each publish of this log, until stop. fn
// must not block; one call may still arrive while stop returns. While somebody
// watches, the events committed are kept for Recent.
func (l *Log) Watch(fn func()) (stop func()) {
	w := &watcher{fn}
	l.mu.Lock()
	l.watchers = append(slices.Clip(l.watchers), w) // copied: publish iterates outside the lock
	l.mu.Unlock()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.watchers = slices.DeleteFunc(slices.Clone(l.watchers), func(x *watcher) bool { return x == w })
		if len(l.watchers) == 0 {
			l.watchers, l.recent, l.bytes, l.dropped = nil, nil, 0, 0
		}
	}
}

// Recent returns events from seq from on without touching the disk: at most
// maxEvents and maxBytes, but at least one, and the length of the log in bytes up
// to and including the last of them. ok without lines means that from is what the
// log will commit next: the reader is at the tip, and a watcher set before the
// call hears of what follows. ok=false means that from is no longer among the
// recent events: read a Page, which says so if the session was deleted.
func (l *Log) Recent(from int64, maxEvents, maxBytes int) (lines [][]byte, pos int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone {
		return nil, 0, false
	}
	if from > l.tip {
		return nil, l.pos, true
	}
	behind := l.tip - from + 1
	if behind > int64(len(l.recent)) {
		return nil, 0, false
	}
	lines = l.recent[len(l.recent)-int(behind):]
	pos = l.pos
	for _, line := range lines {
		pos -= int64(len(line))
	}
	n, size := 0, 0
	for n < len(lines) && n < max(maxEvents, 1) && (n == 0 || size+len(lines[n]) <= maxBytes) {
		size += len(lines[n])
		n++
	}
	return lines[:n:n], pos + int64(size), true
}

// reading runs a read of the log. The rows of a deleted session are removed while
// others read, so an answer counts only if it was not deleted by the end.
func (l *Log) reading(read func() error) error {
	done, err := l.store.reading()
	if err != nil {
		return err
	}
	defer done()
	err = read()
	if l.deleted() {
		return ErrDeleted
	}
	return err
}

func (l *Log) deleted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// publish makes committed events visible, and tells whether somebody is to be
// notified. Only the writer calls it.
func (l *Log) publish(records []record) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range records {
		l.tip++
		l.pos += int64(len(records[i].line))
		if len(l.watchers) > 0 {
			l.push(records[i].line)
		}
	}
	return len(l.watchers) > 0
}

// push keeps a line. Readers hold slices of the array, so no element is ever
// overwritten: the front is cut off, and append moves to a new array in time.
func (l *Log) push(line []byte) {
	l.recent = append(l.recent, line)
	l.bytes += len(line)
	for len(l.recent) > l.store.options.RecentEvents || l.bytes > RecentBytes && len(l.recent) > 1 {
		l.bytes -= len(l.recent[0])
		l.dropped += len(l.recent[0])
		l.recent = l.recent[1:]
	}
	if l.dropped > RecentBytes {
		l.recent, l.dropped = slices.Clone(l.recent), 0
	}
}

// notify calls the watchers.
func (l *Log) notify() {
	l.mu.Lock()
	watchers := l.watchers
	l.mu.Unlock()
	for _, w := range watchers {
		w.fn()
	}
}
