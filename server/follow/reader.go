package follow

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"hitchpost/store"
)

const (
	// LagBytes is how many bytes of events a live reader may be behind.
	LagBytes = 8 << 20

	// LagPatience is how long it may be further behind than its bound: a burst that
	// is committed at once is nobody's slowness.
	LagPatience = time.Second

	// unproven is how many bytes a client is taken to have once they are handed on.
	// The rest of a longer replay may for minutes lie in the system's buffers while the
	// client reads it, and it is not at the tail before it has it.
	unproven = 1 << 20

	// readAhead is how many bytes are left of a page when the next one is asked for: as
	// many as are sent at once, so a slow client has no second page waiting for long.
	readAhead = 64 << 10

	// batchEvents and batchBytes bound what is taken from the recent events at once.
	batchEvents = 256
	batchBytes  = 256 << 10
)

// ErrLagged is a live reader that stayed too far behind.
var ErrLagged = errors.New("the client read too slowly and fell behind the live events")

// Sink takes events. Fits tells whether one of n bytes fits now. Probe calls arrived
// once the client has shown that it has all that was taken so far.
type Sink interface {
	Fits(n int) bool
	Text(line []byte)
	Probe(arrived func())
}

// Reader is one cursor over a log.
type Reader struct {
	log     *store.Log
	slots   *Slots
	wake    func()
	bound   int64 // events behind
	unwatch func()
	reading sync.WaitGroup

	// What the log's writer looks at: integers, no lock.
	next    atomic.Int64 // the seq handed on next
	pos     atomic.Int64 // bytes of the log before it
	reached atomic.Bool  // the client has been at the tail
	near    atomic.Int64 // how often it was seen within its bound
	lagged  atomic.Bool

	judging sync.Mutex
	judge   *time.Timer // not nil: the Reader was behind and will be judged
	settled bool        // closed: nobody is judged any more

	mu       sync.Mutex
	ahead    store.Page // read, to be handed on after page
	fetching bool       // a page is being read
	giveUp   func()     // ends its wait for a slot
	closed   bool
	err      error

	// Next's own.
	page   [][]byte // what is left of the page that is being handed on
	left   int64    // its bytes
	handed int64    // bytes, in all
	probed bool
}

// FollowLive is Follow for a client that counts as live from the start: it has, or has
// given up, what lies before from.
func (s *Slots) FollowLive(log *store.Log, from int64, bound int, wake func()) *Reader {
	r := s.reader(log, from, bound, wake)
	r.probed = true
	r.reached.Store(true)
	r.unwatch = log.Watch(r.published)
	r.published() // what lies behind from already is judged too
	return r
}

// Follow reads log from seq from on. wake is called, by the log's writer or by a
// goroutine of the Reader, when Next may have something new; it must not block.
// bound is how many events the Reader may be behind once it is live.
func (s *Slots) Follow(log *store.Log, from int64, bound int, wake func()) *Reader {
	r := s.reader(log, from, bound, wake)
	r.unwatch = log.Watch(r.published)
	return r
}

func (s *Slots) reader(log *store.Log, from int64, bound int, wake func()) *Reader {
	r := &Reader{log: log, slots: s, wake: wake, bound: int64(bound)}
	r.next.Store(from)
	return r
}

// AtTail tells whether everything that the log has was handed on.
func (r *Reader) AtTail() bool {
	tip, _ := r.log.Tip()
	return r.next.Load() > tip
}

// Close ends the Reader and waits for a page being read, which takes milliseconds.
func (r *Reader) Close() {
	r.unwatch()
	r.mu.Lock()
	r.closed = true
	if r.giveUp != nil {
		r.giveUp()
	}
	r.mu.Unlock()
	r.judging.Lock()
	r.settled = true
	if r.judge != nil {
		r.judge.Stop()
	}
	r.judging.Unlock()
	r.reading.Wait()
}

// Next hands on the events that are there and fit. It does not block: when there is
// more to come, wake will be called. An error is ErrLagged, or a read that failed;
// it is final. Not safe for concurrent use.
func (r *Reader) Next(to Sink) error {
	for {
		if r.lagged.Load() {
			return ErrLagged
		}
		lines, tail, err := r.take()
		if tail {
			r.arrive(to)
		}
		if err != nil || len(lines) == 0 {
			return err
		}
		if !r.hand(lines, to) {
			return nil
		}
	}
}

// take returns lines from r.next on, none when a page must be read first or when
// there is nothing new: then it is at the tail.
func (r *Reader) take() (lines [][]byte, tail bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return nil, false, r.err
	}
	if len(r.page) == 0 && len(r.ahead.Lines) > 0 {
		r.page, r.left = r.ahead.Lines, size(r.ahead.Lines)
		r.pos.Store(r.ahead.Pos - r.left)
		r.ahead = store.Page{}
	}
	if len(r.page) > 0 {
		if r.left <= readAhead { // so that the disk works while the socket does
			r.prepare(r.next.Load() + int64(len(r.page)))
		}
		return r.page, false, nil
	}
	lines, pos, ok := r.log.Recent(r.next.Load(), batchEvents, batchBytes)
	switch {
	case !ok:
		r.prepare(r.next.Load())
	case len(lines) == 0:
		tail = true
		r.pos.Store(pos)
		r.near.Add(1)
	default:
		r.pos.Store(pos - size(lines))
	}
	return lines, tail, nil
}

// arrive notes that all there is was handed on, and waits for the client to have it.
func (r *Reader) arrive(to Sink) {
	switch {
	case r.probed:
	case r.handed <= unproven:
		r.probed = true
		r.reached.Store(true)
	default:
		r.probed = true
		to.Probe(func() { r.reached.Store(true) })
	}
}

// hand passes lines on and reports whether all of them fitted.
func (r *Reader) hand(lines [][]byte, to Sink) bool {
	n := 0
	for ; n < len(lines) && to.Fits(len(lines[n])); n++ {
		to.Text(lines[n])
		r.pos.Add(int64(len(lines[n])))
		r.next.Add(1)
		r.handed += int64(len(lines[n]))
		r.left -= int64(len(lines[n]))
	}
	if n < len(r.page) {
		r.page = r.page[n:]
	} else { // handed on, or the lines are recent ones and are asked for again
		r.page = nil // not an empty rest of it, which would keep the whole page
	}
	if !r.behind() {
		r.near.Add(1)
	}
	return n == len(lines)
}

// published is called by the log's writer after each publish.
func (r *Reader) published() {
	if r.reached.Load() && r.behind() {
		r.judging.Lock()
		if r.judge == nil && !r.settled {
			r.summon()
		}
		r.judging.Unlock()
	}
	r.wake()
}

// behind tells whether the Reader is further behind the tip than its bound.
func (r *Reader) behind() bool {
	tip, pos := r.log.Tip()
	next := r.next.Load()
	return next <= tip && (tip-next+1 > r.bound || pos-r.pos.Load() > LagBytes)
}

// summon has the Reader judged in a while: it is lagged if it was behind all along.
// The caller holds judging.
func (r *Reader) summon() {
	near := r.near.Load()
	r.judge = time.AfterFunc(LagPatience, func() {
		r.judging.Lock()
		defer r.judging.Unlock()
		switch {
		case r.settled:
		case !r.behind():
			r.judge = nil
		case r.near.Load() != near:
			r.summon() // it was not behind all along, but is again
		default:
			r.lagged.Store(true)
			r.wake()
		}
	})
}

func size(lines [][]byte) (n int64) {
	for _, l := range lines {
		n += int64(len(l))
	}
	return n
}
