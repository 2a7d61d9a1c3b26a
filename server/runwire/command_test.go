package runwire

import (
	"context"
	"strings"
	"testing"

	"hitchpost/server/protocol"
	"hitchpost/turn"
)

func kinds(all []received) (out []string) {
	for _, f := range all {
		name := string(f.Type)
		if f.Payload.Resumed {
			name += " resumed"
		}
		if f.Payload.Reason != "" {
			name += " " + f.Payload.Reason
		}
		out = append(out, name)
	}
	return out
}

// last is the last frame.
func last(all []received) received { return all[len(all)-1] }

// Run wire, run.create.
//
// guarantee 5
func TestRunCreateStartsARunAndIsRefusedByName(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	w.create("yours", "you")
	p := w.join("secret-all")
	for _, c := range []struct {
		frame protocol.RunCreate
		code  protocol.Code
	}{
		{protocol.RunCreate{SessionID: "none", Input: "x"}, protocol.CodeSessionNotFound},
		{protocol.RunCreate{SessionID: "yours", Input: "x"}, protocol.CodeSessionNotFound},
		{protocol.RunCreate{SessionID: "", Input: "x"}, protocol.CodeSessionNotFound},
		{protocol.RunCreate{SessionID: "a", Input: "x", Agent: "nobody"}, protocol.CodeConfigError},
		{protocol.RunCreate{SessionID: "a", Input: "x", Agent: "broken"}, protocol.CodeConfigError},
	} {
		p.say(c.frame)
		if f := p.refusal(c.code); f.Payload.SessionID != c.frame.SessionID {
			t.Errorf("%+v: %s", c.frame, f.line)
		}
	}
	w.model.Replies <- []string{"a", wait, "b"}
	run := p.start("a", "hi")
	<-w.model.Reached
	p.say(protocol.RunCreate{SessionID: "a", Input: "again"})
	p.refusal(protocol.CodeSessionBusy)
	w.model.Resume <- struct{}{}
	if f := last(p.toEnd(run)); f.Payload.Output != "ab" {
		t.Errorf("ended with %s", f.line)
	}
	p.say(protocol.RunCreate{SessionID: "a", Input: "hi", Agent: "second"})
	if f := p.of(protocol.TypeRunAgentStart); f.Payload.Agent != "second" {
		t.Errorf("the run's agent: %s", f.line)
	}
}

func TestAnEmptyInputAnswersTheHistoryAsItStands(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	w.model.Replies <- []string{fail}
	p.toEnd(p.start("a", "hi"))
	all := p.toEnd(p.start("a", ""))
	if got := strings.Join(kinds(all), ","); strings.Contains(last(all).line, "user") || last(all).Type != protocol.TypeRunOutput {
		t.Errorf("frames %s", got)
	}
}

// Run wire: exactly one terminal frame a run, and the session is free before it is seen.
func TestTheSessionIsFreeBeforeTheTerminalFrameIsSeen(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	for range 50 {
		p.toEnd(p.start("a", "hi")) // fails the test if the session were busy
	}
}

func TestAFailedRunEndsWithItsAnnotationAndAnError(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	w.model.Replies <- []string{"half", fail}
	run := p.start("a", "hi")
	all := p.toEnd(run)
	if f := last(all); f.Type != protocol.TypeRunError || f.Payload.Code != "provider_error" || all[len(all)-2].Payload.Entry.Kind != "annotation" {
		t.Errorf("ended with %s", lines(all[len(all)-2:]))
	}
}

// Run wire: run.create on a session whose turn is parked.
func TestRunCreateSupersedesAParkedRun(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	w.model.Replies <- []string{ask}
	old := p.start("a", "hi")
	p.of(protocol.TypeRunInterrupted)
	p.say(protocol.RunCreate{SessionID: "a", Input: "instead"})
	all := p.until(ended(old))
	if f := last(all); f.Type != protocol.TypeRunCancelled || f.Payload.Reason != "superseded" {
		t.Errorf("the old run ended with %s", f.line)
	}
	next := p.of(protocol.TypeRunStarted)
	if next.Payload.RunID == old {
		t.Error("the old run went on")
	}
	if f := last(p.toEnd(next.Payload.RunID)); f.Type != protocol.TypeRunOutput {
		t.Errorf("the new run ended with %s", f.line)
	}
}

