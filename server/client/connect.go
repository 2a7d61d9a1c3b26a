package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// subprotocol asks for the members of hello beyond the frozen four.
const subprotocol = "hitchpost.v1"

// maxFrame bounds a frame of the server, in bytes.
const maxFrame = 64 << 20

var agentName = regexp.MustCompile(`^[A-Za-z0-9._:@-]{1,128}$`)

// socketURL is the address of an agent's socket.
func socketURL(base, agent string) (string, error) {
	u, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("%q is no address of a server; write one as http://127.0.0.1:7420", base)
	}
	switch u.Scheme {
	case "http", "https", "ws", "wss":
	default:
		return "", fmt.Errorf("%q is no address of a server; it begins with http:// or https://", base)
	}
	if !agentName.MatchString(agent) || agent == "." || agent == ".." {
		return "", fmt.Errorf("%q is no agent's name; one has 1 to 128 of A-Z a-z 0-9 . _ : @ -", agent)
	}
	u.RawQuery, u.Fragment = "", "" // a page's address carries its token there
	return u.JoinPath("agents", agent, "ws").String(), nil
}

// newHTTPClient makes a client of its own, so that a peer that is gone without a word
// is noticed by keep-alive and no redirect takes the token elsewhere.
func newHTTPClient() *http.Client {
	dialer := &net.Dialer{
		Timeout:         10 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 4},
	}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext,
			DisableKeepAlives: true, // nothing is asked twice; an answered no leaves no connection behind
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// connect makes one connection and takes its hello.
func (a *Agent) connect(ctx context.Context) (*websocket.Conn, Hello, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, helloTimeout,
		fmt.Errorf("the server said nothing for %s", helloTimeout))
	defer cancel()
	conn, response, err := websocket.Dial(ctx, a.url, &websocket.DialOptions{
		HTTPClient:   a.options.HTTP,
		HTTPHeader:   http.Header{"Authorization": {"Bearer " + a.token}},
		Subprotocols: []string{subprotocol},
	})
	if err != nil {
		return nil, Hello{}, dialError(ctx, response, err)
	}
	conn.SetReadLimit(-1) // its own limit closes without a word; readFrame has ours
	hello, err := readHello(ctx, conn)
	if err == nil {
		err = a.checkLog(hello)
	}
	if err != nil {
		conn.CloseNow()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, Hello{}, err
	}
	return conn, hello, nil
}

// dialError says in one line why there is no connection. An answer that says no is
// final: asking again would not change it.
func dialError(ctx context.Context, response *http.Response, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("cannot reach the server: %w", context.Cause(ctx))
	}
	if response == nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op // without the library's own wrapping, which repeats the address
		}
		return fmt.Errorf("cannot reach the server: %w", err)
	}
	said, _ := io.ReadAll(io.LimitReader(response.Body, 300))
	text := strings.TrimSpace(strings.Split(strings.TrimSpace(string(said)), "\n")[0])
	if text != "" {
		text = ": " + text
	}
	err = fmt.Errorf("the server answered %s%s", response.Status, text)
	if response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests {
		return err
	}
	return &finalError{err}
}

// finalError is a failure that no new connection can mend.
type finalError struct{ error }

func (e *finalError) Unwrap() error { return e.error }

func readHello(ctx context.Context, conn *websocket.Conn) (Hello, error) {
	raw, err := readFrame(ctx, conn)
	if err != nil {
		return Hello{}, err
	}
	f, err := decodeFrame(raw)
	if err != nil {
		return Hello{}, &finalError{err}
	}
	switch f.Type {
	case "hello":
		var h Hello
		if err := json.Unmarshal(raw, &h); err != nil {
			return h, &finalError{fmt.Errorf("%w: %v", ErrProtocol, err)}
		}
		if h.Proto != 1 {
			return h, &finalError{fmt.Errorf("%w in version 1 but in %d; a newer client is needed", ErrProtocol, h.Proto)}
		}
		return h, nil
	case "error":
		return Hello{}, farewell(f)
	}
	return Hello{}, &finalError{fmt.Errorf("%w: its first frame is %q", ErrProtocol, f.Type)}
}

// farewell turns an error frame that ends a connection into what it means to us.
func farewell(f frame) error {
	said := &ServerError{f.Code, f.Message}
	switch f.Code {
	case CodeUnauthorized:
		return &finalError{fmt.Errorf("%w (%w)", ErrUnauthorized, said)}
	case CodeSuperseded:
		return &finalError{fmt.Errorf("%w (%w)", ErrSuperseded, said)}
	}
	return said
}

// checkLog refuses a hello of another log than the one that was read (guarantee 5).
func (a *Agent) checkLog(h Hello) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.log != "" && h.LogID != "" && a.log != h.LogID {
		return &finalError{fmt.Errorf("%w (log_id was %s, is %s)", ErrAnotherLog, a.log, h.LogID)}
	}
	if h.LastSeq < a.seen {
		return &finalError{fmt.Errorf("%w (it ends at seq %d, seq %d was read)", ErrAnotherLog, h.LastSeq, a.seen)}
	}
	return nil
}

// readFrame reads one text frame. The end of its context cuts the socket.
func readFrame(ctx context.Context, conn *websocket.Conn) ([]byte, error) {
	kind, r, err := conn.Reader(ctx)
	if err != nil {
		return nil, closeError(err)
	}
	raw, err := io.ReadAll(io.LimitReader(r, maxFrame+1))
	if err != nil {
		return nil, closeError(err)
	}
	switch {
	case kind != websocket.MessageText:
		return nil, &finalError{fmt.Errorf("%w: it sent a binary frame", ErrProtocol)}
	case len(raw) > maxFrame:
		return nil, &finalError{fmt.Errorf("%w: it sent a frame of more than %d bytes", ErrProtocol, maxFrame)}
	}
	return raw, nil
}

// closeError says in a few words how a connection ended. A policy violation is the
// code of unauthorized and superseded; should their frame be missing, it is final
// all the same, or two clients would push each other out for ever.
func closeError(err error) error {
	var closed websocket.CloseError
	switch {
	case errors.As(err, &closed):
		text := fmt.Errorf("the server closed the connection (%d %s)", closed.Code, closed.Reason)
		if closed.Code == websocket.StatusPolicyViolation {
			return &finalError{text}
		}
		return text
	case errors.Is(err, io.EOF):
		return errors.New("the connection was lost")
	}
	return fmt.Errorf("the connection was lost: %w", err)
}
