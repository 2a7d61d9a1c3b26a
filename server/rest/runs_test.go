package rest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hitchpost/server/protocol"
	"hitchpost/turn/event"
)

func TestARunIsStartedAndShown(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	w.model.Answers("hello ", pause, "there")
	r := w.ask(http.StatusCreated, "POST", "/sessions/s/runs", `{"input":"hi"}`)
	made := parse[protocol.RunOutcome](t, r)
	if made.SessionID != "s" || made.Status != protocol.RunStatusRunning || r.header.Get("Location") != "/api/v1/runs/"+made.RunID {
		t.Errorf("started %s, Location %s", r.body, r.header.Get("Location"))
	}
	<-w.model.Reached
	run := parse[protocol.Run](t, w.ask(http.StatusOK, "GET", "/runs/"+made.RunID, ""))
	if run.Status != protocol.RunStatusRunning || run.FirstSeq != 1 || run.LastSeq < 3 {
		t.Errorf("running: %+v", run)
	}
	w.as("all", "POST", "/sessions/s/runs", `{"input":"x"}`).refused(t, http.StatusConflict, "open")
	stream := w.stream(made.RunID, 0)
	w.model.Resume <- struct{}{}
	stream.rest()
	run = parse[protocol.Run](t, w.ask(http.StatusOK, "GET", "/runs/"+made.RunID, ""))
	end, _, err := w.log("s").Newest(t.Context(), -1, string(event.TurnEndType))
	if run.Status != protocol.RunStatusCompleted || run.LastSeq != end.Seq || err != nil {
		t.Errorf("over: %+v, its end is at %d, %v", run, end.Seq, err)
	}
}

func TestABadRunIsRefusedAndNothingOfItIsInTheLog(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	for _, c := range []struct {
		body, words string
		headers     []string
	}{
		{`{}`, "input is missing", nil},
		{`{"input":7}`, "input must be a string", nil},
		{`{"input":"x","mode":"continue"}`, "unknown member", nil},
		{`{"input":"x","agent":"nobody"}`, "nobody", nil},
		{`{"input":"x","agent":"broken"}`, "broken", nil},
		{`{"input":"x"}`, "600", []string{"Prefer", "wait=601"}},
		{`{"input":"x"}`, "wait", []string{"Prefer", "wait=soon"}},
		{`{"input":"x"}`, "wait", []string{"Prefer", "wait=-1"}},
		{`{"input":"x"}`, "Idempotency-Key", []string{"Idempotency-Key", ""}},
		{`{"input":"x"}`, "Idempotency-Key", []string{"Idempotency-Key", strings.Repeat("k", 256)}},
		{`{"input":"x"}`, "Idempotency-Key", []string{"Idempotency-Key", "ké"}},
	} {
		w.as("all", "POST", "/sessions/s/runs", c.body, c.headers...).refused(t, http.StatusBadRequest, c.words)
	}
	if types := w.types("s"); len(types) != 1 {
		t.Errorf("the log holds %v", types)
	}
}

// guarantee 4; run wire, Idempotency-Key
func TestOneKeyMakesOneRunHoweverManyAskAtOnce(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	w.model.Answers("a", pause, "b")
	replies := make([]reply, 20)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() {
			replies[i] = w.as("all", "POST", "/sessions/s/runs", `{"input":"go"}`, "Idempotency-Key", "key-1")
		})
	}
	wg.Wait()
	id := parse[protocol.RunOutcome](t, replies[0]).RunID
	for _, r := range replies {
		if got := parse[protocol.RunOutcome](t, r); r.status != http.StatusCreated || got.RunID != id || id == "" {
			t.Errorf("%d %s, want the run %s", r.status, r.body, id)
		}
	}
	<-w.model.Reached
	w.as("all", "POST", "/sessions/s/runs", `{"input":"other"}`, "Idempotency-Key", "key-1").refused(t, http.StatusConflict, "key")
	w.model.Resume <- struct{}{}
	w.stream(id, 0).rest()
	got := parse[protocol.RunOutcome](t, w.ask(http.StatusCreated, "POST", "/sessions/s/runs", `{"input":"go"}`, "Idempotency-Key", "key-1"))
	if got.RunID != id || got.Status != protocol.RunStatusCompleted {
		t.Errorf("after its end: %+v", got)
	}
	starts := 0
	for _, typ := range w.types("s") {
		if typ == event.TurnStartType {
			starts++
		}
	}
	if starts != 1 {
		t.Errorf("%d runs, want 1", starts)
	}
}

