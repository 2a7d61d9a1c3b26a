package turn

import (
	"context"

	"hitchpost/turn/event"
	"hitchpost/turn/history"
)

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