// Run wire: on a turn left open by a crash the input rides along, same run id.
func TestRunCreateResumesARunThatACrashLeftOpen(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	w.model.Replies <- []string{"half", wait}
	run := p.start("a", "hi")
	<-w.model.Reached
	w.restart()
	p = w.join("secret-all")
	two := w.join("secret-all")
	if f := p.of(protocol.TypeRunStarted); f.Payload.RunID != run || f.Payload.Resumed {
		t.Errorf("attached with %s", f.line)
	}
	two.of(protocol.TypeRunStarted)
	p.say(protocol.RunCreate{SessionID: "a", Input: "go on"})
	for _, p := range []*peer{p, two} {
		all := p.toEnd(run)
		got := strings.Join(kinds(all), ",")
		if n := strings.Count(got, "run.started resumed"); n != 1 || !strings.Contains(lines(all), "go on") {
			t.Errorf("resumed is told %d times in %s", n, got)
		}
		for _, f := range all {
			if f.Payload.Resumed && f.Seq != 0 {
				t.Errorf("numbered: %s", f.line)
			}
		}
	}
}

// Run wire, run.cancel.
func TestRunCancelStopsARunWhateverItIsAt(t *testing.T) {
	for name, c := range map[string]struct {
		reply []string
		mode  protocol.Mode
		text  string // of the last answer, as far as it came
	}{
		"mid stream, abort":    {[]string{"half", wait, "more"}, protocol.ModeAbort, "half"},
		"mid stream, no mode":  {[]string{"half", wait, "more"}, "", "half"},
		"mid stream, graceful": {[]string{"half", wait, "more"}, protocol.ModeGraceful, "halfmore"},
		"parked, abort":        {[]string{"x", ask}, protocol.ModeAbort, ""},
		"parked, graceful":     {[]string{"x", ask}, protocol.ModeGraceful, ""},
		"left open by a crash": {[]string{"half", wait}, "", ""},
		"left open, graceful":  {[]string{"half", wait}, protocol.ModeGraceful, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, settings{})
			w.create("a", "me")
			p := w.join("secret-all")
			w.model.Replies <- c.reply
			run := p.start("a", "hi")
			parked := strings.HasPrefix(name, "parked")
			if parked {
				p.of(protocol.TypeRunInterrupted)
			} else {
				<-w.model.Reached
			}
			if strings.HasPrefix(name, "left") {
				w.restart()
				p = w.join("secret-all")
				p.of(protocol.TypeRunStarted)
			}
			p.say(protocol.RunCancel{RunID: run, Mode: c.mode})
			if c.mode == protocol.ModeGraceful && !parked && !strings.HasPrefix(name, "left") {
				p.until(func(f received) bool { return f.Payload.Status == protocol.StatusStopping })
				w.model.Resume <- struct{}{}
			}
			all := p.toEnd(run)
			if f := last(all); f.Type != protocol.TypeRunCancelled || f.Payload.Reason != "stopped" {
				t.Errorf("ended with %s", f.line)
			}
			if c.text != "" && !strings.Contains(lines(all), `"output_text","text":"`+c.text+`"`) {
				t.Errorf("%q was not said in %s", c.text, lines(all))
			}
			p.say(protocol.RunCancel{RunID: run}) // an ended run: silence
			for _, f := range p.alive() {
				if f.Payload.RunID == run {
					t.Errorf("behind the end came %s", f.line)
				}
			}
		})
	}
}

