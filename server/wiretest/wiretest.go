// Package wiretest is what the tests of the wires stand on: a host with tools that need no
// machine and a model that answers as the test has it. Each wire's tests put their server
// and their client beside it.
package wiretest

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"testing"
	"time"

	"hitchpost/server/auth"
	"hitchpost/turn"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/tool"
)

// Token is a token of a name and an owner; its secret is "secret-" and the name.
func Token(name, owner string, agents []string, allow auth.Verbs) *auth.Token {
	return auth.NewToken(name, owner, auth.DigestOf("secret-"+name), agents, allow)
}

// Config is a host's: the agents "default" and "second" that run under m, "broken" that has no
// model, and the tools ask, which asks a person, and look, which does not.
func Config(t testing.TB, m model.Client) turn.Config {
	t.Helper()
	object := json.RawMessage(`{"type":"object"}`)
	says := func(text string) func(context.Context, tool.Call) tool.Result {
		return func(context.Context, tool.Call) tool.Result { return tool.Text(text) }
	}
	tools, err := tool.NewSet([]tool.Tool{
		{Name: "ask", Approval: tool.Always, Schema: object, Run: says("done")},
		{Name: "look", Approval: tool.Never, Schema: object, Run: says("seen")},
	})
	if err != nil {
		t.Fatal(err)
	}
	able := turn.Definition{Policy: []string{"*"}, Models: map[string]string{turn.RoleMain: "demo/one"}}
	return turn.Config{
		Agents:    map[string]turn.Definition{turn.DefaultAgent: able, "second": able, "broken": {Policy: []string{"*"}}},
		Providers: map[string]model.Client{"demo": m},
		Tools:     func() *tool.Set { return tools }, MaxSteps: 25, MaxAgents: 10_000, InboxTexts: 1000, InboxBytes: 8 << 20,
		Approvals: true, ToolTimeout: time.Minute, ResultLimit: 1 << 18, Log: slog.New(slog.DiscardHandler),
	}
}

// Narrow is a listener that gives what it accepts a small buffer to write to, so that a
// client can be behind.
type Narrow struct{ net.Listener }

// Accept is net.Listener's.
func (n Narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetWriteBuffer(128 << 10) // less than two packets of a loopback waits for each delayed ACK
	}
	return c, err
}

// Script is a model that answers a list, one entry a request, or as Answer says, else "ok".
// Each entry's chunks are sent, with a wait for the test's word before the ones that say so.
type Script struct {
	Replies chan []string
	Answer  func(model.Request) []string // nil: the list
	Reached chan struct{}                // a wait was reached
	Resume  chan struct{}                // and may end
	Usage   *event.Usage                 // that it tells; nil = none
	Failure error                        // of Fail
}

// Chunks that are no text: a wait for the test's word, calls of tools, a failure.
const (
	Wait = "\x00wait"
	Ask  = "\x00ask"  // c1, of ask
	Ask2 = "\x00ask2" // c2, of ask
	Look = "\x00look" // l1, of look
	Fail = "\x00fail"
)

var calls = map[string]model.Call{
	Ask:  {ID: "c1", Name: "ask", Args: json.RawMessage(`{"n":1.0}`)},
	Ask2: {ID: "c2", Name: "ask", Args: json.RawMessage(`{"n":2.0}`)},
	Look: {ID: "l1", Name: "look", Args: json.RawMessage(`{}`)},
}

// NewScript returns a Script without a list.
func NewScript() *Script {
	return &Script{
		Replies: make(chan []string, 1000), Reached: make(chan struct{}, 1000), Resume: make(chan struct{}),
		Failure: &model.Error{Code: event.CodeProvider, Message: "the provider is down"},
	}
}

// Answers has the next request answered with these chunks; none leave it as it is.
func (s *Script) Answers(chunks ...string) {
	if len(chunks) > 0 {
		s.Replies <- chunks
	}
}

// Stream is model.Client's.
func (s *Script) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	chunks := []string{"ok"}
	if s.Answer != nil {
		chunks = s.Answer(r)
	}
	select {
	case chunks = <-s.Replies:
	default:
	}
	reply := model.Reply{Stop: "stop", Usage: s.Usage}
	for _, chunk := range chunks {
		call, isCall := calls[chunk]
		switch {
		case chunk == Wait:
			s.Reached <- struct{}{}
			select {
			case <-s.Resume:
			case <-ctx.Done():
				return reply, context.Cause(ctx)
			}
		case chunk == Fail:
			return reply, s.Failure
		case isCall:
			reply.Calls = append(reply.Calls, call)
		default:
			reply.Text += chunk
			emit(model.Delta{Text: chunk})
		}
	}
	return reply, ctx.Err()
}
