package turn

import (
	"context"

	"hitchpost/turn/event"
)

// answerDue tells whether anything was said or found out since the last answer.
func (a *Agent) answerDue(ctx context.Context) (bool, error) {
	if len(a.st.inbox) > 0 {
		return true, nil
	}
	asked, found, err := a.log.Newest(ctx, -1,
		string(event.UserMessageType), string(event.ContextInjectedType), string(event.ToolResultType))
	if err != nil || !found {
		return false, err
	}
	answer, found, err := a.log.Newest(ctx, -1, string(event.AssistantMessageType))
	return !found || asked.Seq > answer.Seq, err
}
