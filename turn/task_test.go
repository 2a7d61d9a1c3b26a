package turn

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/tool"
)

const scriptedTask = `model call:t1:Task:{"description":"look","prompt":"find"}
	`

// subagent returns the only session that has a parent.
func (w *world) subagent() store.Session {
	w.t.Helper()
	sessions, err := w.store.Sessions(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range sessions {
		if s.ParentID != "" {
			return s
		}
	}
	w.t.Fatal("no subagent")
	return store.Session{}
}

// logOf reads the log of another session than s1.
func (w *world) logOf(id string) []store.Event {
	w.t.Helper()
	log, err := w.store.OpenLog(context.Background(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	defer log.Close()
	return wholeLog(w.t, log)
}

// TestASubagentIsASessionOfItsCallersOwnerAndDefinition, whose id is one that an agent
// may have, and that its caller's model is told. Guarantee 14.
func TestASubagentIsASessionOfItsCallersOwnerAndDefinition(t *testing.T) {
	w := newWorld(t)
	w.play(scriptedTask + `model "done"
		model-of find "Found."
		wake go
		idle`)
	s := w.subagent()
	if s.ParentID != "s1" || s.Owner != "me" || s.Agent != DefaultAgent || !regexp.MustCompile(`^[A-Za-z0-9._:@-]{1,128}$`).MatchString(s.ID) {
		t.Errorf("the subagent is %+v", s)
	}
	if log := render(w.log()); strings.Count(log, "subagent session minted") != 1 {
		t.Errorf("the caller is not told the session:\n%s", log)
	}
	for _, req := range w.model.asked() {
		if req.Messages[0].Text == "find" && len(req.Messages) != 1 {
			t.Errorf("the subagent sees %+v, want the prompt alone", req.Messages)
		}
	}
}

// TestATaskThatTimesOutStopsItsSubagent, and the result names it.
func TestATaskThatTimesOutStopsItsSubagent(t *testing.T) {
	synctest.Test(t, aTaskThatTimesOutStopsItsSubagent)
}

func aTaskThatTimesOutStopsItsSubagent(t *testing.T) {
	w := newWorld(t)
	w.cfg.ToolTimeout = 50 * time.Millisecond
	w.host.Reload(w.cfg)
	w.play(scriptedTask + `model "too slow"
		model-of find "so " @never
		wake go
		idle`)
	id := w.subagent().ID
	log := w.logOf(id)
	checkInvariants(t, log)
	if isOpen(log) {
		t.Errorf("the subagent's turn is open:\n%s", render(log))
	}
	result, _, _ := w.agent.Log().Newest(context.Background(), -1, string(event.ToolResultType))
	if text := string(result.Payload); !strings.Contains(text, "Task timed out after 50ms: subagent session "+id) {
		t.Errorf("the result is %s", text)
	}
}

// TestADrainDoesNotWaitForACallWhoseSubagentItStopped: the subagent's step ends within
// the grace, both turns stay open, and the next stimulus of the caller ends both.
func TestADrainDoesNotWaitForACallWhoseSubagentItStopped(t *testing.T) {
	w := newWorld(t)
	w.play(scriptedTask + `model-of find call:c1:fast:{"gate":"g"}
		wake go
		await g`)
	drained := make(chan error)
	go func() { drained <- w.host.Drain(1 << 62) }()
	<-w.host.draining
	w.gates.open("g")
	if err := <-drained; err != nil {
		t.Fatal(err)
	}
	w.drained = true
	id := w.subagent().ID
	for _, log := range [][]store.Event{w.log(), w.logOf(id)} {
		if !isOpen(log) || count(log, event.ToolResultType) == 1 && event.Type(log[len(log)-1].Type) != event.StepEndType {
			t.Errorf("the drain left\n%s", render(log))
		}
	}
	w.play(`restart
		model "went on"
		wake go on
		ended
		closed`)
	checkInvariants(t, w.log())
	if end := w.logOf(id); !strings.Contains(string(end[len(end)-1].Payload)+string(end[len(end)-2].Payload), string(event.Cancelled)) {
		t.Errorf("the subagent was left\n%s", render(end))
	}
}

// TestACancelThatRacesTheBirthOfASubagentLeavesNoneRunning: whichever comes first.
func TestACancelThatRacesTheBirthOfASubagentLeavesNoneRunning(t *testing.T) {
	w := newWorld(t)
	for i := range rounds(t, 100) {
		w.agent.Release()
		w.agent = w.hold(fmt.Sprintf("caller-%d", i))
		w.play(fmt.Sprintf(`model-of go-%[1]d call:t1:Task:{"description":"look","prompt":"find-%[1]d"}
			model-of find-%[1]d @never
			wake go-%[1]d
			logged tool/call
			cancel
			ended
			closed`, i))
		checkInvariants(t, w.log())
	}
}

// TestTaskIsForAgentsToCall: without a caller in memory there is nobody to answer to.
func TestTaskIsForAgentsToCall(t *testing.T) {
	w := newWorld(t)
	task := w.host.TaskTool()
	if task.Asks() || task.Repeatable || !task.Parallel {
		t.Errorf("the tool is %+v", task)
	}
	if r := task.Run(context.Background(), tool.Call{Session: "nobody", ID: "c1", Args: []byte(`{"description":"d","prompt":"p"}`)}); r.Error == "" {
		t.Errorf("it ran: %s", r.Content)
	}
}

// rounds is how often a race is run: less where each round is slow.
func rounds(t *testing.T, n int) int {
	t.Helper()
	if testing.Short() || raceDetector {
		return max(n/10, 10)
	}
	return n
}
