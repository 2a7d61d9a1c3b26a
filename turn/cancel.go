package turn

import (
	"context"
	"errors"

	"hitchpost/turn/event"
)

// stopRequest is a cancel that was accepted for the open turn.
type stopRequest struct {
	reason *string
	upto   int64 // texts that waited when it was accepted lose their wake
}

var errCancelled = errors.New("the turn was cancelled")

// Cancel asks the running turn to stop. The model's stream is cut at once, a
// running tool finishes, and the turn closes at the boundary this makes. A second
// cancel replaces the reason. ErrNotRunning when no turn is running here.
func (a *Agent) Cancel(ctx context.Context, reason *string) error {
	return a.do(ctx, func() error {
		if a.st.turn == nil || !a.running {
			return ErrNotRunning
		}
		a.cancel = &stopRequest{reason: reason, upto: a.lastPosition()}
		if a.asking != nil {
			a.keepPartial(a.asking)
			a.cut(errCancelled)
		}
		return nil
	})
}

// keepPartial makes the text that was streamed the step's message, so that the
// model and the reader agree on what was said. Reasoning that was cut is put aside.
func (a *Agent) keepPartial(cut *asking) {
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
	a.end(event.TurnEnd{Status: event.Cancelled, Reason: a.cancel.reason})
}
