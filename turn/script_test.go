package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/tool"
)

// gates let a test hold a model or a tool at a named point.
type gates struct {
	mu      sync.Mutex
	reached map[string]chan struct{}
	opened  map[string]chan struct{}
}

func newGates() *gates {
	return &gates{reached: map[string]chan struct{}{}, opened: map[string]chan struct{}{}}
}

func (g *gates) channel(of map[string]chan struct{}, name string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if of[name] == nil {
		of[name] = make(chan struct{})
	}
	return of[name]
}

func (g *gates) shut(of map[string]chan struct{}, name string) {
	ch := g.channel(of, name)
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-ch:
	default:
		close(ch)
	}
}

// pass tells the test that the point is reached and waits until it may go on.
func (g *gates) pass(ctx context.Context, name string) error {
	g.shut(g.reached, name)
	select {
	case <-g.channel(g.opened, name):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *gates) await(t *testing.T, name string) {
	t.Helper()
	select {
	case <-g.channel(g.reached, name):
	case <-time.After(time.Minute):
		t.Fatalf("gate %s was not reached within a minute", name)
	}
}

func (g *gates) open(name string) { g.shut(g.opened, name) }

// act is one thing that a scripted model does: a delta, a gate, a call, an end.
type act struct {
	text, reasoning, gate string
	call                  *model.Call
	usage                 *event.Usage
	retry                 *model.Retry
	err                   error
}

// script is a model that answers from a list, one entry a request, and keeps what it was asked.
type script struct {
	gates *gates

	mu       sync.Mutex
	replies  [][]act
	others   map[string][][]act // scripts of their own: by model, or by the first text of a session
	requests []model.Request

	entered, left func() // what to call around each request; nil for nothing
}

func (s *script) next(req model.Request) ([]act, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	key := req.Model
	if len(req.Messages) > 0 && s.others[req.Messages[0].Text] != nil {
		key = req.Messages[0].Text
	}
	replies, own := s.others[key]
	if !own {
		replies = s.replies
	}
	if len(replies) == 0 {
		return nil, &model.Error{Code: event.CodeProvider, Message: "the script has no reply left"}
	}
	if own {
		s.others[key] = replies[1:]
	} else {
		s.replies = replies[1:]
	}
	return replies[0], nil
}

func (s *script) add(name string, reply []act) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == "" {
		s.replies = append(s.replies, reply)
		return
	}
	s.others[name] = append(s.others[name], reply)
}

func (s *script) asked() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]model.Request(nil), s.requests...)
}

func (s *script) Stream(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
	acts, err := s.next(req)
	if err != nil {
		return model.Reply{}, err
	}
	if s.entered != nil {
		s.entered()
		defer s.left()
	}
	reply := model.Reply{Stop: "stop"}
	for _, a := range acts {
		if ctx.Err() != nil {
			return model.Reply{}, context.Cause(ctx)
		}
		switch {
		case a.err != nil:
			return model.Reply{}, a.err
		case a.gate != "":
			if err := s.gates.pass(ctx, a.gate); err != nil {
				return model.Reply{}, err
			}
		case a.call != nil:
			reply.Calls = append(reply.Calls, *a.call)
		case a.usage != nil:
			reply.Usage = a.usage
		case a.retry != nil:
			emit(model.Delta{Retry: a.retry})
		case a.reasoning != "":
			if reply.Reasoning == nil {
				reply.Reasoning = &model.Reasoning{}
			}
			reply.Reasoning.Text += a.reasoning
			emit(model.Delta{Reasoning: a.reasoning})
		default:
			reply.Text += a.text
			emit(model.Delta{Text: a.text})
		}
	}
	return reply, nil
}

// counter counts how often each call of a test tool ran.
type counter struct {
	mu  sync.Mutex
	ran map[string]int
}

func (c *counter) add(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ran[id]++
}

func (c *counter) of(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ran[id]
}

// testTools are tools with known behaviour: fast answers, par runs beside its
// neighbours, once must not be repeated, crash panics, bytes returns invalid UTF-8.
// An argument "gate" holds any of them.
func testTools(t *testing.T, g *gates, ran *counter, more ...tool.Tool) *tool.Set {
	t.Helper()
	anything := json.RawMessage(`{"type":"object"}`)
	run := func(answer func(tool.Call) tool.Result) func(context.Context, tool.Call) tool.Result {
		return func(ctx context.Context, c tool.Call) tool.Result {
			ran.add(c.ID)
			var args struct{ Gate string }
			_ = json.Unmarshal(c.Args, &args)
			if args.Gate != "" {
				if err := g.pass(ctx, args.Gate); err != nil {
					return tool.Fail(err.Error())
				}
			}
			return answer(c)
		}
	}
	echo := run(func(c tool.Call) tool.Result { return tool.Text("did " + c.ID) })
	set, err := tool.NewSet(append(more, []tool.Tool{
		{Name: "fast", Schema: anything, Approval: tool.Never, Repeatable: true, Run: echo},
		{Name: "par", Schema: anything, Approval: tool.Never, Repeatable: true, Parallel: true, Run: echo},
		{Name: "once", Schema: anything, Approval: tool.Never, Mutating: true, Run: echo},
		{Name: "ask", Schema: anything, Approval: tool.Always, Mutating: true, Run: echo},
		{Name: "askpar", Schema: anything, Approval: tool.Always, Parallel: true, Repeatable: true, Run: echo},
		{Name: "pol", Schema: anything, Approval: tool.ByPolicy, Mutating: true, Run: echo},
		{Name: "polro", Schema: anything, Approval: tool.ByPolicy, Run: echo},
		{Name: "obj", Schema: anything, Approval: tool.Never, Repeatable: true, Run: run(func(tool.Call) tool.Result {
			return tool.Result{Content: json.RawMessage(`{"k":1,"list":[1,null,true,2.5],"big":12345678901234567890}`)}
		})},
		{Name: "talk", Schema: anything, Approval: tool.Never, Run: run(func(c tool.Call) tool.Result {
			c.Progress("half ")
			c.Progress("done")
			return tool.Text("half done")
		})},
		{Name: "fail", Schema: anything, Approval: tool.Never, Repeatable: true, Run: run(func(tool.Call) tool.Result { return tool.Fail("it did not work") })},
		{Name: "crash", Schema: anything, Approval: tool.Never, Repeatable: true, Parallel: true, Run: run(func(tool.Call) tool.Result { panic("boom") })},
		{Name: "bytes", Schema: anything, Approval: tool.Never, Repeatable: true, Run: run(func(tool.Call) tool.Result {
			return tool.Result{Content: json.RawMessage("\"a\xffb\"")}
		})},
	}...))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func providerError(code event.Code, message string) error {
	return &model.Error{Code: code, Message: message}
}

var errScriptSyntax = errors.New("script syntax")

// parseReply reads one line of a scripted reply: quoted deltas, ~quoted reasoning,
// @gate, call:ID:NAME:{args}, badcall:ID:NAME:WHAT, usage:P,C, fail:CODE:MESSAGE.
func parseReply(line string) ([]act, error) {
	var acts []act
	for line = trim(line); line != ""; line = trim(line) {
		a, rest, err := parseAct(line)
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", errScriptSyntax, line, err)
		}
		acts, line = append(acts, a), rest
	}
	return acts, nil
}
