package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// remote is a server reached by streamable HTTP. It is also the client's
// http.RoundTripper: every request and answer passes it.
type remote struct {
	at       *url.URL
	bearer   string
	wire     *wire
	base     *http.Transport
	patience time.Duration   // until a server says whether it has a stream of notifications
	life     context.Context // of every request
	end      context.CancelCauseFunc
}

var errHungUp = errors.New("the connection has ended")

func dial(cfg ServerConfig, w *wire) (*remote, error) {
	at, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, errors.New("its url cannot be read")
	}
	r := &remote{at: at, bearer: cfg.Bearer, wire: w, base: http.DefaultTransport.(*http.Transport).Clone(), patience: headerWait}
	r.life, r.end = context.WithCancelCause(context.Background())
	return r, nil
}

func (r *remote) transport() sdk.Transport {
	return &sdk.StreamableClientTransport{
		Endpoint:     r.at.String(),
		HTTPClient:   &http.Client{Transport: r, CheckRedirect: r.redirect},
		MaxEventSize: -1, // events are bounded here
	}
}

func (r *remote) silent() <-chan struct{} { return nil }

func (r *remote) hangUp() {} // closing the session tells the server

func (r *remote) kill() { r.end(errHungUp) }

func (r *remote) wait() error {
	r.end(errHungUp)
	r.base.CloseIdleConnections()
	return nil
}

func (r *remote) redirect(req *http.Request, via []*http.Request) error {
	if !r.same(req.URL) {
		return fmt.Errorf("it redirects to %s, another host, which is not followed", req.URL.Host)
	}
	if len(via) > 4 {
		return errors.New("it redirects in circles")
	}
	return nil
}

func (r *remote) same(u *url.URL) bool { return u.Scheme == r.at.Scheme && u.Host == r.at.Host }

// RoundTrip sends one request, with the bearer, and hands out an answer that is
// bounded and that the SDK loses nothing of.
func (r *remote) RoundTrip(req *http.Request) (*http.Response, error) {
	if !r.same(req.URL) {
		return nil, fmt.Errorf("a request to %s, another host, is not sent", req.URL.Host)
	}
	defer noticed(req.Context())
	ctx, cancel := context.WithCancelCause(req.Context())
	release := context.AfterFunc(r.life, func() { cancel(errHungUp) })
	done := func() { release(); cancel(nil) }
	req = req.Clone(ctx)
	if r.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+r.bearer)
	}
	// The SDK asks for the stream of notifications under a context that nobody ends, and
	// waits for the answer.
	late := time.AfterFunc(r.patience, func() {
		if req.Method == http.MethodGet {
			cancel(errNoStream)
		}
	})
	resp, err := r.base.RoundTrip(req)
	late.Stop()
	switch {
	case context.Cause(ctx) == errNoStream && req.Header.Get("Last-Event-ID") == "":
		done()
		return noStream(req), nil
	case err != nil:
		done()
		return nil, err
	}
	resp.Body = r.body(resp, done)
	resp.ContentLength = -1
	resp.Header.Del("Content-Length")
	return resp, nil
}

var errNoStream = errors.New("it does not say whether it has a stream of notifications")

// call marks the context. What the SDK sends under its values when it has ended is the
// notice that the call was given up, and that goes out behind the call's back.
func (r *remote) call(ctx context.Context) (context.Context, <-chan struct{}) {
	n := &notice{call: ctx, sent: make(chan struct{})}
	return context.WithValue(ctx, noticeKey{}, n), n.sent
}

type noticeKey struct{}

// notice is how a server is told that a call was given up.
type notice struct {
	call context.Context
	once sync.Once
	sent chan struct{} // closed when it was sent, or failed
}

// noticed follows every request that ends: the call's own has ended with its context.
func noticed(ctx context.Context) {
	if n, ok := ctx.Value(noticeKey{}).(*notice); ok && n.call.Err() != nil && ctx.Err() == nil {
		n.once.Do(func() { close(n.sent) })
	}
}

// noStream is the answer of a server without a stream of notifications.
func noStream(req *http.Request) *http.Response {
	return &http.Response{
		Status: "405 Method Not Allowed", StatusCode: http.StatusMethodNotAllowed,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}
}

func (r *remote) body(resp *http.Response, done func()) io.ReadCloser {
	b := &body{from: resp.Body, done: done}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		b.Reader = io.LimitReader(resp.Body, maxErrorBody)
	case kind == "text/event-stream":
		b.Reader = &events{wire: r.wire, from: bufio.NewReader(resp.Body)}
	default:
		b.Reader = &whole{wire: r.wire, from: resp.Body}
	}
	return b
}

// body is an answer's body that lets go of its request when it is closed.
type body struct {
	io.Reader
	from io.Closer
	done func()
}

func (b *body) Close() error {
	defer b.done()
	return b.from.Close()
}

// whole is a body that is one message.
type whole struct {
	wire *wire
	from io.Reader
	rest io.Reader // nil until it was read
}

func (w *whole) Read(p []byte) (int, error) {
	if w.rest == nil {
		raw, err := io.ReadAll(io.LimitReader(w.from, maxMessage+1))
		if err != nil {
			return 0, err
		}
		if len(raw) > maxMessage {
			return 0, w.wire.fail(errTooLong)
		}
		m, err := w.wire.incoming(raw)
		if err != nil {
			return 0, err
		}
		w.rest = bytes.NewReader(m)
	}
	return w.rest.Read(p)
}

// events is an event stream that is whole lines of the fields that count, each
// event's data in one of them.
type events struct {
	wire *wire
	from *bufio.Reader
	data []byte // of the event that is being read
	rest []byte // of what passed, not read yet
}

func (e *events) Read(p []byte) (int, error) {
	for len(e.rest) == 0 {
		line, err := readLine(e.from)
		if err == nil && len(e.data)+len(line) > maxMessage {
			err = errTooLong
		}
		switch {
		case errors.Is(err, errTooLong):
			return 0, e.wire.fail(err)
		case err != nil:
			return 0, err // an event without its end does not count
		}
		if e.rest, err = e.pass(line); err != nil {
			return 0, err
		}
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// pass returns what the SDK is to see of a line.
func (e *events) pass(line []byte) ([]byte, error) {
	if len(line) == 0 {
		data := e.data
		e.data = nil
		if len(data) == 0 {
			return []byte("\n"), nil
		}
		m, err := e.wire.incoming(data)
		if m == nil {
			return []byte("\n"), err
		}
		return fmt.Appendf(nil, "data: %s\n\n", m), nil
	}
	field, value, _ := strings.Cut(string(line), ":")
	value = strings.TrimPrefix(value, " ")
	switch field {
	case "data":
		if e.data != nil {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
	case "event", "id", "retry":
		return fmt.Appendf(nil, "%s: %s\n", field, value), nil
	}
	return nil, nil // a comment, or what nobody knows
}
