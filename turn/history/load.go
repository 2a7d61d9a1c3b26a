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
// including the seq upto: what stands on the path that was active there, from the
// newest checkpoint of that path on. It never reads the whole log.
func Load(ctx context.Context, log *store.Log, upto int64, spec string) ([]model.Message, error) {
	path, err := Paths(ctx, log, upto)
	if err != nil {
		return nil, err
	}
	return path.Load(ctx, log, spec)
}

// Load reads what a request to provider/model holds of the path.
func (p Path) Load(ctx context.Context, log *store.Log, spec string) ([]model.Message, error) {
	checkpoint, found, err := p.Newest(ctx, log, string(event.SessionCompactedType))
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
	events, err := p.Structural(ctx, log, from, visible...)
	if err != nil {
		return nil, err
	}
	messages, err := Project(events, spec)
	return append(before, messages...), err
}
