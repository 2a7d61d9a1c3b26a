package store

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// request is one atomic piece of work for the writer: a batch of a log, a piece of
// a draft, a deletion, the end of a draft that is given up, or a probe.
type request struct {
	log    *Log
	draft  *draft
	begin  bool     // the draft has further pieces: it is written down as unfinished
	create *Session // the draft becomes this session
	remove string   // the session of this id is deleted
	giveUp bool     // what there is of the draft goes
	probe  bool     // nothing changes; it is to be seen whether the file can be written

	from    int64
	checked []NewEvent
	records []record
	texts   []searchText
	put     []Input
	take    []int64
	calm    []int64
	seen    []string
	at      time.Time         // zero: when it is queued
	notes   map[string]string // of seen, and of put
	title   *string
	pinned  *bool
	digest  []byte // nil = as it is

	removed int64 // key of the session that was removed, once applied

	rows, bytes int // what it brings to a transaction

	err    error // why it failed; one refused by its caller's check is queued with it set
	events []Event
	done   func([]Event, error)
}

// wait queues the request and waits for its answer, or for ctx.
func (r *request) wait(ctx context.Context, queue func()) ([]Event, error) {
	type answer struct {
		events []Event
		err    error
	}
	answered := make(chan answer, 1) // the writer never waits for a caller
	r.done = func(events []Event, err error) { answered <- answer{events, err} }
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	queue()
	select {
	case a := <-answered:
		return a.events, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// answer tells the caller the outcome and gives the log back. A caller's panic
// is the caller's: the writer goes on.
func (r *request) answer(err error) {
	if r.log != nil {
		defer r.log.release()
	}
	defer func() {
		if p := recover(); p != nil {
			slog.Error("panic in the callback of an append", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	if err != nil {
		r.done(nil, err)
		return
	}
	r.done(r.events, nil)
}

// What one transaction takes of the requests that wait, at most; more would
// only make the first of them wait longer.
const (
	groupRows  = 1024
	groupBytes = 8 << 20
)

// queue holds the requests that wait for the writer.
type queue struct {
	mu      sync.Mutex
	waiting []*request
	closed  bool
	wake    chan struct{} // buffered by one: something waits, or the queue was closed
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// add queues a request; false on a closed store.
func (q *queue) add(r *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	r.rows = len(r.records) + len(r.put) + len(r.take) + len(r.calm) + len(r.seen)
	for i := range r.records {
		r.bytes += len(r.records[i].line)
	}
	for i := range r.put {
		r.bytes += len(r.put[i].Text)
	}
	q.waiting = append(q.waiting, r)
	q.signal()
	return true
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// group takes the requests that wait; if there are none and the writer has nothing
// else to do, it waits for some. over: the queue is closed and empty.
func (q *queue) group(busy bool) (group []*request, over bool) {
	for {
		if group := q.take(nil); len(group) > 0 {
			return group, false
		}
		q.mu.Lock()
		over := q.closed && len(q.waiting) == 0
		q.mu.Unlock()
		if over || busy {
			return nil, over
		}
		<-q.wake
	}
}

// take adds to a group what already waits, as long as it is below a transaction's limits.
func (q *queue) take(group []*request) []*request {
	rows, bytes := 0, 0
	for _, r := range group {
		rows, bytes = rows+r.rows, bytes+r.bytes
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := 0
	for taken < len(q.waiting) && rows < groupRows && bytes < groupBytes {
		r := q.waiting[taken]
		group, rows, bytes, taken = append(group, r), rows+r.rows, bytes+r.bytes, taken+1
	}
	if q.waiting = q.waiting[taken:]; len(q.waiting) == 0 {
		q.waiting = nil
	}
	return group
}
