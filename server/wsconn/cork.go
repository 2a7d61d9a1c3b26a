package wsconn

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// chunkSize is what one write to the socket carries at most, in bytes, unless a
	// single frame is larger.
	chunkSize = 64 << 10

	// smallBuffer is what a connection that writes little collects in, in bytes.
	smallBuffer = 1 << 10

	// sendLimit is how many bytes of answers may wait before Send blocks.
	sendLimit = 256 << 10

	// controlLimit is how many bytes of answers to pings may wait: more than 500 of
	// the longest.
	controlLimit = 64 << 10
)

// chunks lends the buffers of connections that write much.
var chunks = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// First bytes of whole frames (RFC 6455, section 5.2).
const (
	textFrame  = 0x81
	closeFrame = 0x88
	pingFrame  = 0x89
)

// cork is the net.Conn under the WebSocket library. Each frame that the library
// writes is one system call and may block for as long as the peer likes; here it is
// an append to memory, and flush is the only place that touches the socket.
//
// The library reads, answers pings and does the close handshake. What we send we
// frame ourselves, a header of 2 to 10 bytes and no mask: the library can only ping
// and wait for the pong, which would cost a goroutine for every idle connection, and
// takes three locks for every event.
type cork struct {
	net.Conn
	head []byte // what net/http had already read behind the request
	kick func()
	sent *atomic.Int64 // bytes written to the socket, for whoever judges the peer

	mu      sync.Mutex
	room    sync.Cond // signalled when what waits was taken or the conn closed
	sealed  [][]byte  // what waits before pending: buffers, and payloads that are not copied
	behind  int       // bytes of them
	pending []byte    // frames, in order, the last of them whole
	control int       // bytes of what waits that are the library's
	ending  bool      // a close frame is among them or has gone: no data frame may follow
	until   time.Time // not zero: an end has begun, only the farewell is taken still, and no write goes on beyond this
	closed  bool      // no further frame is taken
	through bool      // writes go straight to the socket: only the close frame is left

	flushing sync.Mutex // held while bytes go to the socket; taken before mu
}

func newCork(c net.Conn, head []byte, kick func(), sent *atomic.Int64) *cork {
	k := &cork{Conn: c, head: head, kick: kick, sent: sent}
	k.room.L = &k.mu
	return k
}

func (k *cork) Read(p []byte) (int, error) {
	if len(k.head) > 0 {
		n := copy(p, k.head)
		if k.head = k.head[n:]; len(k.head) == 0 {
			k.head = nil
		}
		return n, nil
	}
	return k.Conn.Read(p)
}

// frame adds one of our frames. A payload larger than a chunk is not copied, so that the
// connections that are sent the same one hold it once: it must not change any more.
func (k *cork) frame(first byte, payload []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.until.IsZero() {
		k.add(first, payload)
	}
}

// farewell takes the place of the frames that wait; nil for none. What flush has taken is
// on its way.
func (k *cork) farewell(payload []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.take()
	if payload != nil {
		k.add(textFrame, payload)
	}
}

// add is frame for whoever holds mu.
func (k *cork) add(first byte, payload []byte) {
	if k.closed || k.ending {
		return
	}
	var head [maxHeader]byte
	n := 2
	head[0] = first
	switch size := len(payload); {
	case size < 126:
		head[1] = byte(size)
	case size <= 0xffff:
		head[1] = 126
		binary.BigEndian.PutUint16(head[2:], uint16(size))
		n += 2
	default:
		head[1] = 127
		binary.BigEndian.PutUint64(head[2:], uint64(size))
		n += 8
	}
	if len(payload) > chunkSize {
		k.grow(n)
		k.pending = append(k.pending, head[:n]...)
		k.sealed = append(k.sealed, k.pending, payload)
		k.behind += len(k.pending) + len(payload)
		k.pending = nil
		return
	}
	k.grow(n + len(payload))
	k.pending = append(append(k.pending, head[:n]...), payload...)
}

// maxHeader is the longest header of a frame that is not masked, in bytes.
const maxHeader = 10

