//go:build unix

package server_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hitchpost/server/client"
	"hitchpost/turn/event"
)

// The tests of this file are faults that users of other systems have reported, each
// tried from outside: the built binary, its socket, its file, and a model server that
// looks at every request.

// TestA01ACancelLeavesNoCallWithoutAResult: every later message would be refused.
func TestA01ACancelLeavesNoCallWithoutAResult(t *testing.T) {
	model := newStand(t, func(a *answer) {
		if a.n == 0 {
			wait := `{"command":"until [ -e go ]; do sleep 0.02; done"}`
			a.send(call(0, "c1", "Bash", wait), call(1, "c2", "Bash", wait), call(2, "c3", "Bash", wait), finish)
			return
		}
		a.say("hello to you")
	})
	p := reported(t, model, asksNobody)
	s := p.serve()
	s.wake("go")
	p.until("the first call runs", func() bool { return p.count(event.ToolCallType) == 1 })
	agent := s.dial()
	if err := agent.Cancel(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	handled(t, agent) // else the call may end before
	if err := os.WriteFile(filepath.Join(p.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if status := p.ended(1); status != "cancelled" {
		t.Errorf("the turn ended %s", status)
	}
	want := []string{"c1", "c2: cancelled before execution", "c3: cancelled before execution"}
	if got := p.results(); !slices.Equal(got, want) {
		t.Errorf("results %q, want %q", got, want)
	}
	s.wake("hello")
	if status := p.ended(2); status != "completed" {
		t.Errorf("the turn behind it ended %s", status)
	}
	if asked := model.asked(); len(asked) != 2 || len(asked[1]) != 7 { // system, go, the calls, 3 results, hello
		t.Errorf("the request behind it was %v", asked[len(asked)-1])
	}
}

// TestA09WhoReturnsBeforeTheFirstChunkOrAfterTheEndLearnsHowItStands: and the turn does
// not depend on who is there.
func TestA09WhoReturnsBeforeTheFirstChunkOrAfterTheEndLearnsHowItStands(t *testing.T) {
	begin, fail := make(chan struct{}), make(chan struct{})
	model := newStand(t, func(a *answer) {
		if a.n == 0 {
			<-begin
			a.say("late but whole")
			return
		}
		<-fail
		a.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(a, `{"error":{"message":"out of hay"}}`)
	})
	p := reported(t, model, "")
	s := p.serve()
	s.wake("go") // its connection is closed
	p.until("the model is asked", func() bool { return len(model.asked()) == 1 })
	back := s.dial()
	if status := back.Hello().Status; status != "running" {
		t.Errorf("before the first chunk the agent is %s", status)
	}
	close(begin)
	if status := p.ended(1); status != "completed" {
		t.Errorf("the turn ended %s", status)
	}
	back.Close()
	s.wake("again")
	close(fail)
	if status := p.ended(2); status != "failed" {
		t.Errorf("the turn ended %s", status)
	}
	log := p.log("main")
	if last := log[len(log)-1].raw; !strings.Contains(last, "out of hay") {
		t.Errorf("the end does not say why: %s", last)
	}
	if status := s.dial().Hello().Status; status != "idle" {
		t.Errorf("after the end the agent is %s", status)
	}
}

// TestA10AnApprovalSurvivesRestarts: the same call stands, its verdict runs it once or
// not at all, and a verdict on what is settled is stale.
func TestA10AnApprovalSurvivesRestarts(t *testing.T) {
	for _, approve := range []bool{true, false} {
		t.Run(fmt.Sprintf("approve %v", approve), func(t *testing.T) {
			t.Parallel()
			model := newStand(t, func(a *answer) {
				if a.n == 0 {
					a.send(call(0, "c1", "Bash", `{"command":"echo x >>effect-c1"}`), finish)
					return
				}
				a.say("done")
			})
			p := reported(t, model, "")
			s := p.serve()
			s.wake("go")
			p.until("the call is parked", func() bool { return p.count(event.ApprovalRequestedType) == 1 })
			for range 2 {
				s.kill()
				s = p.serve()
				hello := s.dial().Hello()
				if hello.Status != "waiting_approval" || len(hello.Pending) != 1 || hello.Pending[0].CallID != "c1" {
					t.Fatalf("after a restart: %+v", hello)
				}
			}
			agent := s.dial()
			decide := func() error {
				if approve {
					return agent.Approve(t.Context(), "c1")
				}
				return agent.Deny(t.Context(), "c1", "no")
			}
			if err := decide(); err != nil {
				t.Fatal(err)
			}
			if status := p.ended(1); status != "completed" {
				t.Errorf("the turn ended %s", status)
			}
			if n := p.effects("c1"); n == 1 != approve || n > 1 {
				t.Errorf("approved: %v, and it ran %d times", approve, n)
			}
			if n := p.count(event.ApprovalRequestedType) + p.count(event.TurnStartType); n != 2 {
				t.Errorf("log: %s", types(p.log("main")))
			}
			tip := len(p.log("main"))
			if err := decide(); err != nil {
				t.Fatal(err)
			}
			if refused := nextRefusal(t, agent); refused != "stale_call" || len(p.log("main")) != tip {
				t.Errorf("the second verdict: %s", refused)
			}
		})
	}
}

// handled waits until the server has handled what was sent: the answer to a verdict on no
// call comes behind it.
func handled(t *testing.T, agent *client.Agent) {
	t.Helper()
	if err := agent.Deny(t.Context(), "none", ""); err != nil {
		t.Fatal(err)
	}
	if refused := nextRefusal(t, agent); refused != "stale_call" && refused != "unsupported" {
		t.Fatalf("got %s", refused)
	}
}

func nextRefusal(t *testing.T, agent *client.Agent) string {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	for message, err := range agent.Messages(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if refused, ok := message.(client.Refused); ok {
			return refused.Code
		}
	}
	return ""
}

// TestA12NoAgentIsRunningWithNothingThatRuns: a server that was killed or stopped in the
// middle of a turn says so after its restart, and takes the next text.
func TestA12NoAgentIsRunningWithNothingThatRuns(t *testing.T) {
	points := map[string]struct {
		reply   func(a *answer)
		reached event.Type
		status  string
	}{
		"before the first chunk": {(*answer).hold, event.UserMessageType, "resumable"},
		"in mid stream":          {func(a *answer) { a.send(text("half ")); a.hold() }, event.AssistantChunkType, "resumable"},
		"during a call": {func(a *answer) { a.send(call(0, "c1", "Bash", `{"command":"sleep 600"}`), finish) },
			event.ToolCallType, "resumable"},
		"while parked": {func(a *answer) { a.send(call(0, "c1", "Write", `{"file_path":"f","content":"x"}`), finish) },
			event.ApprovalRequestedType, "waiting_approval"},
	}
	for name, point := range points {
		for end, stop := range map[string]func(*running){
			"killed": (*running).kill, "stopped": func(s *running) { s.term() },
		} {
			t.Run(name+", "+end, func(t *testing.T) {
				t.Parallel()
				model := newStand(t, func(a *answer) {
					if a.last == "go" {
						point.reply(a)
						return
					}
					a.say("done")
				})
				more := "[timeouts]\nshutdown = \"50ms\"\n"
				if point.reached == event.ToolCallType {
					more += asksNobody
				}
				p := reported(t, model, more)
				s := p.serve()
				s.wake("go")
				p.until("the point is reached", func() bool { return p.count(point.reached) == 1 })
				stop(s)
				s = p.serve()
				agent := s.dial()
				if status := agent.Hello().Status; status != point.status {
					t.Errorf("after the restart the agent is %s, want %s", status, point.status)
				}
				if point.status == "waiting_approval" {
					if err := agent.Cancel(t.Context(), ""); err != nil {
						t.Fatal(err)
					}
					p.ended(1)
				}
				s.wake("still there?")
				if status := p.ended(p.count(event.TurnStartType)); status != "completed" {
					t.Errorf("the next text's turn ended %s", status)
				}
				if status := s.dial().Hello().Status; status != "idle" {
					t.Errorf("in the end the agent is %s", status)
				}
			})
		}
	}
}

// TestA13ACancelStopsTheStreamAtOnceAndKeepsWhatWasSaid: no further step, no tool, and
// the model hears its own half sentence again.
func TestA13ACancelStopsTheStreamAtOnceAndKeepsWhatWasSaid(t *testing.T) {
	model := newStand(t, func(a *answer) {
		if a.n > 0 {
			a.say("as you like")
			return
		}
		for i := range 50 {
			a.send(text(fmt.Sprintf("piece%d ", i)))
		}
		a.hold()
		a.send(call(0, "c1", "Read", `{"file_path":"f"}`), finish)
	})
	p := reported(t, model, "")
	s := p.serve()
	s.wake("go")
	p.until("50 pieces", func() bool { return p.count(event.AssistantChunkType) == 50 })
	agent := s.dial()
	for range 2 { // the second is harmless
		if err := agent.Cancel(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
	}
	if status := p.ended(1); status != "cancelled" {
		t.Errorf("the turn ended %s", status)
	}
	p.until("the provider's connection is closed", func() bool { return model.given() == 1 })
	if err := agent.Cancel(t.Context(), "too late"); err != nil {
		t.Fatal(err)
	}
	if refused := nextRefusal(t, agent); refused != "not_running" {
		t.Errorf("a cancel behind the end: %s", refused)
	}
	s.wake("go on")
	if status := p.ended(2); status != "completed" || p.count(event.ToolCallType) != 0 {
		t.Errorf("the next turn ended %s: %s", status, types(p.log("main")))
	}
	said := strings.Join(p.said("main")[:1], "")
	asked := model.asked()
	if len(asked) != 2 || !strings.Contains(said, "piece49 ") || asked[1][2].Content != said {
		t.Errorf("said %q, heard again %v", said, asked[len(asked)-1])
	}
	if log := p.log("main"); !slices.ContainsFunc(log, func(l line) bool { return strings.Contains(l.raw, `"partial":true`) }) {
		t.Error("nothing marks the half answer")
	}
}

// TestA14EveryTextThatWasTakenIsReadOnceAlsoAfterAKill: 50 texts of both kinds while the
// agent is busy, and a kill behind the answer that they are taken.
func TestA14EveryTextThatWasTakenIsReadOnceAlsoAfterAKill(t *testing.T) {
	model := newStand(t, func(a *answer) {
		if a.last == "go" {
			a.hold()
			return
		}
		a.say("read")
	})
	p := reported(t, model, "")
	s := p.serve()
	s.wake("go")
	p.until("the model is asked", func() bool { return len(model.asked()) == 1 })
	agent := s.dial()
	for i := range 50 {
		if _, err := agent.Inject(fmt.Sprintf("text-%d.", i), i%2 == 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	handled(t, agent)
	agent.Close()
	s.kill()
	s = p.serve()
	s.wake("and now?")
	p.until("idle", func() bool {
		return p.count(event.TurnStartType) == p.count(event.TurnEndType) && p.count(event.ContextInjectedType)+p.count(event.UserMessageType) == 52
	})
	asked := model.asked()
	var heard []string
	for _, m := range asked[len(asked)-1] {
		if text := fmt.Sprint(m.Content); m.Role == "user" && strings.HasPrefix(text, "text-") {
			heard = append(heard, strings.Fields(text)...)
		}
	}
	for i := range 50 {
		if want := fmt.Sprintf("text-%d.", i); i >= len(heard) || heard[i] != want {
			t.Fatalf("the model heard %d texts, %q", len(heard), heard)
		}
	}
}