// guarantee 1
func TestRunCancelOfAnUnknownOrForeignRunIsRefusedTheSame(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p, other := w.join("secret-all"), w.join("secret-other")
	w.model.Replies <- []string{wait}
	run := p.start("a", "hi")
	<-w.model.Reached
	for _, frame := range []func(id string) protocol.ClientPayload{
		func(id string) protocol.ClientPayload { return protocol.RunCancel{RunID: id} },
		func(id string) protocol.ClientPayload {
			return protocol.RunInject{RunID: id, Queue: "steer", Input: "x"}
		},
		func(id string) protocol.ClientPayload { return protocol.RunSubscribe{RunID: id} },
	} {
		other.say(frame(run))
		foreign := other.refusal(protocol.CodeRunNotFound)
		other.say(frame("0123456789abcdef"))
		unknown := other.refusal(protocol.CodeRunNotFound)
		if strings.ReplaceAll(foreign.line, run, "0123456789abcdef") != unknown.line {
			t.Errorf("told apart:\n%s\n%s", foreign.line, unknown.line)
		}
	}
	other.say(protocol.RunCancel{RunID: "not an id"})
	other.refusal(protocol.CodeRunNotFound)
	close(w.model.Resume)
	if f := last(p.toEnd(run)); f.Type != protocol.TypeRunOutput {
		t.Errorf("the run ended with %s", f.line)
	}
}

// Run wire, run.inject.
func TestEveryQueueTakesATextOfAnOpenRun(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	w.model.Replies <- []string{"one", wait}
	run := p.start("a", "hi")
	<-w.model.Reached
	for _, q := range []protocol.Queue{protocol.QueueSteer, protocol.QueueNextTurn, protocol.QueueFollowUp} {
		p.say(protocol.RunInject{RunID: run, Queue: q, Input: "text for " + string(q)})
	}
	all := p.until(func(f received) bool { return f.Type == protocol.TypeSessionInbox && len(f.Payload.Items) == 3 })
	for i, item := range last(all).Payload.Items {
		if want := []protocol.Queue{"steer", "next_turn", "follow_up"}[i]; item.Queue != want || item.Text != "text for "+string(want) || item.InputID == "" || item.QueuedAt == "" {
			t.Errorf("item %d is %+v", i, item)
		}
	}
	w.model.Resume <- struct{}{}
	rest := p.toEnd(run)
	if got := lines(rest); !strings.Contains(got, "text for steer") || !strings.Contains(got, "text for follow_up") {
		t.Errorf("not read: %s", got)
	}
}

func TestRunInjectIsRefusedByName(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	over := p.start("a", "hi")
	p.toEnd(over)
	p.say(protocol.RunInject{RunID: over, Queue: "steer", Input: "x"})
	if f := p.refusal(protocol.CodeRunNotFound); !strings.Contains(f.Payload.Message, "ended") || f.Payload.RunID != over {
		t.Errorf("refused with %s", f.line)
	}
	w.model.Replies <- []string{ask}
	run := p.start("a", "hi")
	p.of(protocol.TypeRunInterrupted)
	for range 10 { // a parked one takes it too
		p.say(protocol.RunInject{RunID: run, Queue: "next_turn", Input: "x"})
	}
	p.until(func(f received) bool { return len(f.Payload.Items) == 10 })
	p.say(protocol.RunInject{RunID: run, Queue: "next_turn", Input: "x"})
	if f := p.refusal(protocol.CodeBadFrame); !strings.Contains(f.Payload.Message, "full") {
		t.Errorf("refused with %s", f.line)
	}
}

