package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/time/rate"
)

// wire is what every message from a server passes before the SDK sees it, whatever
// the transport.
type wire struct {
	output   *outputLog
	requests *rate.Limiter // of the server's to us

	mu        sync.Mutex
	listeners map[string]func(string) // of progress, by token
	last      int
	broken    error // the first thing that was wrong with what came
}

func newWire(output *outputLog) *wire {
	return &wire{
		output: output, requests: rate.NewLimiter(requestRate, requestBurst),
		listeners: map[string]func(string){},
	}
}

// listen has the progress of one call reported until done is called. Reports come in
// order, and all that the server sent before its answer come before the answer.
func (w *wire) listen(report func(string)) (token string, done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	token = "call-" + strconv.Itoa(w.last)
	if report != nil {
		w.listeners[token] = report
	}
	return token, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.listeners, token)
	}
}

// message is the part of a JSON-RPC message that concerns us.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *fault          `json:"error,omitempty"`
}

// fault is an error that a server answers with.
type fault struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// The SDK keeps these codes for connections that have ended. From a server they would
// look like that end.
const (
	codeClientClosing = -32003
	codeServerClosing = -32004
	codeTransport     = -32005 // a request that did not reach the server
	codeServerError   = -32000 // what a server's own error is called instead
)

// useless are notifications that nobody here waits for.
var useless = map[string]bool{
	"notifications/message":                true,
	"notifications/prompts/list_changed":   true,
	"notifications/resources/list_changed": true,
	"notifications/resources/updated":      true,
}

// incoming returns what the SDK is to see of a message: nil for nothing. An error
// means that the connection is of no use any more.
func (w *wire) incoming(raw []byte) ([]byte, error) {
	var m message
	answer := func() bool { return m.Method == "" }
	anonymous := func() bool { return len(m.ID) == 0 || string(m.ID) == "null" }
	switch {
	case json.Unmarshal(raw, &m) != nil || m.Version != "2.0" || answer() && anonymous():
		w.noise(raw)
		return nil, nil
	case m.Method == "notifications/progress":
		w.progress(m.Params)
		return nil, nil
	case useless[m.Method] || !answer() && len(raw) > maxRequest:
		return nil, nil
	case !answer() && !anonymous() && !w.requests.Allow():
		return nil, w.fail(errTooMany)
	case m.Result != nil:
		m.Result = seal(m.Result)
	case m.Error != nil && m.Error.Code <= codeClientClosing && m.Error.Code >= codeTransport:
		m.Error.Code = codeServerError
	default:
		return compact(raw), nil
	}
	b, err := json.Marshal(m)
	if err != nil {
		return compact(raw), nil
	}
	return b, nil
}

// compact puts valid JSON on one line.
func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

func (w *wire) noise(raw []byte) {
	w.output.log(slog.LevelInfo, "mcp server printed something that is no message", "text", string(raw[:min(len(raw), 4*maxLogged)]))
}

// progress passes a report on to the call that it is about.
func (w *wire) progress(params json.RawMessage) {
	var p struct {
		Token    string      `json:"progressToken"`
		Progress json.Number `json:"progress"`
		Total    json.Number `json:"total"`
		Message  string      `json:"message"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	w.mu.Lock()
	report := w.listeners[p.Token]
	w.mu.Unlock()
	if report == nil {
		return
	}
	text := p.Progress.String()
	if p.Total != "" {
		text += "/" + p.Total.String()
	}
	if p.Message != "" {
		text = strings.TrimPrefix(text+" "+p.Message, " ")
	}
	report(clip(text, maxProgress) + "\n")
}

// fail keeps the first thing that was wrong, and returns it.
func (w *wire) fail(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken == nil {
		w.broken = err
	}
	return err
}

func (w *wire) fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken
}

var (
	errTooLong = fmt.Errorf("it sent a message of more than %d bytes", maxMessage)
	errTooMany = errors.New("it asks more than can be answered")
)

// readLine reads a line of at most maxMessage bytes, without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > maxMessage {
			return nil, errTooLong
		}
		line = append(line, piece...)
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// lines is a server's standard output as the SDK may read it: one message a line,
// nothing else.
type lines struct {
	wire *wire
	from *bufio.Reader
	rest []byte // of what passed, not read yet
}

func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := readLine(l.from)
		switch {
		case errors.Is(err, errTooLong):
			return 0, l.wire.fail(err)
		case err != nil:
			return 0, io.EOF // what came of the last line is no message
		}
		if l.rest, err = l.pass(line); err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// pass returns the messages of a line, each on a line of its own. Old servers send
// several in one array.
func (l *lines) pass(line []byte) (out []byte, err error) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil, nil
	}
	batch := []json.RawMessage{line}
	if line[0] == '[' {
		var several []json.RawMessage
		if json.Unmarshal(line, &several) == nil {
			batch = several
		}
	}
	for _, raw := range batch {
		m, err := l.wire.incoming(raw)
		if err != nil {
			return nil, err
		}
		if m != nil {
			out = append(append(out, m...), '\n')
		}
	}
	return out, nil
}