func TestWaitingForARunTellsItsOutcome(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	got := w.outcome("s", "hi", "all ", "well")
	got.want(t, http.StatusOK)
	if x := parse[protocol.RunOutcome](t, got); x.Status != protocol.RunStatusCompleted || x.FinalOutput == nil || *x.FinalOutput != "all well" {
		t.Errorf("completed: %s", got.body)
	}
	if got.header.Get("Preference-Applied") != "wait=60" {
		t.Errorf("headers %v", got.header)
	}

	got = w.outcome("s", "hi", fails)
	got.want(t, http.StatusBadGateway)
	if x := parse[protocol.RunOutcome](t, got); x.Status != protocol.RunStatusError || x.RunID == "" || x.FinalOutput != nil {
		t.Errorf("failed: %s", got.body)
	}
	got.refused(t, http.StatusBadGateway, "model_refusal: it does not want to")

	got = w.outcome("s", "hi", asks)
	got.want(t, http.StatusOK)
	x := parse[protocol.RunOutcome](t, got)
	if want := (protocol.PendingCall{ToolCallID: "c1", ToolName: "ask", Arguments: `{"n":1.0}`}); x.Status != protocol.RunStatusInterrupted || len(x.Interrupted) != 1 || x.Interrupted[0] != want {
		t.Errorf("interrupted: %s", got.body)
	}

	// A new run takes the place of the parked one.
	w.model.Answers("x", pause)
	got = w.as("all", "POST", "/sessions/s/runs", `{"input":"again"}`, "Prefer", "respond-async, wait=0")
	got.want(t, http.StatusAccepted)
	running := parse[protocol.RunOutcome](t, got)
	if running.Status != protocol.RunStatusRunning || running.RunID == x.RunID {
		t.Errorf("running: %s", got.body)
	}
	<-w.model.Reached
	if old := parse[protocol.Run](t, w.ask(http.StatusOK, "GET", "/runs/"+x.RunID, "")); old.Status != protocol.RunStatusCancelled {
		t.Errorf("the one before: %+v", old)
	}
	w.ask(http.StatusAccepted, "POST", "/runs/"+running.RunID+"/cancel", "")
}

func TestWaitingForARunThatIsCancelledTellsSo(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	w.model.Answers("x", pause)
	answered := make(chan reply)
	go func() {
		answered <- w.as("all", "POST", "/sessions/s/runs", `{"input":"go"}`, "Prefer", "wait=60", "Idempotency-Key", "k")
	}()
	<-w.model.Reached
	id := parse[protocol.RunOutcome](t, w.ask(http.StatusCreated, "POST", "/sessions/s/runs", `{"input":"go"}`, "Idempotency-Key", "k")).RunID
	w.ask(http.StatusAccepted, "POST", "/runs/"+id+"/cancel?mode=abort", "")
	got := <-answered
	got.refused(t, http.StatusBadGateway, "stopped")
	if x := parse[protocol.RunOutcome](t, got); x.RunID != id || x.Status != protocol.RunStatusCancelled {
		t.Errorf("cancelled: %s", got.body)
	}
	w.ask(http.StatusAccepted, "POST", "/runs/"+id+"/cancel", "") // it has ended: silence
	w.as("all", "POST", "/runs/"+id+"/cancel?mode=slowly", "").refused(t, http.StatusBadRequest, "graceful")
}

