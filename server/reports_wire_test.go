//go:build unix

package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hitchpost/server/protocol"
	"hitchpost/turn/event"
)

// Faults that users of other systems have reported, tried over the run wire and REST.

// get asks over REST as the owner, wants 200 and decodes the answer.
func get[T any](s *running, path string) (v T) {
	s.t.Helper()
	status, body := s.ask(secret, "GET", "/api/v1"+path, "")
	if err := json.Unmarshal([]byte(body), &v); err != nil || status != http.StatusOK {
		s.t.Fatalf("GET %s: %d %.300s, %v", path, status, body, err)
	}
	return v
}

// post sends a command over REST and wants that status; it returns the answer.
func (s *running) post(status int, path, body string, headers ...string) string {
	s.t.Helper()
	got, answer := s.ask(secret, "POST", "/api/v1"+path, body, headers...)
	if got != status {
		s.t.Fatalf("POST %s %s: %d %.300s, want %d", path, body, got, answer, status)
	}
	return answer
}

// started starts a run of main over REST and returns its id.
func (s *running) started(input string) string {
	s.t.Helper()
	var run protocol.RunOutcome
	if err := json.Unmarshal([]byte(s.post(http.StatusCreated, "/sessions/main/runs", fmt.Sprintf(`{"input":%q}`, input))), &run); err != nil {
		s.t.Fatal(err)
	}
	return run.RunID
}

// TestA05WhoComesBackSeesEachPieceOnceAndUnderOneId: five returns in mid stream, twice
// with two subscribes back to back; live, replay and REST have the same ids and bytes.
func TestA05WhoComesBackSeesEachPieceOnceAndUnderOneId(t *testing.T) {
	on := make(chan struct{})
	var said strings.Builder
	for i := range 60 {
		fmt.Fprintf(&said, "piece%d ", i)
	}
	model := newStand(t, func(a *answer) {
		for i := range 60 {
			a.send(text(fmt.Sprintf("piece%d ", i)))
			if i%10 == 9 {
				<-on
			}
		}
		a.send(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]")
	})
	p := reported(t, model, "")
	s := p.serve()
	s.post(http.StatusCreated, "/sessions", `{"id":"main"}`)
	run := s.started("go")
	bySeq := map[int64]string{}
	deltas, cursor, entry := map[int64]string{}, int64(0), ""
	take := func(w *runWire, until func(wireFrame) bool) {
		for _, f := range w.until(until) {
			if f.Payload.RunID != run || f.Seq == 0 {
				continue
			}
			if old, again := bySeq[f.Seq]; again && old != f.raw {
				t.Errorf("seq %d was %s, and is %s", f.Seq, old, f.raw)
			}
			bySeq[f.Seq], cursor = f.raw, f.Seq
			if f.Type == protocol.TypeRunDelta {
				deltas[f.Seq] = f.Payload.Delta
				if entry != "" && f.Payload.EntryID != entry {
					t.Errorf("a delta of %s, the others of %s", f.Payload.EntryID, entry)
				}
				entry = f.Payload.EntryID
			}
		}
	}
	for round := range 6 {
		w := s.runWire(secret)
		if round > 0 {
			frame := fmt.Sprintf(`{"type":"run.subscribe","payload":{"run_id":%q,"from_seq":%d}}`, run, cursor)
			w.send(frame)
			if round%2 == 0 {
				w.send(frame)
			}
		}
		last := fmt.Sprintf("piece%d ", 10*round+9)
		take(w, func(f wireFrame) bool { return f.Payload.Delta == last })
		on <- struct{}{}
		if round == 5 {
			take(w, over)
		}
		w.ws.CloseNow()
	}
	heard := ""
	for _, seq := range slices.Sorted(maps.Keys(deltas)) {
		heard += deltas[seq]
	}
	if heard != said.String() {
		t.Errorf("heard %q", heard)
	}
	again := s.runWire(secret) // a reload: all of it, from the log
	again.send(fmt.Sprintf(`{"type":"run.subscribe","payload":{"run_id":%q}}`, run))
	for _, f := range again.until(over) {
		if f.Seq != 0 && f.raw != bySeq[f.Seq] {
			t.Errorf("replayed %s, live it was %s", f.raw, bySeq[f.Seq])
		}
	}
	history := get[[]struct {
		ID   string
		Kind string
	}](s, "/sessions/main/messages")
	if last := history[len(history)-1]; last.ID != entry {
		t.Errorf("REST has the answer as %s, its deltas were of %s", last.ID, entry)
	}
}

