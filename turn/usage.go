package turn

import (
	"context"
	"fmt"

	"hitchpost/turn/event"
)

// Usage is what a session has cost so far, as its providers told.
type Usage struct {
	Steps            int // that were told of
	PromptTokens     int64
	CompletionTokens int64
	Cost             *float64 // nil when no provider named a price
}

// Usage sums what the replies of the log tell. It costs O(steps) and does not
// disturb the agent.
func (a *Agent) Usage(ctx context.Context) (Usage, error) {
	tip, _ := a.log.Tip()
	replies, err := a.log.Structural(ctx, 0, tip, string(event.AssistantMessageType))
	if err != nil {
		return Usage{}, err
	}
	var sum Usage
	for _, ev := range replies {
		p, err := as[event.AssistantMessage](ev)
		if err != nil {
			return Usage{}, fmt.Errorf("session %s: %w", a.id, err)
		}
		sum.add(p.(event.AssistantMessage).Usage)
	}
	return sum, nil
}

func (u *Usage) add(step *event.Usage) {
	if step == nil {
		return
	}
	u.Steps++
	if step.PromptTokens != nil {
		u.PromptTokens += *step.PromptTokens
	}
	if step.CompletionTokens != nil {
		u.CompletionTokens += *step.CompletionTokens
	}
	if step.Cost != nil {
		cost := *step.Cost
		if u.Cost != nil {
			cost += *u.Cost
		}
		u.Cost = &cost
	}
}