// A run that a restart left open and whose resumption fails stays open, and nobody runs
// it: there is nothing to wait for.
func TestWaitingForARunThatNobodyRunsAnyMoreEndsAtOnce(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	w.model.Answers("x", pause)
	run := w.run("s", "go")
	<-w.model.Reached
	w.restart()
	got := w.outcome("s", "go on", fails)
	got.want(t, http.StatusAccepted)
	if x := parse[protocol.RunOutcome](t, got); x.RunID != run || x.Status != protocol.RunStatusResumable {
		t.Errorf("left open: %s", got.body)
	}
	if x := parse[protocol.Run](t, w.ask(http.StatusOK, "GET", "/runs/"+run, "")); x.Status != protocol.RunStatusResumable {
		t.Errorf("the run is %+v", x)
	}
	got = w.outcome("s", "go on", "there")
	if x := parse[protocol.RunOutcome](t, got); got.status != http.StatusOK || x.RunID != run || x.FinalOutput == nil {
		t.Errorf("resumed: %d %s", got.status, got.body)
	}
}

// guarantee 7
func TestAWaitingRequestEndsWithItsTokenAndItsSessionAndTheServer(t *testing.T) {
	for _, c := range []struct {
		name   string
		end    func(w *world)
		status int
	}{
		{"token", func(w *world) { w.keys.Replace(nil) }, http.StatusUnauthorized},
		{"session", func(w *world) { w.ask(http.StatusNoContent, "DELETE", "/sessions/s", "") }, http.StatusNotFound},
		{"server", func(w *world) { w.server.Drain() }, http.StatusServiceUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, settings{})
			w.session("s")
			w.model.Answers("x", pause)
			answered := make(chan reply)
			go func() {
				answered <- w.as("all", "POST", "/sessions/s/runs", `{"input":"go"}`, "Prefer", "wait=600")
			}()
			<-w.model.Reached
			for w.server.attached.count() == 0 {
				time.Sleep(time.Millisecond) // the request is on its way to where it waits
			}
			c.end(w)
			select {
			case got := <-answered:
				if got.status != c.status && !(c.name == "session" && got.status == http.StatusBadGateway) { // the abort that comes first
					t.Errorf("answered %d %s", got.status, got.body)
				}
			case <-time.After(patience):
				t.Fatal("it waits still")
			}
		})
	}
}

func TestATextIsInjectedIntoAnOpenRunAndWithdrawn(t *testing.T) {
	w := newWorld(t, settings{inbox: 3})
	run := w.parked("s")
	for i, queue := range []string{"steer", "next_turn", "follow_up"} {
		got := w.ask(http.StatusAccepted, "POST", "/runs/"+run+"/inject", fmt.Sprintf(`{"queue":%q,"input":"text %d"}`, queue, i))
		if got.body != "" {
			t.Errorf("a body: %s", got.body)
		}
	}
	w.as("all", "POST", "/runs/"+run+"/inject", `{"queue":"steer","input":"one more"}`).refused(t, http.StatusConflict, "full")
	items := parse[[]protocol.InboxItem](t, w.ask(http.StatusOK, "GET", "/sessions/s/inbox", ""))
	if len(items) != 3 || items[0].Queue != protocol.QueueSteer || items[1].Queue != protocol.QueueNextTurn || items[2].Text != "text 2" || items[2].QueuedAt == "" {
		t.Fatalf("the inbox is %+v", items)
	}
	w.ask(http.StatusNoContent, "DELETE", "/sessions/s/inbox/"+items[1].InputID, "")
	w.as("all", "DELETE", "/sessions/s/inbox/"+items[1].InputID, "").refused(t, http.StatusNotFound, "waits")
	if left := parse[[]protocol.InboxItem](t, w.ask(http.StatusOK, "GET", "/sessions/s/inbox", "")); len(left) != 2 || left[0] != items[0] || left[1] != items[2] {
		t.Errorf("left %+v", left)
	}
	for _, c := range []struct{ body, words string }{
		{`{"queue":"soon","input":"x"}`, "steer"}, {`{"queue":"steer","input":" "}`, "blank"}, {`{"input":"x"}`, "queue is missing"},
		{`{"queue":"steer"}`, "input is missing"}, {`{"queue":"","input":"x"}`, "queue"},
	} {
		w.as("all", "POST", "/runs/"+run+"/inject", c.body).refused(t, http.StatusBadRequest, c.words)
	}
	w.as("all", "POST", "/runs/"+run+"/inject", `{"queue":"steer","input":"`+strings.Repeat("x", maxBody)+`"}`).refused(t, http.StatusRequestEntityTooLarge, "")
	w.ask(http.StatusAccepted, "POST", "/runs/"+run+"/cancel?mode=graceful", "")
	w.stream(run, 0).rest()
	w.as("all", "POST", "/runs/"+run+"/inject", `{"queue":"steer","input":"x"}`).refused(t, http.StatusNotFound, "has ended")
}