// Run wire, tool.approve and tool.reject.
func TestAVerdictLetsTheRunGoOn(t *testing.T) {
	for _, approve := range []bool{true, false} {
		w := newWorld(t, settings{})
		w.create("a", "me")
		p := w.join("secret-judge")
		w.model.Replies <- []string{ask, ask2}
		w.do("a", func(ctx context.Context, a *turn.Agent) error {
			_, err := a.StartRun(ctx, turn.NewRun{Input: "hi"})
			return err
		})
		both := p.until(func(f received) bool { return len(f.Payload.Pending) == 1 })
		run := last(both).Payload.RunID
		if got := last(both).Payload.Pending[0]; got.ToolCallID != "c1" || got.ToolName != "ask" || got.Arguments != `{"n":1.0}` {
			t.Errorf("pending %+v", got)
		}
		if approve {
			p.say(protocol.ToolApprove{ToolCallID: "c1", Scope: "forever"})
		} else {
			p.say(protocol.ToolReject{ToolCallID: "c1", RunID: run, Reason: "not today"})
		}
		all := p.until(func(f received) bool {
			return len(f.Payload.Pending) > 0 && f.Payload.Pending[0].ToolCallID == "c2" && f.Seq > 0
		})
		p.say(protocol.ToolApprove{ToolCallID: "c2"})
		all = append(all, p.toEnd(run)...)
		want := "done"
		if !approve {
			want = "not today"
		}
		if got := lines(all); !strings.Contains(got, want) || !strings.Contains(strings.Join(kinds(all), ","), "run.started resumed") {
			t.Errorf("approve %v: %s", approve, got)
		}
		p.say(protocol.ToolApprove{ToolCallID: "c1", RunID: run}) // decided
		if f := p.refusal(protocol.CodeApprovalFailed); f.Payload.RunID != run {
			t.Errorf("refused with %s", f.line)
		}
	}
}

func TestAVerdictIsRefusedWhereItsCallIsUnknownForeignOrAmbiguous(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	w.create("b", "me")
	p, other := w.join("secret-all"), w.join("secret-other")
	w.model.Replies <- []string{ask}
	first := p.start("a", "hi")
	p.of(protocol.TypeRunInterrupted)
	other.say(protocol.ToolApprove{ToolCallID: "c1"})
	foreign := other.refusal(protocol.CodeApprovalFailed)
	other.say(protocol.ToolApprove{ToolCallID: "c9"})
	if unknown := other.refusal(protocol.CodeApprovalFailed); strings.ReplaceAll(foreign.line, "c1", "c9") != unknown.line {
		t.Errorf("told apart:\n%s\n%s", foreign.line, unknown.line)
	}
	w.model.Replies <- []string{ask}
	second := p.start("b", "hi")
	p.of(protocol.TypeRunInterrupted)
	p.say(protocol.ToolReject{ToolCallID: "c1"})
	if f := p.refusal(protocol.CodeApprovalFailed); !strings.Contains(f.Payload.Message, "run_id") {
		t.Errorf("refused with %s", f.line)
	}
	p.say(protocol.ToolApprove{ToolCallID: "c1", RunID: second})
	p.toEnd(second)
	p.say(protocol.ToolApprove{ToolCallID: "c1"}) // one is left
	p.toEnd(first)
}

// Server spec: without the verb, forbidden, and the connection stays.
//
// guarantee 5
func TestATokenWithoutTheVerbIsForbidden(t *testing.T) {
	w := newWorld(t, settings{})
	for secret, frames := range map[string][]protocol.ClientPayload{
		"secret-eye": {
			protocol.RunCreate{SessionID: "a"}, protocol.RunCancel{RunID: "r"}, protocol.RunInject{RunID: "r", Queue: "steer", Input: "x"},
			protocol.ToolApprove{ToolCallID: "c"}, protocol.ToolReject{ToolCallID: "c"},
		},
		"secret-hand":  {protocol.RunSubscribe{RunID: "r"}, protocol.ToolApprove{ToolCallID: "c"}},
		"secret-judge": {protocol.RunCreate{SessionID: "a"}},
	} {
		p := w.join(secret)
		for _, f := range frames {
			p.say(f)
			p.refusal(protocol.CodeForbidden)
		}
	}
}

func TestARunThatCannotBeWrittenIsRefusedAsPersistError(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	w.sql(`CREATE TRIGGER full BEFORE UPDATE ON sessions BEGIN SELECT RAISE(ABORT, 'disk full'); END`)
	w.sql(`CREATE TRIGGER full2 BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'disk full'); END`)
	p.say(protocol.RunCreate{SessionID: "a", Input: "hi"})
	p.refusal(protocol.CodePersistError)
	w.sql(`DROP TRIGGER full`)
	w.sql(`DROP TRIGGER full2`)
	p.toEnd(p.start("a", "hi"))
}
