package runwire

import (
	"slices"
	"sync"

	"hitchpost/server/protocol"
)

// maxEntries bounds the entries outside a run that wait for a slow client. Beyond it the
// oldest are dropped: REST re-reads them.
const maxEntries = 256

// outbox holds the unnumbered frames that wait for a client, of each type the newest of a
// session, so it is bounded by what there is to tell.
type outbox struct {
	conn   *conn
	queued bool // guarded by conn.q

	mu      sync.Mutex
	order   []newsKey // what was taken back stands there still, without a line
	lines   map[newsKey][]byte
	entries int // of lines
	counter int
}

// newsKey is what a newer frame takes the place of.
type newsKey struct {
	session string
	typ     protocol.ServerType
	n       int // entries do not replace each other
}

func (o *outbox) isQueued() *bool { return &o.queued }

// put adds a frame. The line is shared with other connections.
func (o *outbox) put(session string, typ protocol.ServerType, line []byte) {
	o.mu.Lock()
	key := newsKey{session: session, typ: typ}
	switch typ {
	case protocol.TypeRunEntry:
		o.counter++
		key.n = o.counter
		o.dropEntry()
		o.entries++
	case protocol.TypeSessionDeleted: // all else about it is void
		for other := range o.lines {
			if other.session == session && other.typ != protocol.TypeRunEntry {
				delete(o.lines, other)
			}
		}
	}
	if o.lines == nil {
		o.lines = map[newsKey][]byte{}
	}
	if _, waits := o.lines[key]; !waits {
		o.order = append(o.order, key)
	}
	o.lines[key] = line
	o.mu.Unlock()
	o.conn.wake(o, true)
}

// dropEntry makes room for one more. The caller holds mu.
func (o *outbox) dropEntry() {
	if o.entries < maxEntries {
		return
	}
	for i, key := range o.order {
		if key.typ == protocol.TypeRunEntry {
			delete(o.lines, key)
			o.order = slices.Delete(o.order, i, i+1)
			o.entries--
			return
		}
	}
}

func (o *outbox) serve(b *budget) (more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.order) > 0 {
		key := o.order[0]
		line, waits := o.lines[key]
		if waits && !b.fits(len(line)) {
			return true
		}
		o.order = o.order[1:]
		if !waits {
			continue
		}
		b.write(line)
		delete(o.lines, key)
		if key.typ == protocol.TypeRunEntry {
			o.entries--
		}
	}
	o.order, o.lines = nil, nil
	return false
}
