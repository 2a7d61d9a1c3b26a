package turn

import (
	"context"

	"hitchpost/turn/event"
	"hitchpost/turn/history"
)

// Continue asks the model with nothing new: the history as it stands is answered, and
// what waits in the inbox with it. Where there is nothing to answer the turn is empty.
// An open turn that nobody runs is resumed. ErrTurnOpen while one runs; ErrDraining.
func (a *Agent) Continue(ctx context.Context) error {
	return a.do(ctx, func() error {
		switch {
		case a.host.isDraining():
			return ErrDraining
		case a.running:
			return ErrTurnOpen
		case a.st.turn != nil:
			a.resume(nil)
			return nil
		}
		due, err := a.answerDue(ctx)
		if err != nil {
			return err
		}
		start := event.TurnStart{Agent: a.def, Mode: event.ModeContinue}
		if due {
			a.beginAs(start, nil)
			return nil
		}
		a.emit(start)
		a.emit(event.TurnEnd{Status: event.Empty})
		return nil
	})
}

// answerDue tells whether anything was said or found out on the active path since its
// last answer.
func (a *Agent) answerDue(ctx context.Context) (bool, error) {
	if len(a.st.inbox) > 0 {
		return true, nil
	}
	path, err := history.Paths(ctx, a.log, a.st.next-1)
	if err != nil {
		return false, err
	}
	asked, found, err := path.Newest(ctx, a.log,
		string(event.UserMessageType), string(event.ContextInjectedType), string(event.ToolResultType))
	if err != nil || !found {
		return false, err
	}
	answer, found, err := path.Newest(ctx, a.log, string(event.AssistantMessageType))
	return !found || asked.Seq > answer.Seq, err
}
