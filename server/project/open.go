package project

import (
	"context"
	"errors"
	"fmt"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/history"
)

// ErrNoRun: the session has no run of this id. A turn that a fork copied is no run of
// the fork.
var ErrNoRun = errors.New("no such run")

// Run is where a run stands in its log.
type Run struct {
	ID    string
	First int64        // seq of its turn/start
	Last  int64        // seq of its turn/end; of the log's newest event while the run is open
	End   event.Status // how it ended; "" while it is open
}

// Find returns the run of a session, or ErrNoRun.
func Find(ctx context.Context, log *store.Log, id string) (Run, error) {
	start, found, err := log.ByID(ctx, id)
	if err != nil {
		return Run{}, err
	}
	copied, err := copies(ctx, log)
	if err != nil {
		return Run{}, err
	}
	if !found || event.Type(start.Type) != event.TurnStartType || start.Seq < copied {
		return Run{}, fmt.Errorf("%w: session %s has no run %.40q", ErrNoRun, log.Session(), id)
	}
	return extent(ctx, log, start)
}

// extent finds the end of the turn that begins with start.
func extent(ctx context.Context, log *store.Log, start store.Event) (Run, error) {
	r := Run{ID: start.ID, First: start.Seq}
	tip, _ := log.Tip()
	r.Last = tip
	// The end is near, as a rule; windows that double find it without reading the
	// ends of all the turns behind it.
	for from, width := start.Seq+1, int64(256); from <= tip; from, width = from+width, 2*width {
		ends, err := log.Structural(ctx, from, min(from+width-1, tip), string(event.TurnEndType))
		if err != nil {
			return Run{}, err
		}
		if len(ends) > 0 {
			r.Last, r.End = ends[0].Seq, body[event.TurnEnd](ends[0]).Status
			break
		}
	}
	return r, nil
}

// Behind returns a projector that has folded the log up to and including seq: Next
// takes the event at seq+1. -1 is the beginning of the log. It reads the structural events of the run
// that seq stands in, or right before, and nothing else but a few by index.
//
// To serve a run from a cursor: Behind(max(cursor, run.First-1)), then every event from
// there on. To follow a session: Behind(tip).
func Behind(ctx context.Context, log *store.Log, seq int64) (*Projector, error) {
	p := New(log.Session())
	var err error
	if p.base.copied, err = copies(ctx, log); err != nil {
		return nil, err
	}
	from := seq + 1
	start, found, err := turnAround(ctx, log, from)
	if err != nil {
		return nil, err
	}
	if found {
		from = min(start.Seq, from)
		if p.base.foreign, err = foreign(ctx, log, start); err != nil {
			return nil, err
		}
	}
	if p.trail, err = TrailBefore(ctx, log, from); err != nil {
		return nil, err
	}
	events, err := log.Structural(ctx, from, seq)
	if err != nil {
		return nil, err
	}
	for _, ev := range events {
		p.Next(ev)
	}
	return p, nil
}

// turnAround returns the turn/start of the turn that begins at seq, or is open there.
func turnAround(ctx context.Context, log *store.Log, seq int64) (store.Event, bool, error) {
	mark, found, err := newest(ctx, log, seq+1, turnMarks)
	if found && mark.Seq == seq && event.Type(mark.Type) == event.TurnEndType {
		mark, found, err = newest(ctx, log, seq, turnMarks)
	}
	return mark, found && event.Type(mark.Type) == event.TurnStartType, err
}

// TrailBefore returns the trail of the events below seq, by index.
func TrailBefore(ctx context.Context, log *store.Log, seq int64) (Trail, error) {
	var t Trail
	mark, found, err := newest(ctx, log, seq, turnMarks)
	if err != nil {
		return t, err
	}
	if found && event.Type(mark.Type) == event.TurnStartType {
		t.run = mark.ID
	}
	t.leaf, err = history.Leaf(ctx, log, seq)
	return t, err
}

var (
	turnMarks = []string{string(event.TurnStartType), string(event.TurnEndType)}
	stepMarks = []string{
		string(event.StepStartType), string(event.AssistantMessageType), string(event.ReasoningType),
		string(event.InterruptedType),
	}
)

// newest is the newest event below seq of the types.
func newest(ctx context.Context, log *store.Log, seq int64, types []string) (store.Event, bool, error) {
	if seq <= 0 {
		return store.Event{}, false, nil
	}
	return log.Newest(ctx, seq, types...)
}

// copies returns the number of events at the head of the log that a fork copied.
func copies(ctx context.Context, log *store.Log) (int64, error) {
	forked, _, err := log.Newest(ctx, -1, string(event.SessionForkedType))
	return forked.Seq, err
}

// foreign returns the steps of a turn whose message the log has under another id than the
// step's own: they were written elsewhere and brought in whole, since our writer never
// does that. So what it returns for a step is the same for as long as anybody can read
// the log.
func foreign(ctx context.Context, log *store.Log, start store.Event) (map[string]bool, error) {
	run, err := extent(ctx, log, start)
	if err != nil {
		return nil, err
	}
	events, err := log.Structural(ctx, run.First, run.Last, stepMarks...)
	if err != nil {
		return nil, err
	}
	return foreignSteps(events), nil
}

func foreignSteps(events []store.Event) map[string]bool {
	steps := map[string]bool{}
	var step string
	for _, ev := range events {
		id := event.MessageID(step)
		switch event.Type(ev.Type) {
		case event.StepStartType:
			step = ev.ID
			continue
		case event.ReasoningType:
			id = event.ReasoningID(step)
		case event.InterruptedType:
			if body[event.Interrupted](ev).Field == event.FieldReasoning {
				id = event.ReasoningID(step)
			}
		}
		if step != "" && ev.ID != id {
			steps[step] = true
		}
	}
	return steps
}
