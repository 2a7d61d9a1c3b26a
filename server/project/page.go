package project

import (
	"context"
	"slices"

	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/history"
)

// History returns encoded entries of a session, oldest first: the newest limit of those
// with a seq below before. before < 0: of all there are; limit 0: as many as there are.
// The view members say how the entries stand now. What a page costs depends on the
// entries it returns, and on how often the branch changed, not on the log's length.
//
// To read on backwards, pass the seq of the oldest entry of the page as before.
func History(ctx context.Context, log *store.Log, before int64, limit int) ([][]byte, error) {
	tip, _ := log.Tip()
	if before < 0 || before > tip {
		before = tip + 1
	}
	view, err := viewAt(ctx, log, tip)
	if err != nil {
		return nil, err
	}
	events, err := pageBefore(ctx, log, before, limit)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	trail, err := TrailBefore(ctx, log, events[0].Seq)
	if err != nil {
		return nil, err
	}
	var entries [][]byte
	for _, ev := range events {
		if at, ok := trail.Next(ev); ok {
			line, _ := Entry(ev, at, view.of(ev.Seq))
			entries = append(entries, line)
		}
	}
	return entries, nil
}

// trailMarks are the types that Trail heeds.
var trailMarks = func() []string {
	marks := []string{string(event.TurnStartType), string(event.SessionBranchedType)}
	for _, t := range event.EntryTypes() {
		marks = append(marks, string(t))
	}
	return marks
}()

// pageChunk is how many events are read at once when it is not known how many of them
// make entries.
const pageChunk = 256

// pageBefore returns the events of the trail below before, from the oldest of the newest
// limit entries on.
func pageBefore(ctx context.Context, log *store.Log, before int64, limit int) ([]store.Event, error) {
	var chunks [][]store.Event // the newest first
	for entries := 0; ; {
		chunk := pageChunk
		if limit > 0 {
			chunk = min(limit-entries+limit/4+2, pageChunk) // turns begin and end between entries
		}
		events, err := log.Before(ctx, before, chunk, trailMarks...)
		if err != nil {
			return nil, err
		}
		for i, ev := range slices.Backward(events) {
			if !MakesEntry(ev) {
				continue
			}
			if entries++; entries == limit {
				events = events[i:]
				break
			}
		}
		chunks = append(chunks, events)
		if len(events) < chunk || entries == limit {
			slices.Reverse(chunks)
			return slices.Concat(chunks...), nil
		}
		before = events[0].Seq
	}
}

// view knows how entries stand at a moment of their session.
type view struct {
	path history.Path
	upto int64 // entries of the path up to this seq have a checkpoint that stands for them; -1: none
}

func viewAt(ctx context.Context, log *store.Log, tip int64) (view, error) {
	v := view{upto: -1}
	var err error
	if v.path, err = history.Paths(ctx, log, tip); err != nil {
		return v, err
	}
	checkpoint, found, err := v.path.Newest(ctx, log, string(event.SessionCompactedType))
	if found {
		v.upto = body[event.SessionCompacted](checkpoint).UptoSeq
	}
	return v, err
}

func (v view) of(seq int64) protocol.View {
	on := v.path.Holds(seq)
	return protocol.View{OnPath: on, Compacted: on && seq <= v.upto}
}
