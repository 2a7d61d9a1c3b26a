package httpstream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"time"

	"hitchpost/turn/model"
	"hitchpost/turn/model/sse"
)

const (
	// maxAnswer bounds what is kept of one answer: text, reasoning and calls together.
	maxAnswer = 8 << 20
	// maxHollow bounds the events in a row that bring nothing.
	maxHollow = 100_000

	// tailWait bounds the wait for what comes behind an answer that is complete: usage
	// and [DONE].
	tailWait = 10 * time.Second
	// drainWait bounds the wait for the end of the body behind the end of the answer,
	// without which the connection cannot be used again.
	drainWait = 50 * time.Millisecond
	drainSize = 4 << 10
)

// attempt asks once and fills a. The error is an *Error, or what the transport said.
func (c *Client) attempt(ctx context.Context, body []byte, a Answer) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	dog := &watchdog{end: end}
	defer dog.stop()
	limits := c.cfg.Timeouts

	dog.enter(limits.Connect, late("no connection to the provider", limits.Connect))
	first := late("the provider did not begin to answer", limits.FirstByte)
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { dog.enter(limits.FirstByte, first) },
	})
	req, err := http.NewRequestWithContext(traced, http.MethodPost, c.endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	c.setHeaders(req.Header)
	resp, err := c.http.Do(req)
	if err != nil {
		return ended(ctx, err)
	}
	defer resp.Body.Close()
	dog.enter(limits.Stall, late("the provider's answer stalled: no event", limits.Stall))
	if resp.StatusCode != http.StatusOK {
		return refused(ctx, resp)
	}
	return c.read(ctx, resp.Body, a, dog)
}

func (c *Client) setHeaders(h http.Header) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream")
	h.Set("User-Agent", "hitchpost")
	maps.Copy(h, c.header)
	for name, value := range c.cfg.Headers {
		h.Set(name, value)
	}
}

// ended says why the context ended, which is where an error of the transport comes from
// then; else it is err.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// lost is a connection that broke, or was cut, while the answer came.
func lost(ctx context.Context, err error) error {
	return ended(ctx, Truncated("the connection to the provider broke before the answer was complete: "+err.Error()))
}

// read takes the body of a 200 for what it is, whatever its content type says.
func (c *Client) read(ctx context.Context, body io.Reader, a Answer, dog *watchdog) error {
	src := bufio.NewReaderSize(body, 512)
	first, err := sniff(src)
	switch {
	case err == io.EOF:
		return Truncated("the provider answered with nothing")
	case err != nil:
		return lost(ctx, err)
	case first == '{' || first == '[':
		return readWhole(ctx, src, a)
	case first == '<':
		return notAModel()
	}
	if err := readStream(ctx, sse.NewReader(src), a, dog, c.tail()); err != nil {
		return err
	}
	dog.enter(drainWait, errDrained)
	io.Copy(io.Discard, io.LimitReader(src, drainSize))
	return nil
}

// errDrained ends a request whose answer is complete and whose body is not.
var errDrained = errors.New("the answer is complete")

// sniff skips what says nothing, a byte order mark and blank lines that keep the
// connection alive, and returns the first byte that does, unread.
func sniff(src *bufio.Reader) (byte, error) {
	for {
		b, err := src.ReadByte()
		if err != nil {
			return 0, err
		}
		switch b {
		case ' ', '\t', '\r', '\n':
			continue
		case 0xEF:
			if mark, _ := src.Peek(2); string(mark) == "\xBB\xBF" {
				src.Discard(2)
				continue
			}
		}
		return b, src.UnreadByte()
	}
}

// readWhole reads an answer that is one JSON value.
func readWhole(ctx context.Context, src io.Reader, a Answer) error {
	limited := &io.LimitedReader{R: src, N: maxAnswer + 1}
	var raw json.RawMessage
	if err := json.NewDecoder(limited).Decode(&raw); err != nil {
		var syntax *json.SyntaxError
		switch {
		case limited.N == 0:
			return tooLong()
		case errors.As(err, &syntax):
			return Malformed(err)
		}
		return lost(ctx, err)
	}
	if _, err := a.Event("", unlisted(raw)); err != nil {
		return err
	}
	return a.End(true)
}

// tail is how long to wait behind an answer that is complete.
func (c *Client) tail() time.Duration {
	if stall := c.cfg.Timeouts.Stall; stall > 0 {
		return min(stall, tailWait)
	}
	return tailWait
}

// readStream reads events until the answer is over, or an error. It waits for tail
// behind an answer that is complete.
func readStream(ctx context.Context, events *sse.Reader, a Answer, dog *watchdog, tail time.Duration) error {
	complete, hollow := false, 0
	for {
		ev, err := events.Next()
		switch {
		case err != nil && complete:
			return nil // usage and [DONE] are welcome, not needed
		case errors.Is(err, sse.ErrTooLong):
			return tooLong()
		case err == io.EOF:
			return a.End(false)
		case err != nil:
			return lost(ctx, err)
		}
		data := bytes.TrimSpace(ev.Data)
		if len(data) == 0 {
			continue
		}
		if string(data) == "[DONE]" {
			return a.End(true)
		}
		if ev.Cut && !json.Valid(data) {
			return a.End(false)
		}
		before := a.Kept()
		progress, err := a.Event(ev.Name, data)
		if err != nil {
			return err
		}
		if hollow++; a.Kept() > before {
			hollow = 0
		}
		switch {
		case a.Kept() > maxAnswer:
			return tooLong()
		case hollow > maxHollow:
			return hollowError()
		case progress == Over:
			return a.End(false)
		case progress == Tail && !complete:
			complete = true
			dog.enter(tail, errDrained)
		case progress == More && !complete:
			dog.progress()
		}
	}
}

// refused reads the answer of a status that is not 200.
func refused(ctx context.Context, resp *http.Response) *model.Error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil && len(body) == 0 {
		var e *model.Error
		if errors.As(ended(ctx, err), &e) {
			return e
		}
	}
	return statusError(resp, body)
}
