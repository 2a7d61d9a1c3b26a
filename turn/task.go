package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/tool"
)

// TaskName names the tool that runs subagents.
const TaskName = "Task"

const (
	taskDescription = "Hands a task to a subagent, which works on it in a session of its own, with the tools of this one, and answers once. " +
		"It sees nothing of this conversation but the prompt. Tools that need a person's approval are denied there. " +
		"Several calls of one reply run at the same time."
	taskSchema = `{"type":"object","properties":{` +
		`"description":{"type":"string","description":"the task in three to five words"},` +
		`"prompt":{"type":"string","minLength":1,"description":"the whole task, with all that is needed to do it, and what to answer with"}},` +
		`"required":["description","prompt"],"additionalProperties":false}`
)

// TaskTool is the tool that lets agents of this host run subagents.
func (h *Host) TaskTool() tool.Tool {
	return tool.Tool{
		Name: TaskName, Description: taskDescription, Schema: json.RawMessage(taskSchema),
		Approval: tool.Never, Parallel: true, Run: h.runTask,
	}
}

// runTask lets a fresh session work on the prompt and waits until it has ended. Its
// turn ends before the call does, whatever happens but the end of the host.
func (h *Host) runTask(ctx context.Context, call tool.Call) tool.Result {
	var args struct{ Prompt string }
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return tool.Fail(err.Error())
	}
	caller := h.holdInMemory(call.Session)
	if caller == nil {
		return tool.Fail("no subagent was started: " + TaskName + " is for agents to call")
	}
	defer caller.Release() // not before this call returns, though its turn may be cut before
	child, err := h.spawnSubagent(ctx, caller, call.ID)
	if err != nil {
		return tool.Fail("no subagent was started: " + err.Error())
	}
	defer caller.dismiss(call.ID, child)
	err = caller.instruct(call.ID, child, args.Prompt)
	if err == nil {
		child.accompany(ctx)
	} else if !errors.Is(err, ErrDraining) {
		return tool.Fail(fmt.Sprintf("subagent session %s did not start: %v", child.id, err))
	}
	return h.outcome(ctx, caller, call.ID, child)
}

func (h *Host) holdInMemory(id string) *Agent {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.agents[id]
	if a != nil {
		a.refs++
	}
	return a
}

// subagentID is the session of a call's subagent. It follows from the call, so that
// a process that finds the call open finds the session too.
func subagentID(caller, turn, call string) string {
	return "task-" + event.Derived(caller+" "+turn+" "+call)
}

