//go:build unix

package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hitchpost/server/client"
	"hitchpost/turn/event"
)

// stand is a scripted model server. Every request must be valid.
type stand struct {
	*httptest.Server
	t      *testing.T
	answer func(a *answer)

	mu       sync.Mutex
	requests [][]chatMessage
	cut      int // requests that the other side gave up
}

// answer is the stream of one answer.
type answer struct {
	http.ResponseWriter
	n    int             // how many replies the history holds
	last string          // the newest message
	gone context.Context // ends when the other side gives up
}

func newStand(t *testing.T, reply func(a *answer)) *stand {
	s := &stand{t: t, answer: reply}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *stand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct{ Messages []chatMessage }
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		return // its sender was killed
	}
	checkAnswered(s.t, request.Messages)
	s.mu.Lock()
	s.requests = append(s.requests, request.Messages)
	s.mu.Unlock()
	a := &answer{ResponseWriter: w, gone: r.Context()}
	for _, m := range request.Messages {
		if m.Role == "assistant" {
			a.n++
		}
		a.last = fmt.Sprint(m.Content)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s.answer(a)
	if r.Context().Err() != nil {
		s.mu.Lock()
		s.cut++
		s.mu.Unlock()
	}
}

// checkAnswered: every call is answered directly, in call order, and nothing else is.
func checkAnswered(t *testing.T, messages []chatMessage) {
	var owed []string
	for _, m := range messages {
		if m.Role == "tool" {
			if len(owed) == 0 || owed[0] != m.CallID {
				t.Errorf("a request answers %s where %v is owed", m.CallID, owed)
				return
			}
			owed = owed[1:]
			continue
		}
		if len(owed) > 0 {
			t.Errorf("a request goes on before %v are answered", owed)
		}
		for _, call := range m.ToolCalls {
			owed = append(owed, call.ID)
		}
	}
	if len(owed) > 0 {
		t.Errorf("a request ends with unanswered calls %v", owed)
	}
}

func (s *stand) asked() [][]chatMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *stand) given() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cut
}

// send writes chunks, each at once.
func (a *answer) send(chunks ...string) {
	for _, chunk := range chunks {
		fmt.Fprintf(a, "data: %s\n\n", chunk)
		a.ResponseWriter.(http.Flusher).Flush()
	}
}

// say is a whole answer of text.
func (a *answer) say(text string) {
	a.send(completion(text)...)
	a.send("[DONE]")
}

// text is a piece of an answer.
func text(s string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, s)
}

// finish ends an answer that asks for tools.
const finish = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`

// call is a whole tool call, its arguments as JSON text.
func call(index int, id, name, args string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}]}}]}`, index, id, name, args)
}

// hold waits until the other side gives up.
func (a *answer) hold() { <-a.gone.Done() }

// reported is a server that asks this model; more goes behind the configuration.
func reported(t *testing.T, s *stand, more string) *place {
	return newPlace(t, fmt.Sprintf(crashConfig, s.URL)+more)
}

const asksNobody = "[approvals]\nenabled = false\n"

// dial connects to main.
func (s *running) dial() *client.Agent {
	s.t.Helper()
	ctx, done := context.WithTimeout(context.Background(), time.Minute)
	defer done()
	agent, err := client.Dial(ctx, "http://"+s.listen, secret, "main", client.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(agent.Close)
	return agent
}

// wake sends main a waking text by a connection of its own.
func (s *running) wake(text string) {
	s.t.Helper()
	agent := s.dial()
	if _, err := agent.Inject(text, true, ""); err != nil {
		s.t.Fatal(err)
	}
	s.until("the text is read", func() bool {
		return slices.ContainsFunc(s.place.log("main"), func(l line) bool { return l.Payload.Text == text })
	})
	agent.Close()
}

// count is how many events of the type main has.
func (p *place) count(kind event.Type) int {
	n := 0
	for _, l := range p.log("main") {
		if l.Type == kind {
			n++
		}
	}
	return n
}

// ended waits for the nth end of a turn of main and returns its status.
func (p *place) ended(n int) string {
	p.t.Helper()
	p.until(fmt.Sprintf("turn/end %d", n), func() bool { return p.count(event.TurnEndType) >= n })
	status := ""
	for _, l := range p.log("main") {
		if l.Type == event.TurnEndType {
			status = l.Payload.Status
		}
	}
	return status
}

// results are the results of main's calls: the call's id, then its error if it has one.
func (p *place) results() []string {
	var out []string
	for _, l := range p.log("main") {
		if l.Type != event.ToolResultType {
			continue
		}
		result := l.Payload.ID
		if l.Payload.Error != nil {
			result += ": " + strings.Trim(string(*l.Payload.Error), `"`)
		}
		out = append(out, result)
	}
	return out
}
