package turn

import (
	"context"
	"testing"

	"hitchpost/turn/event"
)

// TestUsageIsTheSumOverTheLog, also over what another process appended; a step that
// nothing was told of counts for nothing.
func TestUsageIsTheSumOverTheLog(t *testing.T) {
	w := newWorld(t)
	w.play(`model call:c1:fast:{} usage:10,3
		model "no figures"
		model "done" usage:20,4
		wake one
		idle
		restart
		wake two
		idle`)
	price := 0.25
	for range 2 {
		if err := w.agent.do(context.Background(), func() error {
			w.agent.emit(event.AssistantMessage{Parts: []event.Part{}, Usage: &event.Usage{Cost: &price}})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := w.agent.Usage(context.Background())
	if err != nil || got.Steps != 4 || got.PromptTokens != 30 || got.CompletionTokens != 7 || got.Cost == nil || *got.Cost != 0.5 {
		t.Errorf("usage is %+v (%v)", got, err)
	}
}
