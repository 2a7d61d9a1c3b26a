package wsconn

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	// MaxMessage is the longest message of a client that is taken, in bytes.
	MaxMessage = 1 << 20

	// HardLimit is the longest message that is read to its end at all, in bytes.
	HardLimit = 64 << 20

	// MessageTimeout is how long a message may take from its first byte to its last.
	MessageTimeout = 60 * time.Second
)

// What a message can be in place of a text.
var (
	ErrTooLarge = errors.New("the message is larger than 1 MiB")
	ErrBinary   = errors.New("the message is binary; frames are text")
)

// errEndless is a message beyond HardLimit.
var errEndless = errors.New("message beyond the hard limit")

// scratch lends the buffers that messages are read into, so that a connection
// holds one only while a message arrives.
var scratch = sync.Pool{New: func() any { b := make([]byte, 4<<10); return &b }}

// keepScratch is the largest buffer that goes back to the pool, in bytes.
const keepScratch = 64 << 10

// read is the reader's goroutine. It goes on reading after an end has begun, since
// the peer's close frame is among what comes, but hands nothing on.
//
// It serves one message and has the next one awaited by a goroutine of its own: what
// handles a message needs a stack of 8 KiB or more, which an idle connection would
// keep for good; awaiting one needs 4.
func (c *Conn) read() {
	// No context: one that ends would cut the connection and the farewell with it.
	typ, r, err := c.ws.Reader(context.Background())
	if err == nil {
		err = c.message(typ, r)
	}
	switch {
	case err == nil:
		go c.read()
		return
	case errors.Is(err, errEndless):
		c.End(TooLarge, nil)
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.End(Unfinished, nil)
	default:
		c.End(PeerGone, nil)
	}
	close(c.readDone)
}

// message reads one message and has it handled.
func (c *Conn) message(typ websocket.MessageType, r io.Reader) error {
	buf := scratch.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= keepScratch {
			scratch.Put(buf)
		}
	}()
	c.setReadDeadline(time.Now().Add(MessageTimeout))
	limit := MaxMessage
	if typ != websocket.MessageText {
		limit = 0
	}
	n, refusal, err := readBounded(r, buf, limit)
	if err != nil {
		return err
	}
	c.setReadDeadline(time.Time{})
	c.alive()
	if typ != websocket.MessageText {
		refusal = ErrBinary
	}
	if c.Cause() == nil {
		c.handler.Message((*buf)[:n], refusal)
	}
	return nil
}

// readBounded reads r to its end into *buf, which grows as needed. What goes beyond
// limit is read and forgotten, and reported by refusal.
func readBounded(r io.Reader, buf *[]byte, limit int) (n int, refusal, err error) {
	for {
		if n == len(*buf) {
			grown := make([]byte, min(2*n, MaxMessage+1))
			copy(grown, *buf)
			*buf = grown
		}
		m, err := r.Read((*buf)[n:])
		n += m
		if n > limit {
			return 0, ErrTooLarge, discard(r, HardLimit-n)
		}
		if err == io.EOF {
			return n, nil, nil
		}
		if err != nil {
			return 0, nil, err
		}
	}
}

// discard reads r to its end and fails beyond limit bytes.
func discard(r io.Reader, limit int) error {
	_, err := io.CopyN(io.Discard, r, int64(limit)+1)
	switch err {
	case io.EOF:
		return nil
	case nil:
		return errEndless
	default:
		return err
	}
}

// setReadDeadline moves the deadline of reads unless the close handshake has set its own.
func (c *Conn) setReadDeadline(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.lasting {
		c.cork.SetReadDeadline(t)
	}
}