// spawnSubagent creates the session and holds its agent. It works under the policy
// that its caller is under, and keeps that, so a narrowed agent cannot widen itself.
func (h *Host) spawnSubagent(ctx context.Context, caller *Agent, callID string) (*Agent, error) {
	var session store.Session
	var policy []string
	err := caller.do(context.Background(), func() error {
		if err := caller.mayStart(callID); err != nil {
			return err
		}
		id := subagentID(caller.id, caller.st.turn.id, callID)
		session = store.Session{ID: id, Owner: caller.owner, Agent: caller.definition(), ParentID: caller.id}
		policy = caller.policy()
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !h.room(session.ID) {
		return nil, ErrTooManyAgents
	}
	if err := h.bear(ctx, session, event.SessionCreated{ParentID: &caller.id}, event.PolicyUpdated{Patterns: policy}); err != nil {
		return nil, err
	}
	return h.hold(ctx, session)
}

// mayStart tells whether the call still wants a subagent.
func (a *Agent) mayStart(callID string) error {
	if a.jobOf(callID) == nil || a.cancel != nil && a.cancel.Mode != Graceful {
		return errCancelled
	}
	return nil
}

// instruct begins the subagent's turn. From here on a stop of the caller reaches it:
// both are messages of the caller's goroutine, in this order.
func (a *Agent) instruct(callID string, child *Agent, prompt string) error {
	begun := make(chan error, 1)
	err := a.do(context.Background(), func() error {
		if err := a.mayStart(callID); err != nil {
			return err
		}
		a.jobOf(callID).child = child
		child.tell(func() {
			begun <- child.obey(func() error { return child.inject(child.host.ctx, Inject{Text: prompt, Wake: true}) })
		})
		return nil
	})
	if err != nil {
		return err
	}
	return <-begun
}

// dismiss gives the subagent back, behind any stop that was sent to it.
func (a *Agent) dismiss(callID string, child *Agent) {
	a.tell(func() {
		if j := a.jobOf(callID); j != nil {
			j.child = nil
		}
		child.Release()
	})
}

// accompany waits until the subagent's turn has ended. When the call is cut, so is
// the turn, by whoever aborted the caller or else from here; the end of the host
// leaves it open.
func (a *Agent) accompany(ctx context.Context) {
	select {
	case <-a.atRest():
		return
	case <-ctx.Done():
	}
	if a.host.ctx.Err() == nil && context.Cause(ctx) != errCancelled {
		a.stopAsSubagent(Stop{Mode: Abort})
	}
	<-a.atRest()
}

// stopAsSubagent stops the turn because the caller's stops, without waiting for it.
func (a *Agent) stopAsSubagent(s Stop) {
	s.Cause, s.Resumable = "", true
	a.tell(func() { _ = a.obey(func() error { return a.stop(s) }) }) // it may have ended; a failed append has stopped it
}

// stopOrphan ends the turn of a subagent whose call was cut by the death of a process.
func (a *Agent) stopOrphan(c *call) {
	h, id := a.host, subagentID(a.id, a.st.turn.id, c.ID)
	a.spawn(func() func() {
		session, err := h.store.Session(h.ctx, id)
		if err == nil {
			err = h.stopLeft(session)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrDeleted) {
			h.logger().Error("a subagent that a restart left could not be stopped", "session", id, "err", err)
		}
		return func() {}
	})
}

func (h *Host) stopLeft(session store.Session) error {
	child, err := h.holdWithin(h.ctx, session, math.MaxInt) // for a moment; a full host must not keep it open
	if err != nil {
		return err
	}
	defer child.Release()
	reason := "its caller was interrupted"
	err = child.Stop(h.ctx, Stop{Mode: Abort, Reason: &reason, Resumable: true})
	if errors.Is(err, ErrNotRunning) {
		return nil // it had ended
	}
	return err
}

// outcome is what the caller's model is told. A subagent that the drain has stopped
// has none yet: the call waits for its end with the host, and stays owed.
func (h *Host) outcome(ctx context.Context, caller *Agent, callID string, child *Agent) tool.Result {
	read := context.Background() // also behind the call's end
	mark, found, err := child.log.Newest(read, -1, string(event.TurnStartType), string(event.TurnEndType))
	if err != nil {
		return tool.Fail(fmt.Sprintf("subagent session %s: its log cannot be read: %v", child.id, err))
	}
	if !found || event.Type(mark.Type) != event.TurnEndType {
		if h.isDraining() {
			caller.abandon(callID)
			<-ctx.Done()
		}
		return tool.Fail(fmt.Sprintf("subagent session %s stopped before its turn ended", child.id))
	}
	p, err := as[event.TurnEnd](mark)
	if err != nil {
		return tool.Fail(fmt.Sprintf("subagent session %s: %v", child.id, err))
	}
	end := p.(event.TurnEnd)
	if ctx.Err() != nil && end.Status != event.Completed {
		return tool.Fail(fmt.Sprintf("subagent session %s was stopped", child.id))
	}
	text, err := lastText(read, child.log)
	if err != nil {
		return tool.Fail(fmt.Sprintf("subagent session %s: %v", child.id, err))
	}
	return answer(child.id, text, end)
}

// abandon lets a draining caller rest although the call has not ended.
func (a *Agent) abandon(callID string) {
	a.tell(func() {
		if j := a.jobOf(callID); j != nil {
			j.abandoned = true
			a.restIfParked()
		}
	})
}

// answer puts a subagent's last words before a line that names its session.
func answer(session, text string, end event.TurnEnd) tool.Result {
	if text == "" {
		text = "(no reply)"
	}
	told := text + "\n\n---\nsubagent session " + session
	switch {
	case end.Status == event.Completed:
		return tool.Text(told)
	case end.Error != nil:
		return tool.Result{Error: fmt.Sprintf("%s\nended %s: %s", told, end.Status, end.Error.Message), Cause: string(end.Error.Code)}
	case end.Reason != nil:
		return tool.Text(fmt.Sprintf("%s\nended %s: %s", told, end.Status, *end.Reason))
	default:
		return tool.Text(fmt.Sprintf("%s\nended %s", told, end.Status))
	}
}

// lastText returns the last thing that the session's model said, "" for nothing.
func lastText(ctx context.Context, log *store.Log) (string, error) {
	for before := int64(-1); ; {
		ev, found, err := log.Newest(ctx, before, string(event.AssistantMessageType))
		if err != nil || !found {
			return "", err
		}
		p, err := as[event.AssistantMessage](ev)
		if err != nil {
			return "", err
		}
		for _, part := range p.(event.AssistantMessage).Parts {
			if part.Type == event.PartText && part.Text != "" {
				return part.Text, nil
			}
		}
		before = ev.Seq
	}
}
