//go:build unix

package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"hitchpost/server/protocol"
	"hitchpost/turn/event"
)

// Faults that users of other systems have reported, of runs that are driven over the run
// wire and REST.

// TestA10AnApprovalIsDecidedOverRESTAcrossKills: what lists and badges say is what the
// log says at each step, and a verdict that was accepted is never asked for again.
func TestA10AnApprovalIsDecidedOverRESTAcrossKills(t *testing.T) {
	model := newStand(t, func(a *answer) {
		if a.n == 0 {
			a.send(call(0, "c1", "Bash", `{"command":"echo x >>effect-c1"}`), finish)
			return
		}
		a.say("done")
	})
	p := reported(t, model, "")
	s := p.serve()
	s.post(http.StatusCreated, "/sessions", `{"id":"main"}`)
	run := s.started("go")
	stands := func(n int) {
		t.Helper()
		x := get[protocol.Session](s, "/sessions/main")
		list := get[[]protocol.Approval](s, "/approvals")
		if x.PendingCount != n || len(x.Pending) != n || len(list) != n || (x.Status == protocol.StatusRequiresAction) != (n > 0) {
			t.Errorf("want %d standing: %+v, %+v", n, x, list)
		}
	}
	p.until("the call is parked", func() bool { return p.count(event.ApprovalRequestedType) == 1 })
	for range 2 {
		s.kill()
		s = p.serve()
		stands(1)
		all := s.runWire(secret).until(func(f wireFrame) bool { return f.Type == protocol.TypeRunInterrupted })
		if last := all[len(all)-1].Payload; last.RunID != run || len(last.Pending) != 1 || last.Pending[0].ToolCallID != "c1" {
			t.Errorf("after a restart a page hears %+v", last)
		}
	}
	s.post(http.StatusAccepted, "/approvals/c1/approve", "")
	s.kill()
	s = p.serve()
	stands(0)
	if status, _ := s.ask(secret, "POST", "/api/v1/approvals/c1/reject", ""); status != http.StatusNotFound {
		t.Errorf("a second verdict: %d", status)
	}
	if x := get[protocol.Run](s, "/runs/"+run); x.Status == protocol.RunStatusResumable {
		s.post(http.StatusCreated, "/sessions/main/runs", `{"input":""}`)
	}
	if status := p.ended(1); status != "completed" {
		t.Errorf("the run ended %s", status)
	}
	if n := p.effects("c1"); n > 1 {
		t.Errorf("it ran %d times", n)
	}
	if n := p.count(event.ApprovalRequestedType) + p.count(event.TurnStartType) + len(p.results()); n != 3 {
		t.Errorf("log: %s", types(p.log("main")))
	}
}

// TestA14WhatWasAcceptedIntoAnyQueueIsReadOnceAlsoAfterAKill: over the run wire and REST by
// turns; each queue in its own order.
func TestA14WhatWasAcceptedIntoAnyQueueIsReadOnceAlsoAfterAKill(t *testing.T) {
	model := newStand(t, func(a *answer) {
		if a.last == "go" {
			a.hold()
			return
		}
		a.say("read")
	})
	p := reported(t, model, "")
	s := p.serve()
	s.post(http.StatusCreated, "/sessions", `{"id":"main"}`)
	w := s.runWire(secret)
	run := s.started("go")
	p.until("the model is asked", func() bool { return len(model.asked()) == 1 })
	queues := []protocol.Queue{protocol.QueueSteer, protocol.QueueNextTurn, protocol.QueueFollowUp}
	for i := range 48 {
		body := fmt.Sprintf(`"queue":%q,"input":"text-%d."`, queues[i%3], i)
		if i%2 == 0 {
			s.post(http.StatusAccepted, "/runs/"+run+"/inject", "{"+body+"}")
			continue
		}
		w.send(fmt.Sprintf(`{"type":"run.inject","payload":{"run_id":%q,%s}}`, run, body))
		w.send(`{"type":"nothing"}`) // its answer comes behind the text
		w.until(func(f wireFrame) bool { return f.Payload.Code == protocol.CodeBadFrame })
	}
	s.kill()
	s = p.serve()
	if inbox := get[[]protocol.InboxItem](s, "/sessions/main/inbox"); len(inbox) != 48 || inbox[47].Text != "text-47." {
		t.Fatalf("%d texts wait: %+v", len(inbox), inbox)
	}
	s.post(http.StatusCreated, "/sessions/main/runs", `{"input":""}`)
	if status := p.ended(1); status != "completed" || p.count(event.TurnStartType) != 1 {
		t.Errorf("the run ended %s: %s", status, types(p.log("main")))
	}
	heard := map[protocol.Queue][]int{}
	asked := model.asked()
	for _, m := range asked[len(asked)-1] {
		for _, word := range strings.Fields(fmt.Sprint(m.Content)) {
			var i int
			if n, _ := fmt.Sscanf(word, "text-%d.", &i); n == 1 && m.Role == "user" {
				heard[queues[i%3]] = append(heard[queues[i%3]], i)
			}
		}
	}
	for k, queue := range queues {
		for n := range 16 {
			if len(heard[queue]) != 16 || heard[queue][n] != 3*n+k {
				t.Fatalf("of %s the model heard %v", queue, heard[queue])
			}
		}
	}
}

