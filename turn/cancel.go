package turn

import (
	"context"
	"errors"

	"hitchpost/turn/event"
)

// Stop is how a turn is asked to stop.
type Stop struct {
	Reason    *string
	Mode      StopMode
	Cause     string // event.CauseSuperseded when a newer run takes the turn's place
	Resumable bool   // also close a turn that is open and that nobody runs
}

// StopMode says what becomes of the step under way.
type StopMode string

const (
	Cooperative StopMode = ""         // the stream is cut; a running tool finishes, the rest of the batch is not run
	Abort       StopMode = "abort"    // so, and running tools are killed
	Graceful    StopMode = "graceful" // the step finishes, its calls included; one that would ask is not run
)

// stopRequest is a stop that was accepted for the open turn.
type stopRequest struct {
	Stop
	upto int64 // texts that waited when it was accepted lose their wake
}

func (a *Agent) accept(s Stop) {
	if first := a.cancel; first != nil {
		if s.Cause == "" {
			s.Cause = first.Cause // a run waits to take the turn's place, whoever else wants it to stop
		}
		if s.Mode == Graceful {
			s.Mode = first.Mode // what was kept from running stays so
		}
	}
	a.cancel = &stopRequest{Stop: s, upto: a.lastPosition()}
}

var errCancelled = errors.New("the turn was cancelled")

// Cancel asks the running or parked turn to stop (Agent Socket v1, cancel). The
// model's stream is cut at once, a running tool finishes, and the turn closes at the
// boundary this makes. A second cancel replaces the reason. ErrNotRunning when no
// turn is running or parked.
func (a *Agent) Cancel(ctx context.Context, reason *string) error {
	return a.Stop(ctx, Stop{Reason: reason})
}

// Stop is Cancel with a choice. ErrNotRunning when there is nothing to stop.
func (a *Agent) Stop(ctx context.Context, s Stop) error {
	return a.do(ctx, func() error { return a.stop(s) })
}

// StopRun stops the turn whose turn/start has the id runID, also one that is parked or
// that nobody runs, and no other: ErrNotRunning when that one is not open.
func (a *Agent) StopRun(ctx context.Context, runID string, s Stop) error {
	s.Resumable = true
	return a.do(ctx, func() error {
		if !a.runs(runID) {
			return ErrNotRunning
		}
		return a.stop(s)
	})
}

func (a *Agent) stop(s Stop) error {
	parked := len(a.allStanding()) > 0
	if a.st.turn == nil || !a.running && !parked && !s.Resumable {
		return ErrNotRunning
	}
	a.accept(s)
	a.denyStanding()
	if !a.running {
		a.resume(nil)
		return nil
	}
	if a.asking != nil && s.Mode != Graceful {
		a.keepPartial(a.asking)
		a.cut(errCancelled)
	}
	if a.compacting.holdsTurn() && s.Mode != Graceful {
		a.endCompaction(errCancelled)
	}
	for _, j := range a.jobs {
		if j.child != nil {
			j.child.stopAsSubagent(s)
		}
		if s.Mode == Abort {
			j.end(errCancelled) // its result comes as that of any tool
		}
	}
	return nil
}

// denyStanding denies every standing call because the turn stops. The cause marks
// the turn, so it ends cancelled even if the process dies behind this.
func (a *Agent) denyStanding() {
	word := event.CauseCancelled
	denied := event.ApprovalResolved{Verdict: event.Denied, Reason: a.cancel.Reason, Cause: event.CauseCancelled}
	if denied.Reason == nil {
		denied.Reason = &word
	}
	if a.cancel.Cause != "" {
		denied.Cause = a.cancel.Cause
	}
	standing := a.allStanding()
	for _, c := range standing {
		denied.CallID = c.ID
		a.emit(denied)
	}
	for _, c := range standing {
		a.unpark(c)
	}
}

// heedMark takes up the cancel that a process died in the middle of.
func (a *Agent) heedMark() {
	mark := a.st.turn.marked
	if mark == nil || a.cancel != nil {
		return
	}
	s := Stop{Reason: mark.Reason}
	if mark.Cause == event.CauseSuperseded {
		s.Cause = mark.Cause
	}
	if s.Reason != nil && *s.Reason == event.CauseCancelled { // the word for a cancel without a reason
		s.Reason = nil
	}
	a.accept(s)
	a.denyStanding() // in a log of ours nothing stands any more; each request ends with a verdict of its own
}

// keepPartial makes the text that was streamed the step's message, so that the
// model and the reader agree on what was said. Reasoning that was cut is put aside.
func (a *Agent) keepPartial(cut *asking) {
	a.showRest(cut)
	s := a.st.turn.step
	if cut.reasoning.Len() > 0 {
		a.emitAs(event.ReasoningID(s.id), event.Interrupted{Text: cut.reasoning.String(), Field: event.FieldReasoning})
	}
	if cut.text.Len() > 0 {
		a.emitAs(event.MessageID(s.id), event.AssistantMessage{
			Parts: []event.Part{{Type: event.PartText, Text: cut.text.String()}}, Partial: true,
		})
	}
}

// endCancelled closes the turn. What was accepted before the cancel waits for
// another stimulus; what came after it starts the next turn.
func (a *Agent) endCancelled() {
	a.calm(a.cancel.upto)
	a.end(event.TurnEnd{Status: event.Cancelled, Reason: a.cancel.Reason, Cause: a.cancel.Cause})
}
