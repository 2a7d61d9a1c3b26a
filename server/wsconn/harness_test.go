package wsconn_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"hitchpost/server/wsconn"
)

// echo is a handler that records what it is told and writes what the test puts.
type echo struct {
	conn     *wsconn.Conn
	messages chan string // texts, or the error in their place
	ended    chan *wsconn.Cause

	mu    sync.Mutex
	hold  chan struct{} // Message waits for it when it is not nil
	queue [][]byte
	probe func() // to be made behind the queue
}

func (e *echo) Message(text []byte, err error) {
	if err != nil {
		e.messages <- err.Error()
		return
	}
	e.messages <- string(text)
	e.mu.Lock()
	hold := e.hold
	e.mu.Unlock()
	if hold != nil {
		<-hold
	}
}

func (e *echo) Fill(w *wsconn.Writer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.queue) > 0 && w.Fits(len(e.queue[0])) {
		w.Text(e.queue[0])
		e.queue = e.queue[1:]
	}
	if len(e.queue) == 0 && e.probe != nil {
		w.Probe(e.probe)
		e.probe = nil
	}
}

func (e *echo) Ended(cause *wsconn.Cause) { e.ended <- cause }

// put has frames written.
func (e *echo) put(frames ...[]byte) {
	e.mu.Lock()
	e.queue = append(e.queue, frames...)
	e.mu.Unlock()
	e.conn.Kick()
}

// rig is a server over real sockets or, inside a synctest bubble, over pipes.
type rig struct {
	group  *wsconn.Group
	dial   func(ctx context.Context) (net.Conn, error)
	served chan *echo
	server *http.Server
	wg     sync.WaitGroup
}

func newRig(t *testing.T, group *wsconn.Group, l net.Listener, dial func(context.Context) (net.Conn, error)) *rig {
	t.Helper()
	r := &rig{group: group, dial: dial, served: make(chan *echo, 100)}
	r.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		conn, err := group.Accept(w, req)
		if err != nil {
			return
		}
		e := &echo{conn: conn, messages: make(chan string, 1000), ended: make(chan *wsconn.Cause, 1)}
		if conn.Serve(e) {
			r.served <- e
		}
	})}
	r.wg.Go(func() { r.server.Serve(l) })
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		group.Shutdown(ctx) // cuts what is left
		r.server.Close()
		r.wg.Wait()
	})
	return r
}

// sockets is a rig on loopback.
func sockets(t *testing.T, group *wsconn.Group) *rig {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return newRig(t, group, l, func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
	})
}

// pipes is a rig on net.Pipe: a write waits until the peer reads, and time is the bubble's.
func pipes(t *testing.T, group *wsconn.Group) *rig {
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	return newRig(t, group, l, func(context.Context) (net.Conn, error) {
		client, server := net.Pipe()
		l.conns <- server
		return client, nil
	})
}

// connect returns a client, its raw connection, and the server's side of it.
func (r *rig) connect(t *testing.T, o websocket.DialOptions) (*websocket.Conn, net.Conn, *echo) {
	t.Helper()
	var raw net.Conn
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := r.dial(ctx)
		raw = c
		return c, err
	}}
	o.HTTPClient = &http.Client{Transport: tr}
	ws, _, err := websocket.Dial(t.Context(), "ws://hitchpost.test/", &o)
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(-1)
	t.Cleanup(func() { ws.CloseNow(); tr.CloseIdleConnections() })
	return ws, raw, <-r.served
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }
