//go:build unix

package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hitchpost/server/client"
	"hitchpost/turn/event"
)

// buildCrashing makes the binary that can be told at which commit to die.
var buildCrashing = sync.OnceValues(func() (string, error) {
	binary, err := build()
	if err != nil {
		return "", err
	}
	crashing := binary + "-crashpoints"
	cmd := exec.Command("go", "build", "-tags", "crashpoints", "-o", crashing, "hitchpost")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return crashing, nil
})

// crashScenario is a turn that is cut at every commit.
type crashScenario struct {
	name    string
	replies []string // the model's answers, see completion
	approve bool     // approve what stands, else deny it
	cancel  event.Type
	never   []string   // calls whose effect must happen at most once
	until   event.Type // what the scenario ends with, turn/end by default
	config  string
}

var crashScenarios = []crashScenario{
	{name: "plain turn", replies: []string{"one two three"}},
	{name: "serial batch of 3", replies: []string{"call s1 Bash; call s2 Bash; call s3 Bash", "done"}, approve: true, never: []string{"s1", "s2", "s3"}},
	{name: "parallel run of 3", replies: []string{"call p1 Read; call p2 Read; call p3 Read", "done"}},
	{name: "parked approval, denied", replies: []string{"call a1 Bash", "done"}, never: []string{"a1"}},
	{name: "approved, then a call", replies: []string{"call a1 Bash; call p1 Read", "done"}, approve: true, never: []string{"a1"}},
	{name: "cancel of a parked call", replies: []string{"call a1 Bash; call a2 Bash"}, cancel: event.ApprovalRequestedType, never: []string{"a1", "a2"}},
	{
		name: "compaction", until: event.SessionCompactedType, config: "[compaction]\nbudget = 50",
		replies: []string{strings.Repeat("manywords", 60), "few words"},
	},
	{name: "cancel in a batch", replies: []string{"call p1 Read; call p2 Read; call a1 Bash", "done"}, cancel: event.ToolResultType, never: []string{"a1"}},
}

// TestKillAtEveryCommitLeavesALogThatGoesOn kills the built binary right before and
// right after every commit of each scenario, restarts it, wakes the agent and looks:
// one turn/start, one result a call, valid requests, and no effect twice that must not be.
func TestKillAtEveryCommitLeavesALogThatGoesOn(t *testing.T) {
	binary, err := buildCrashing()
	if err != nil {
		t.Fatal(err)
	}
	table := &output{}
	t.Cleanup(func() { t.Logf("killed at | log then ended with | status | the log went on with\n%s", table) })
	for _, sc := range crashScenarios {
		for _, when := range []string{"before", "after"} {
			t.Run(sc.name+", "+when, func(t *testing.T) {
				t.Parallel()
				for seq := int64(1); ; {
					tip, crashed := crashAt(t, binary, sc, when, seq, table)
					if !crashed {
						return // the turn has fewer events
					}
					seq = max(seq, tip) + 1
				}
			})
		}
	}
}

