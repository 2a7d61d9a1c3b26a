package history

import (
	"context"
	"encoding/json"
	"fmt"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// Load reads what a request to provider/model holds from the log, up to and
// including the seq upto. It reads from the newest checkpoint on, never the whole log.
func Load(ctx context.Context, log *store.Log, upto int64, spec string) ([]model.Message, error) {
	checkpoint, found, err := log.Newest(ctx, upto+1, string(event.SessionCompactedType))
	if err != nil {
		return nil, err
	}
	var before []model.Message
	from := int64(0)
	if found {
		var compacted event.SessionCompacted
		if err := json.Unmarshal(checkpoint.Payload, &compacted); err != nil {
			return nil, fmt.Errorf("seq %d: %s: %w", checkpoint.Seq, checkpoint.Type, err)
		}
		before = []model.Message{{Role: model.User, Text: compacted.Summary}}
		from = compacted.UptoSeq + 1
	}
	events, err := log.Structural(ctx, from, upto, visible...)
	if err != nil {
		return nil, err
	}
	messages, err := Project(events, spec)
	return append(before, messages...), err
}
