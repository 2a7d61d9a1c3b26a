package wsconn

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// Handler speaks a protocol over a Conn.
type Handler interface {
	// Message takes one message of the client, in order, from the reader's goroutine.
	// text is valid until Message returns. err is ErrTooLarge or ErrBinary in place
	// of a message that is neither kept nor shown.
	Message(text []byte, err error)

	// Fill writes what waits, as long as it fits. It is called from the pump's
	// goroutine after every Kick and after every flush, and must not block.
	Fill(w *Writer)

	// Ended is called once, when neither of the other two is or will be running.
	Ended(cause *Cause)
}

// Conn is one accepted connection. Its methods are safe for concurrent use.
type Conn struct {
	group *Group
	ws    *websocket.Conn
	cork  *cork
	slice int // of the group's heartbeat

	state   atomic.Int32 // of the pump: idle, pumping, again
	pingDue atomic.Bool
	missed  atomic.Int32 // pings sent since the peer last showed a sign of life
	sent    atomic.Int64 // bytes written since then

	mu       sync.Mutex // guards what follows
	handler  Handler    // nil before Serve
	cause    *Cause     // nil before End
	farewell []byte     // the last data frame, nil for none
	lasting  bool       // the read deadline is the close handshake's
	probe    byte       // payload of the newest probe
	arrived  func()     // of that probe, nil once its pong came

	readDone chan struct{} // closed when the reader has ended; nil before Serve
}

// bufferSize is that of the library's two buffers, in bytes. It exceeds the longest
// control frame, 127 bytes, so that such a frame is one Write.
const bufferSize = 144

// Accept upgrades the request. Who may connect, Origin included, is the caller's
// to decide before. On an error the answer has been written. The handler of the
// request may return; the Conn lives until it is ended.
func (g *Group) Accept(w http.ResponseWriter, r *http.Request, subprotocols ...string) (*Conn, error) {
	if g.isClosed() {
		http.Error(w, ErrShutdown.Error(), http.StatusServiceUnavailable)
		return nil, ErrShutdown
	}
	c := &Conn{group: g}
	h := &hijacker{ResponseWriter: w, conn: c}
	ws, err := websocket.Accept(h, r, &websocket.AcceptOptions{
		Subprotocols:       subprotocols,
		InsecureSkipVerify: true, // the door has checked Origin
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived:     c.ping,
		OnPongReceived:     c.pong,
	})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(-1) // the library closes on a long message; read.go has its own bound
	c.ws = ws
	if !g.add(c) {
		ws.CloseNow()
		return nil, ErrShutdown
	}
	return c, nil
}

// ErrShutdown is the answer to who comes after Group.Shutdown has begun.
var ErrShutdown = errors.New("the server is shutting down")

// hijacker hands the library the corked connection with small buffers in place
// of the 8 KiB that net/http has read and written with.
type hijacker struct {
	http.ResponseWriter
	conn *Conn
}

func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	raw, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	raw.SetDeadline(time.Time{}) // the HTTP server's timeouts end with the handshake
	var head []byte
	if n := rw.Reader.Buffered(); n > 0 {
		head = make([]byte, n)
		rw.Reader.Read(head) // cannot fail: the bytes are there
	}
	h.conn.cork = newCork(raw, head, h.conn.Kick, &h.conn.sent)
	return h.conn.cork, bufio.NewReadWriter(
		bufio.NewReaderSize(h.conn.cork, bufferSize),
		bufio.NewWriterSize(h.conn.cork, bufferSize)), nil
}

// Subprotocol is what was negotiated, "" for none.
func (c *Conn) Subprotocol() string { return c.ws.Subprotocol() }

// Serve sends the first frames and begins to read. It reports false, and nothing
// will ever call h, if the connection has ended meanwhile.
func (c *Conn) Serve(h Handler, first ...[]byte) bool {
	c.mu.Lock()
	if c.cause != nil {
		c.mu.Unlock()
		return false
	}
	c.handler = h
	c.readDone = make(chan struct{})
	for _, frame := range first {
		c.cork.frame(textFrame, frame)
	}
	c.mu.Unlock()
	go c.read()
	c.Kick()
	return true
}

// Send queues a frame from within Handler.Message. It blocks while the client does
// not take the answers to what it asks: this reader waits, nobody else.
func (c *Conn) Send(frame []byte) {
	c.cork.awaitRoom()
	c.cork.frame(textFrame, frame)
	c.Kick()
}

// End ends the connection for a cause, with a last data frame if farewell is not
// nil. It returns at once and reports whether this cause was the first.
func (c *Conn) End(cause *Cause, farewell []byte) bool {
	c.mu.Lock()
	first := c.cause == nil
	if first {
		c.cause, c.farewell = cause, farewell
	}
	c.mu.Unlock()
	if first {
		c.cork.hurry(cause.patience())
		c.Kick()
	}
	return first
}

// Cause is why the connection ended, nil while it lives.
func (c *Conn) Cause() *Cause {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}
