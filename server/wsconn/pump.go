package wsconn

import (
	"errors"
	"os"
	"time"
)

const (
	// WriteStall is how long a peer may take no byte of what is written to it.
	WriteStall = 30 * time.Second

	// lingerTimeout is how long a peer may take to answer a close frame, and how long
	// one that has closed may take for what was still on its way.
	lingerTimeout = time.Second
)

// States of the pump.
const (
	idle    = iota // no goroutine
	pumping        // one is at work
	again          // and shall look again before it ends
)

// Kick has Fill called soon. It never blocks.
func (c *Conn) Kick() {
	for {
		switch c.state.Load() {
		case idle:
			if c.state.CompareAndSwap(idle, pumping) {
				go c.pump()
				return
			}
		case pumping:
			if c.state.CompareAndSwap(pumping, again) {
				return
			}
		default:
			return
		}
	}
}

// Ping has a ping sent behind what waits. It never blocks.
func (c *Conn) Ping() {
	c.pingDue.Store(true)
	c.Kick()
}

// Writer is where Fill puts its frames.
type Writer struct{ c *Conn }

// Fits reports whether a frame of n bytes fits into what the next write carries.
// Any frame fits into an empty one.
func (w *Writer) Fits(n int) bool {
	waits := w.c.cork.waiting()
	return waits == 0 || waits+n+maxHeader <= chunkSize
}

// Empty reports whether all that was put here, and every answer, is on its way.
func (w *Writer) Empty() bool { return w.c.cork.waiting() == 0 }

// Text adds one text frame, which must not change any more.
func (w *Writer) Text(frame []byte) { w.c.cork.frame(textFrame, frame) }

// Probe calls arrived, from the reader's goroutine, when the peer has shown that all
// that Fill has written so far has reached it: a ping behind it was answered. That
// what was written left us says little, since the system's buffers hold megabytes.
// A new probe replaces one that is under way.
func (w *Writer) Probe(arrived func()) {
	c := w.c
	c.mu.Lock()
	c.probe++
	c.arrived = arrived
	payload := []byte{c.probe}
	c.mu.Unlock()
	c.cork.frame(pingFrame, payload)
}

// pump writes until nothing is left, then ends; once the connection has a cause
// to end it is the pump that brings it to its end.
func (c *Conn) pump() {
	w := &Writer{c}
	for {
		c.state.Store(pumping) // a Kick from here on is seen below
		c.mu.Lock()
		h, ended := c.handler, c.cause != nil
		c.mu.Unlock()
		if ended {
			c.finish()
			return
		}
		if c.pingDue.Swap(false) {
			c.cork.frame(pingFrame, nil)
		}
		if h != nil {
			h.Fill(w)
		}
		if c.cork.waiting() == 0 {
			c.cork.rest()
			if c.state.CompareAndSwap(pumping, idle) {
				return
			}
			continue
		}
		if err := c.cork.flush(WriteStall); err != nil {
			c.End(lost(err), nil)
		}
	}
}

func lost(err error) *Cause {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return WriteStalled
	}
	return PeerGone
}

// finish says farewell, closes, and waits for the reader. It runs in the pump's
// goroutine, so nothing else writes, and the state stays as it is, so no other
// pump is ever started.
func (c *Conn) finish() {
	c.mu.Lock()
	cause, farewell, h, readDone := c.cause, c.farewell, c.handler, c.readDone
	c.mu.Unlock()
	if cause.Code == 0 {
		c.cork.flush(cause.patience()) // the library may have put a close frame there
	} else {
		c.cork.farewell(farewell)
		if c.cork.flush(cause.patience()) == nil {
			c.handshake(cause)
		}
	}
	c.ws.CloseNow()
	if readDone != nil {
		<-readDone
		h.Ended(cause)
	}
	c.group.remove(c)
}

// handshake sends the close frame and waits for the peer's, within lingerTimeout.
// The library would wait five seconds; a read deadline cuts it short.
func (c *Conn) handshake(cause *Cause) {
	c.mu.Lock()
	c.lasting = true
	deadline := time.Now().Add(lingerTimeout)
	c.cork.SetReadDeadline(deadline)
	c.mu.Unlock()
	c.cork.SetWriteDeadline(deadline)
	c.cork.uncork()
	c.ws.Close(cause.Code, cause.Reason) // an error means the peer did not answer
}
