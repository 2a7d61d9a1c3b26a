package turn

import (
	"context"
	"strings"
	"testing"

	"hitchpost/turn/event"
)

// TestA04AUselessSummaryIsTriedOnceAndTheAgentGoesOn: faults that users of other systems
// have reported. One that is as long as what it stands for, or empty, replaces nothing.
func TestA04AUselessSummaryIsTriedOnceAndTheAgentGoesOn(t *testing.T) {
	for name, summary := range map[string]string{"as long": strings.Repeat("every word of it ", 100), "empty": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.define(func(d *Definition) { d.Models[RoleCompactor] = "demo/short" })
			w.batches(3)
			before := len(w.model.asked())
			w.overflows("", 5)
			w.model.add("short", []act{{text: summary}})
			w.model.add("short", []act{{text: summary}})
			w.play("wake too much\nidle")
			if n := len(w.model.asked()) - before; n > 3 {
				t.Errorf("%d requests", n)
			}
			log := w.log()
			if last := string(log[len(log)-1].Payload); !strings.Contains(last, string(event.CodeContextOverflow)) || count(log, event.SessionCompactedType) != 0 {
				t.Errorf("log:\n%s", render(log))
			}
			w.model.mu.Lock()
			w.model.replies = [][]act{{{text: "as short as you are"}}}
			w.model.mu.Unlock()
			w.play("wake short\nidle")
			log = w.log()
			checkInvariants(t, log)
			if last := string(log[len(log)-1].Payload); last != `{"status":"completed"}` {
				t.Errorf("the next turn ended %s", last)
			}
		})
	}
}

// TestA11NobodyDecidesForAPersonWhoIsNotThere: the call stands, with the time at which it
// was asked, while no client holds the agent, and over a restart that nobody watches.
func TestA11NobodyDecidesForAPersonWhoIsNotThere(t *testing.T) {
	w := newWorld(t)
	w.play("model call:c1:ask:{}\nmodel \"done\"\nwake go\nparked c1")
	asked, found, err := w.agent.Log().Newest(context.Background(), -1, string(event.ApprovalRequestedType))
	if err != nil || !found || asked.At.IsZero() {
		t.Fatalf("the request is not in the log: %v", err)
	}
	w.agent.Release() // the last watcher leaves
	w.agent = w.hold("s1")
	w.play("parked c1")
	w.stop()
	w.open() // nobody holds the agent after the restart
	w.agent = w.hold("s1")
	if n := count(w.log(), event.ApprovalResolvedType); n != 0 {
		t.Fatalf("somebody decided:\n%s", render(w.log()))
	}
	w.play("parked c1\napprove c1\nidle\nran c1 1")
	checkInvariants(t, w.log())
}

// TestA15ATextAtAnEdgeOfATurnIsReadInOrderAndNeverLost: queued before the steer, at the
// limit of steps, and right behind the end.
func TestA15ATextAtAnEdgeOfATurnIsReadInOrderAndNeverLost(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"a queued text and then a steer": {
			"model call:c1:fast:{\"gate\":\"g\"}\nmodel \"both\"\nwake go\nawait g\ninject first\nwake then\nopen g\nidle",
			"turn/start go first then turn/end",
		},
		"at the limit of steps": {
			"max_steps 1\nmodel \"one \" @g \"two\"\nmodel \"heard\"\nwake go\nawait g\nwake steer\nopen g\nidle",
			"turn/start go turn/end turn/start steer turn/end",
		},
		"at the limit of steps, behind a call": {
			"max_steps 1\nmodel call:c1:fast:{\"gate\":\"g\"}\nmodel \"heard\"\nwake go\nawait g\nwake steer\nopen g\nidle",
			"turn/start go turn/end turn/start steer turn/end",
		},
		"behind the end": {
			"model \"one\"\nmodel \"heard\"\nwake go\nlogged turn/end\nwake steer\nidle",
			"turn/start go turn/end turn/start steer turn/end",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.play(c.script)
			log := w.log()
			checkInvariants(t, log)
			var got []string
			for _, ev := range log {
				switch event.Type(ev.Type) {
				case event.TurnStartType, event.TurnEndType:
					got = append(got, ev.Type)
				case event.UserMessageType, event.ContextInjectedType:
					var p event.UserMessage
					mustUnmarshal(t, ev.Payload, &p)
					got = append(got, p.Text)
				}
			}
			if got := strings.Join(got, " "); got != c.want {
				t.Errorf("got  %s\nwant %s\n%s", got, c.want, render(log))
			}
			requests := w.model.asked()
			last := requests[len(requests)-1]
			if fed := mustJSON(t, last.Messages); !strings.Contains(string(fed), strings.Fields(c.want)[len(strings.Fields(c.want))-2]) {
				t.Errorf("the last request is without the last text: %s", fed)
			}
		})
	}
}