// crashAt runs the scenario once. It returns the newest seq of the crashed log.
func crashAt(t *testing.T, binary string, sc crashScenario, when string, seq int64, table *output) (tip int64, crashed bool) {
	provider := newStand(t, func(a *answer) {
		if a.n < len(sc.replies) { // by the history, so that a restart cannot get out of step
			a.say(sc.replies[a.n])
		} else {
			a.say("all right")
		}
	})
	p := newPlace(t, fmt.Sprintf(crashConfig, provider.URL)+sc.config)
	p.binary = binary
	if err := os.WriteFile(filepath.Join(p.dir, "file.txt"), []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.env = []string{fmt.Sprintf("HITCHPOST_CRASH=%s %d main", when, seq)}
	s := p.serve()
	crashed = sc.drive(t, s)
	if !crashed {
		s.kill()
		return 0, false
	}
	_ = s.cmd.Wait()
	s.gone = true
	cut := p.log("main")

	p.env = nil
	s = p.serve()
	status := sc.goOn(t, s)
	s.kill()
	whole := p.log("main")
	fmt.Fprintf(table, "%s, %s seq %d | %s | %s | %s\n", sc.name, when, seq, cut[len(cut)-1].Type, status, types(whole[len(cut):]))
	sc.check(t, p, cut, whole)
	return cut[len(cut)-1].Seq, true
}

const crashConfig = `
[agents.default]
policy = ["*"]
[agents.default.models]
main = "scripted/any"
[providers.scripted]
api = "openai"
base_url = %q
retries = 0
[tools]
sandbox = "none"
`

// drive runs the turn until the server is dead (true) or the turn has ended.
func (sc crashScenario) drive(t *testing.T, s *running) (crashed bool) {
	ctx, done := context.WithTimeout(context.Background(), time.Minute)
	defer done()
	agent, err := client.Dial(ctx, "http://"+s.listen, secret, "main", client.Options{})
	if err != nil {
		return true
	}
	defer agent.Close()
	agent.Subscribe(0)
	if _, err := agent.Inject("go", true, ""); err != nil {
		t.Fatal(err)
	}
	cancelled := false
	for message, err := range agent.Messages(ctx) {
		if err != nil {
			t.Fatalf("the turn neither ended nor died: %v", err)
		}
		if _, lost := message.(client.Lost); lost {
			return true
		}
		ev, ok := message.(client.Event)
		switch {
		case !ok:
		case ev.Type == sc.cancel && !cancelled:
			cancelled = true
			command(ctx, func(ctx context.Context) error { return agent.Cancel(ctx, "enough") })
		case ev.Type == event.ApprovalRequestedType:
			sc.decide(ctx, agent, ev)
		case ev.Type == sc.until || sc.until == "" && ev.Type == event.TurnEndType:
			return false
		}
	}
	return false
}

func (sc crashScenario) decide(ctx context.Context, agent *client.Agent, ev client.Event) {
	var asked event.ApprovalRequested
	_ = json.Unmarshal(ev.Payload, &asked)
	command(ctx, func(ctx context.Context) error {
		if sc.approve {
			return agent.Approve(ctx, asked.CallID)
		}
		return agent.Deny(ctx, asked.CallID, "no")
	})
}

// command sends a frame, unless the server dies before it can be sent.
func command(ctx context.Context, send func(context.Context) error) {
	ctx, done := context.WithTimeout(ctx, time.Second)
	defer done()
	_ = send(ctx)
}

// goOn connects to the restarted server, decides what stands, wakes the agent, and
// waits until every turn has ended. It returns the status that it found.
func (sc crashScenario) goOn(t *testing.T, s *running) string {
	ctx, done := context.WithTimeout(context.Background(), time.Minute)
	defer done()
	agent, err := client.Dial(ctx, "http://"+s.listen, secret, "main", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	hello := agent.Hello()
	agent.Subscribe(hello.LastSeq + 1)
	for _, standing := range hello.Pending {
		if sc.cancel != "" {
			command(ctx, func(ctx context.Context) error { return agent.Cancel(ctx, "enough") })
			break
		}
		payload, _ := json.Marshal(event.ApprovalRequested{CallID: standing.CallID})
		sc.decide(ctx, agent, client.Event{Payload: payload})
	}
	if _, err := agent.Inject("status?", true, "again"); err != nil {
		t.Fatal(err)
	}
	read := false
	for message, err := range agent.Messages(ctx) {
		if err != nil {
			t.Fatalf("%s after a crash: %v\n%s", hello.Status, err, types(s.place.log("main")))
		}
		ev, ok := message.(client.Event)
		switch {
		case !ok:
		case ev.Type == event.ApprovalRequestedType:
			sc.decide(ctx, agent, ev)
		case ev.Type == event.UserMessageType || ev.Type == event.ContextInjectedType:
			read = read || strings.Contains(string(ev.Payload), "status?")
		case ev.Type == event.TurnEndType && read:
			return hello.Status
		}
	}
	return hello.Status
}

func (sc crashScenario) check(t *testing.T, p *place, cut, whole []line) {
	t.Helper()
	results, open := map[string]int{}, false
	for _, l := range whole {
		switch l.Type {
		case event.TurnStartType:
			if open {
				t.Errorf("seq %d: a second turn/start in an open turn", l.Seq)
			}
			open = true
		case event.TurnEndType:
			open = false
		case event.ToolResultType:
			results[l.Payload.ID]++
			if slices.Contains(sc.never, l.Payload.ID) && l.Payload.Error == nil && p.effects(l.Payload.ID) != 1 {
				t.Errorf("%s succeeded, and its effect happened %d times", l.Payload.ID, p.effects(l.Payload.ID))
			}
		}
	}
	if open {
		t.Errorf("a turn is still open: %s", types(whole))
	}
	for _, l := range whole {
		if l.Type == event.ToolCallType && results[l.Payload.ID] != 1 {
			t.Errorf("call %s has %d results", l.Payload.ID, results[l.Payload.ID])
		}
	}
	for i, l := range cut {
		if whole[i].raw != l.raw {
			t.Errorf("seq %d changed over the restart", i)
		}
	}
	for _, id := range sc.never {
		if n := p.effects(id); n > 1 {
			t.Errorf("the effect of %s, which must not be repeated, happened %d times", id, n)
		}
	}
}

// effects counts what a Bash call of this id left behind.
func (p *place) effects(id string) int {
	b, err := os.ReadFile(filepath.Join(p.dir, "effect-"+id))
	if err != nil {
		return 0
	}
	return strings.Count(string(b), "x")
}