// TestA08ACursorOfAnotherLifeOfTheLogIsAnsweredByName: an older backup in the place of the
// file, and values that are none.
func TestA08ACursorOfAnotherLifeOfTheLogIsAnsweredByName(t *testing.T) {
	model := newStand(t, func(a *answer) { a.say("well") })
	p := reported(t, model, "")
	s := p.serve()
	s.post(http.StatusCreated, "/sessions", `{"id":"main"}`)
	s.post(http.StatusOK, "/sessions/main/runs", `{"input":"one"}`, "Prefer", "wait=30")
	kept := get[[]struct{ ID string }](s, "/sessions/main/messages")
	run := s.runOf("main")
	if _, errs, code := p.run("backup", filepath.Join(p.dir, "old.db")); code != 0 {
		t.Fatal(errs)
	}
	s.post(http.StatusOK, "/sessions/main/runs", `{"input":"two"}`, "Prefer", "wait=30")
	lost := s.runOf("main")
	tip := get[protocol.Session](s, "/sessions/main").LastSeq
	s.term()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		os.Remove(filepath.Join(p.dir, "hitchpost.db"+suffix))
	}
	if err := os.Rename(filepath.Join(p.dir, "old.db"), filepath.Join(p.dir, "hitchpost.db")); err != nil {
		t.Fatal(err)
	}
	s = p.serve()
	w := s.runWire(secret)
	for payload, code := range map[string]protocol.Code{
		fmt.Sprintf(`{"run_id":%q,"from_seq":%d}`, run, tip):   protocol.CodeBadFrame,
		fmt.Sprintf(`{"run_id":%q,"from_seq":%d}`, lost, tip):  protocol.CodeRunNotFound,
		`{"run_id":"` + run + `","from_seq":-1}`:               protocol.CodeBadFrame,
		`{"run_id":"` + run + `","from_seq":1.5}`:              protocol.CodeBadFrame,
		`{"run_id":"` + run + `","from_seq":"7"}`:              protocol.CodeBadFrame,
		`{"run_id":"` + run + `","from_seq":null}`:             protocol.CodeBadFrame,
		`{"run_id":"` + run + `","from_seq":9007199254740992}`: protocol.CodeBadFrame,
	} {
		w.send(`{"type":"run.subscribe","payload":` + payload + `}`)
		all := w.until(func(f wireFrame) bool { return f.Type == protocol.TypeRunError })
		if got := all[len(all)-1].Payload.Code; got != code {
			t.Errorf("%s: %s, want %s", payload, got, code)
		}
	}
	for cursor, want := range map[string]int{fmt.Sprint(tip): http.StatusBadRequest, "-1": 400, "1.5": 400, "null": 400, "9007199254740992": 400} {
		if status, body := s.ask(secret, "GET", "/api/v1/runs/"+run+"/events?from_seq="+cursor, ""); status != want {
			t.Errorf("the stream from %s: %d %s", cursor, status, body)
		}
	}
	if status, _ := s.ask(secret, "GET", "/api/v1/runs/"+lost+"/events", ""); status != http.StatusNotFound {
		t.Errorf("a run that the backup does not have: %d", status)
	}
	if now := get[[]struct{ ID string }](s, "/sessions/main/messages"); !slices.Equal(now, kept) {
		t.Errorf("the history is %v, it was %v", now, kept)
	}
	s.ask(secret, "DELETE", "/api/v1/sessions/main", "") // and an id is never the name of another log
	if status, _ := s.ask(secret, "POST", "/api/v1/sessions", `{"id":"main"}`); status != http.StatusConflict {
		t.Errorf("the id of a deleted session: %d", status)
	}
}

// runOf is the newest run of a session.
func (s *running) runOf(session string) string {
	s.t.Helper()
	entries := get[[]struct {
		RunID string `json:"run_id"`
	}](s, "/sessions/"+session+"/messages")
	return entries[len(entries)-1].RunID
}

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

// TestA24TextIsTheSameBytesOnEveryWay: to the model and back, byte by byte, as deltas, as
// entries, over REST, and in the next request.
func TestA24TextIsTheSameBytesOnEveryWay(t *testing.T) {
	const hard = "漢字 👩‍👩‍👧‍👦 e\u0301 \u2028\u2029\u0085\r\x7f\u200f a<b && c>d </script> \\u0041 \"q\""
	quoted, err := json.Marshal(hard)
	if err != nil {
		t.Fatal(err)
	}
	model := newStand(t, func(a *answer) {
		for _, b := range []byte(`data: {"choices":[{"index":0,"delta":{"content":` + string(quoted) + "}}]}\n\n") {
			a.Write([]byte{b})
			a.ResponseWriter.(http.Flusher).Flush()
		}
		a.send(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]")
	})
	p := reported(t, model, "")
	s := p.serve()
	s.post(http.StatusCreated, "/sessions", `{"id":"main"}`)
	w := s.runWire(secret)
	for range 2 {
		w.send(`{"type":"run.create","payload":{"session_id":"main","input":` + string(quoted) + `}}`)
		heard := ""
		for _, f := range w.until(over) {
			heard += f.Payload.Delta
		}
		if heard != hard {
			t.Errorf("the deltas say %q", heard)
		}
	}
	entries := get[[]struct {
		Payload struct {
			Content []struct{ Text string }
		}
	}](s, "/sessions/main/messages")
	if len(entries) != 4 {
		t.Fatalf("%d entries", len(entries))
	}
	for i, e := range entries {
		if len(e.Payload.Content) != 1 || e.Payload.Content[0].Text != hard {
			t.Errorf("entry %d is %q", i, e.Payload.Content)
		}
	}
	for _, m := range model.asked()[1] {
		if m.Role != "system" && m.Content != hard {
			t.Errorf("the model heard %q", m.Content)
		}
	}
}