func TestAStandingCallIsListedAndDecidedOnce(t *testing.T) {
	w := newWorld(t, settings{})
	one := w.parked("a")
	two := w.parked("b")
	list := parse[[]protocol.Approval](t, w.ask(http.StatusOK, "GET", "/approvals", ""))
	if len(list) != 2 || list[0].RunID != one || list[1].RunID != two || list[0].SessionID != "a" || list[0].ToolCallID != "c1" ||
		list[0].ToolName != "ask" || list[0].Arguments != `{"n":1.0}` || list[0].CreatedAt == "" || list[0].CreatedAt > list[1].CreatedAt {
		t.Fatalf("standing: %+v", list)
	}
	w.as("all", "POST", "/approvals/c1/approve", "").refused(t, http.StatusConflict, "run_id")
	w.as("all", "POST", "/approvals/c1/reject", "").refused(t, http.StatusConflict, "run_id")
	w.as("all", "POST", "/approvals/c2/approve", "").refused(t, http.StatusNotFound, "")
	w.as("all", "POST", "/approvals/c1/approve", `{"run_id":"`+strings.Repeat("0", 16)+`"}`).refused(t, http.StatusNotFound, "")
	w.as("all", "POST", "/approvals/c1/approve", `{"run_id":7}`).refused(t, http.StatusBadRequest, "run_id")
	w.as("all", "POST", "/approvals/c1/reject", `{"because":"no"}`).refused(t, http.StatusBadRequest, "because")

	w.ask(http.StatusAccepted, "POST", "/approvals/c1/approve", `{"run_id":"`+one+`","scope":"once"}`)
	w.stream(one, 0).rest()
	w.as("all", "POST", "/approvals/c1/approve", `{"run_id":"`+one+`"}`).refused(t, http.StatusNotFound, "")
	w.as("judge", "POST", "/approvals/c1/reject", `{"reason":"not today"}`).want(t, http.StatusAccepted) // one is left
	messages := w.stream(two, 0).rest()
	if !strings.Contains(fmt.Sprint(messages), "ask denied: not today") {
		t.Errorf("rejected: %v", messages)
	}
	if got := w.ask(http.StatusOK, "GET", "/approvals", ""); got.body != "[]\n" {
		t.Errorf("left standing: %s", got.body)
	}
	w.as("all", "POST", "/approvals/c1/reject", ``).refused(t, http.StatusNotFound, "")
	if events := w.ask(http.StatusOK, "GET", "/sessions/b/events?limit=1000", "").body; !strings.Contains(events, `"by":"judge"`) {
		t.Error("the log does not say who decided")
	}
}

func TestTwentyRunsAtOnceOnOneSessionAreOneRun(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	w.model.Answers("x", pause)
	var mu sync.Mutex
	statuses := map[int]int{}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			r := w.as("all", "POST", "/sessions/s/runs", `{"input":"go"}`)
			mu.Lock()
			statuses[r.status]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if statuses[http.StatusCreated] != 1 || statuses[http.StatusConflict] != 19 {
		t.Errorf("answered %v", statuses)
	}
	<-w.model.Reached
}

func TestAFullHouseAndADrainingServerAreTriedAgainLater(t *testing.T) {
	w := newWorld(t, settings{agents: 1})
	w.parked("a")
	w.session("b")
	got := w.as("all", "POST", "/sessions/b/runs", `{"input":"x"}`)
	got.refused(t, http.StatusServiceUnavailable, "too many agents")
	if got.header.Get("Retry-After") == "" {
		t.Error("a 503 without Retry-After")
	}
	w.ask(http.StatusOK, "GET", "/sessions/b/messages", "") // reading needs no agent
	w.server.Drain()
	w.as("all", "GET", "/sessions", "").refused(t, http.StatusServiceUnavailable, "shutting down")
}