// Write takes a control frame of the library, whole: it is shorter than bufferSize.
// It never blocks, so a ping that is answered on the reader cannot be held up by a
// slow socket.
func (k *cork) Write(p []byte) (int, error) {
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		return 0, net.ErrClosed
	}
	if k.through {
		k.mu.Unlock()
		return k.Conn.Write(p)
	}
	k.grow(len(p))
	k.pending = append(k.pending, p...)
	k.control += len(p)
	k.ending = k.ending || p[0] == closeFrame
	k.mu.Unlock()
	k.kick()
	return len(p), nil
}

// grow makes room for n more bytes. The caller holds mu.
func (k *cork) grow(n int) {
	need := len(k.pending) + n
	switch {
	case need <= cap(k.pending):
	case need <= smallBuffer:
		k.pending = make([]byte, 0, smallBuffer)
	case need <= chunkSize:
		b := chunks.Get().(*[chunkSize]byte)
		k.pending = append(b[:0], k.pending...)
	}
}

// waiting is how many bytes have not been taken by flush.
func (k *cork) waiting() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.size()
}

// size is how many bytes wait. The caller holds mu.
func (k *cork) size() int { return k.behind + len(k.pending) }

// take returns what waits, in order. The caller holds mu.
func (k *cork) take() (sealed [][]byte, last []byte) {
	sealed, last = k.sealed, k.pending
	k.sealed, k.behind, k.pending, k.control = nil, 0, nil, 0
	k.room.Broadcast()
	return sealed, last
}

// flooded tells whether more than controlLimit bytes of the library's frames wait.
func (k *cork) flooded() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.control > controlLimit
}

// awaitRoom blocks while more than sendLimit bytes wait.
func (k *cork) awaitRoom() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.size() > sendLimit && !k.closed && !k.through {
		k.room.Wait()
	}
}

// uncork lets the close handshake write for itself.
func (k *cork) uncork() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.through = true
	k.room.Broadcast()
}

// flush writes what waits. It fails when the peer takes not one byte for patience.
func (k *cork) flush(patience time.Duration) error {
	k.flushing.Lock()
	defer k.flushing.Unlock()
	k.mu.Lock()
	sealed, last := k.take()
	k.mu.Unlock()
	for i, buf := range sealed {
		sealed[i] = nil // so that it is let go once it is written
		if err := k.send(buf, patience); err != nil {
			return err
		}
	}
	return k.send(last, patience)
}

func (k *cork) send(buf []byte, patience time.Duration) error {
	defer recycle(buf)
	for rest := buf; len(rest) > 0; {
		k.arm(patience)
		n, err := k.Conn.Write(rest)
		k.sent.Add(int64(n))
		rest = rest[n:]
		if err != nil && (n == 0 || !errors.Is(err, os.ErrDeadlineExceeded)) {
			return err
		}
	}
	return nil
}

// arm sets the deadline of the next write.
func (k *cork) arm(patience time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	deadline := time.Now().Add(patience)
	if !k.until.IsZero() && k.until.Before(deadline) {
		deadline = k.until
	}
	k.Conn.SetWriteDeadline(deadline)
}

// hurry bounds all writing from now on, also the one under way, and has no frame taken any
// more: a Fill that has begun would put there what came behind the end.
func (k *cork) hurry(patience time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if until := time.Now().Add(patience); k.until.IsZero() || until.Before(k.until) {
		k.until = until
		k.Conn.SetWriteDeadline(until)
	}
}

// recycle gives a buffer back that was lent; a payload that was not copied is larger.
func recycle(buf []byte) {
	if cap(buf) == chunkSize {
		chunks.Put((*[chunkSize]byte)(buf[:chunkSize]))
	}
}

// rest disarms the write deadline, so that an idle connection has no timer.
func (k *cork) rest() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.until.IsZero() {
		k.Conn.SetWriteDeadline(time.Time{})
	}
}

// Close sends what still waits, for at most lingerTimeout, and closes. The library
// calls it right after it has answered the peer's close frame, and that answer waits.
func (k *cork) Close() error {
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		return k.Conn.Close()
	}
	k.closed = true
	k.room.Broadcast()
	k.mu.Unlock()
	k.hurry(lingerTimeout)
	k.flush(lingerTimeout) // a failure changes nothing: the socket goes away
	return k.Conn.Close()
}
