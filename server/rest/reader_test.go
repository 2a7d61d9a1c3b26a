package rest

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hitchpost/server/protocol"
)

// sse is a stream of server-sent events as a client reads it.
type sse struct {
	t    *testing.T
	resp *http.Response
	in   *bufio.Reader
	quit context.CancelFunc
}

// message is one of them. ID is "" where it has none.
type message struct{ ID, Type, Data string }

// stream opens a run's stream behind a cursor.
func (w *world) stream(run string, from int64) *sse {
	w.t.Helper()
	return w.streamAs("all", fmt.Sprintf("/runs/%s/events?from_seq=%d", run, from))
}

func (w *world) streamAs(token, path string, headers ...string) *sse {
	w.t.Helper()
	ctx, quit := context.WithTimeout(context.Background(), 6*patience)
	resp := w.open(ctx, token, "GET", path, "", headers...)
	s := &sse{w.t, resp, bufio.NewReader(resp.Body), quit}
	w.t.Cleanup(s.close)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != mediaEvents {
		w.t.Fatalf("the stream is %d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	return s
}

func (s *sse) close() {
	s.quit()
	s.resp.Body.Close()
}

// line returns the next line, comments included; ok is false at the end of the stream.
func (s *sse) line() (text string, ok bool) {
	s.t.Helper()
	text, err := s.in.ReadString('\n')
	if err != nil && text != "" {
		s.t.Fatalf("the stream ends within %q: %v", text, err)
	}
	return strings.TrimSuffix(text, "\n"), err == nil
}

// next returns the next message, leaving out comments; ok is false at the end.
func (s *sse) next() (m message, ok bool) {
	s.t.Helper()
	for {
		text, ok := s.line()
		if !ok {
			return message{}, false
		}
		name, value, _ := strings.Cut(text, ": ")
		switch {
		case text == "" && m.Data != "":
			return m, true
		case name == "id":
			m.ID = value
		case name == "event":
			m.Type = value
		case name == "data":
			m.Data = value
		}
	}
}

// until returns the messages up to the first one of a type.
func (s *sse) until(typ protocol.ServerType) (all []message) {
	s.t.Helper()
	for {
		m, ok := s.next()
		if !ok {
			s.t.Fatalf("the stream ended before %s; it had %v", typ, all)
		}
		all = append(all, m)
		if m.Type == string(typ) {
			return all
		}
	}
}

// rest returns the messages up to the end of the stream.
func (s *sse) rest() (all []message) {
	s.t.Helper()
	for {
		m, ok := s.next()
		if !ok {
			return all
		}
		all = append(all, m)
	}
}