// TestA16RunsFromEveryDoorAtOnceAreOneAfterTheOther: waking texts, REST, the run wire and
// a compaction. What was accepted is said once, what was refused never.
func TestA16RunsFromEveryDoorAtOnceAreOneAfterTheOther(t *testing.T) {
	model := newStand(t, func(a *answer) { a.say("well") })
	p := reported(t, model, "")
	s := p.serve()
	s.post(http.StatusCreated, "/sessions", `{"id":"main"}`)
	w := s.runWire(secret)
	agent := s.dial()
	var accepted sync.Map
	var doors sync.WaitGroup
	for i := range 10 {
		doors.Go(func() {
			input := fmt.Sprintf("rest-%d.", i)
			status, body := s.ask(secret, "POST", "/api/v1/sessions/main/runs", fmt.Sprintf(`{"input":%q}`, input))
			if status != http.StatusCreated && status != http.StatusConflict {
				t.Errorf("a run over REST: %d %s", status, body)
			}
			accepted.Store(input, status == http.StatusCreated)
		})
	}
	doors.Go(func() {
		if status, body := s.ask(secret, "POST", "/api/v1/sessions/main/compact", ""); status != http.StatusOK && status != http.StatusConflict {
			t.Errorf("a compaction: %d %s", status, body)
		}
	})
	for i := range 20 {
		if _, err := agent.Inject(fmt.Sprintf("wake-%d.", i), true, ""); err != nil {
			t.Fatal(err)
		}
		w.send(fmt.Sprintf(`{"type":"run.create","payload":{"session_id":"main","input":"wire-%d."}}`, i))
	}
	doors.Wait()
	p.until("all is said and done", func() bool {
		n := 0
		for _, l := range p.log("main") {
			n += strings.Count(l.raw, `"text":"wake-`)
		}
		return n == 20 && get[protocol.Session](s, "/sessions/main").Status == protocol.StatusIdle
	})
	open, said := false, map[string]int{}
	for _, l := range p.log("main") {
		switch l.Type {
		case event.TurnStartType, event.TurnEndType:
			if begins := l.Type == event.TurnStartType; begins == open {
				t.Fatalf("seq %d: %s while a turn is open: %v", l.Seq, l.Type, open)
			}
			open = !open
		case event.UserMessageType, event.ContextInjectedType:
			said[l.Payload.Text]++
		}
	}
	accepted.Range(func(input, taken any) bool {
		if n := said[input.(string)]; n > 1 || (n == 1) != taken.(bool) {
			t.Errorf("%s was accepted: %v, and said %d times", input, taken, n)
		}
		return true
	})
	for text, n := range said {
		if n != 1 {
			t.Errorf("%s was said %d times", text, n)
		}
	}
}

// TestA09WhoComesBackToAPageLearnsHowTheRunStands: before its first piece, and behind a
// failure that nobody was there to see.
func TestA09WhoComesBackToAPageLearnsHowTheRunStands(t *testing.T) {
	begin, fail := make(chan struct{}), make(chan struct{})
	model := newStand(t, func(a *answer) {
		if a.n == 0 {
			<-begin
			a.say("late but whole")
			return
		}
		<-fail
		a.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(a, `{"error":{"message":"out of hay"}}`)
	})
	p := reported(t, model, "")
	s := p.serve()
	s.post(http.StatusCreated, "/sessions", `{"id":"main"}`)
	run := s.started("go")
	p.until("the model is asked", func() bool { return len(model.asked()) == 1 })
	if x := get[protocol.Session](s, "/sessions/main"); x.Status != protocol.StatusRunning || x.LiveRunID != run {
		t.Errorf("before the first piece: %+v", x)
	}
	w := s.runWire(secret) // hears it without asking
	w.until(func(f wireFrame) bool { return f.Type == protocol.TypeRunStarted && f.Payload.RunID == run })
	close(begin)
	w.until(over)
	w.ws.CloseNow()
	run = s.started("again")
	close(fail)
	p.ended(2)
	p.until("the list says so", func() bool { return get[protocol.Session](s, "/sessions/main").Status == protocol.StatusFailed })
	x := get[protocol.Session](s, "/sessions/main")
	if x.LiveRunID != "" || x.LastError == nil || !strings.Contains(x.LastError.Message, "out of hay") {
		t.Errorf("behind the failure: %+v", x)
	}
	w = s.runWire(secret)
	w.send(fmt.Sprintf(`{"type":"run.subscribe","payload":{"run_id":%q}}`, run))
	all := w.until(over)
	if last := all[len(all)-1]; last.Type != protocol.TypeRunError || !strings.Contains(last.raw, "out of hay") {
		t.Errorf("the end that comes again: %s", last.raw)
	}
}
