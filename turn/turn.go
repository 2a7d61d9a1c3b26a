package turn

import (
	"hitchpost/turn/event"
)

// Roles that this package asks a model in. The set is open for configurations.
const (
	RoleMain      = "main"      // answers
	RoleTitler    = "titler"    // names sessions; without one the first text does
	RoleCompactor = "compactor" // summarises histories; without one RoleMain does
)

// begin starts a turn: its mark, its first step and every text that the step reads
// are one append, so that no text can be lost between them. own is the text that
// started it, nil when the turn lives from texts that waited.
func (a *Agent) begin(own *Inject) {
	a.emit(event.TurnStart{Agent: a.def})
	spec, err := a.mainModel()
	if err != nil {
		a.reject(own, err)
		return
	}
	if own != nil && own.ID != "" {
		a.work.Seen = append(a.work.Seen, own.ID)
	}
	a.drive()
	a.beginStep(1, spec, own, everything)
}

// reject closes a turn that cannot even ask: its text goes back to the inbox, and
// nothing that waits wakes the agent again by itself.
func (a *Agent) reject(own *Inject, cause error) {
	if own != nil {
		a.enqueue(Inject{Text: own.Text, ID: own.ID, Queue: own.Queue})
	}
	a.calm(a.lastPosition())
	a.emit(event.TurnEnd{
		Status: event.Rejected, Error: &event.Error{Code: event.CodeConfig, Message: cause.Error()},
	})
}

// beginStep begins a step with the text that started its turn, if any, and with the
// waiting texts of the queues that it reads.
func (a *Agent) beginStep(n int, spec string, own *Inject, read func(queue string) bool) {
	id := event.NewID()
	a.emitAs(id, event.StepStart{N: n, Model: spec})
	a.fresh = id
	if own != nil {
		text := event.UserMessage{Text: own.Text, InputID: own.ID}
		if text.InputID == "" && own.Queue != socketQueue {
			text.InputID = event.NewID()
		}
		a.emit(text)
	}
	a.readInbox(read)
}

// resume takes up the turn that the log has open. A call whose tool/call is in the
// log may have run before the process died, unless it stood, was denied, or is
// decided by the very verdict that resumes.
func (a *Agent) resume(decided *call) {
	a.drive()
	a.resuming = true
	a.heedMark()
	a.wentOn = decided == nil && a.cancel == nil && len(a.allStanding()) == 0
	if s := a.st.turn.step; s != nil {
		for _, c := range s.owed() {
			c.stray = c.logged && !c.stands() && !c.denied() && c != decided
			if c.stray && c.Name == TaskName {
				a.stopOrphan(c)
			}
		}
	}
}

// settle takes the turn as far as it goes without waiting, and makes that durable.
// An append that fails on the way has stopped the turn and is the answer.
func (a *Agent) settle() error {
	for {
		more, err := a.advance()
		if err != nil {
			return err
		}
		if !more {
			return a.commit()
		}
	}
}

// advance does the next thing that the log asks for. It returns false when there
// is nothing to do before another message comes.
func (a *Agent) advance() (more bool, err error) {
	if !a.running || a.asking != nil || len(a.jobs) > 0 || a.compacting.holdsTurn() {
		return false, nil
	}
	t := a.st.turn
	switch {
	case t == nil:
		return a.afterTurn()
	case t.step == nil || t.step.ended:
		return a.boundary(t), nil
	case !t.step.replied:
		return a.unanswered(t.step)
	case len(t.step.owed()) > 0:
		return a.runCalls(t.step)
	default:
		end := event.StepEnd{N: t.step.n}
		if !a.resuming { // a step that a crash left open is closed without
			end.Usage = t.step.usage
		}
		a.emit(end)
		return true, nil
	}
}

// afterTurn names the session if it has no title, and begins the next turn if a
// text waits that wants one. Else there is time to summarise a history that has
// grown too long.
func (a *Agent) afterTurn() (more bool, err error) {
	a.cancel, a.resuming = nil, false
	if a.closed.Load() {
		a.refuseStart(ErrForeign)
		a.rest()
		return false, nil
	}
	a.title()
	if a.next != nil && !a.host.isDraining() {
		if err := a.beginNext(); a.st == nil {
			return false, err
		}
		return true, nil
	}
	if a.woken() && !a.host.isDraining() {
		a.begin(nil)
		return true, nil
	}
	if budget := a.host.config().Compaction; budget > 0 && a.st.prompt >= budget && !a.host.isDraining() {
		err = a.compact(nil)
	}
	a.rest()
	return false, err
}

// boundary decides between two steps: stop, go on, or end.
func (a *Agent) boundary(t *openTurn) (more bool) {
	if a.cancel != nil {
		a.endCancelled()
		return true
	}
	if a.host.isDraining() {
		a.rest()
		return false
	}
	last := t.step
	asked := last != nil && last.replied && len(last.calls) == 0 // the last reply asked for nothing
	limit := t.replies >= a.host.config().MaxSteps
	if asked && (!a.goesOn() || limit) {
		a.end(event.TurnEnd{Status: event.Completed})
		return true
	}
	if limit {
		a.fail(event.CodeMaxTurns, a.host.config().tooManySteps())
		return true
	}
	spec, err := a.mainModel()
	if err != nil {
		a.fail(event.CodeConfig, err.Error())
		return true
	}
	n, read := 1, everything
	if last != nil {
		n = last.n + 1
	}
	if last != nil && !asked {
		read = atBoundary
	}
	a.beginStep(n, spec, nil, read)
	return true
}

// end closes the turn.
func (a *Agent) end(how event.TurnEnd) {
	a.emit(how)
	a.fresh = ""
}

// fail ends the turn as failed. A resume that fails before its first reply leaves
// the turn open instead, for the next stimulus, and says why.
func (a *Agent) fail(code event.Code, message string) {
	if a.resuming && code != event.CodeMaxTurns {
		a.emit(event.Diagnostic{Type: diagnosticResumeFailed, Code: code, Message: message})
		a.rest()
		return
	}
	a.end(event.TurnEnd{Status: event.Failed, Error: &event.Error{Code: code, Message: message}})
}

const diagnosticResumeFailed = "resume_failed"
