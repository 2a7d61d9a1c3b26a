package project

import (
	"context"

	"hitchpost/store"
)

// walkWindow is how many seqs of a log a Walk reads at once.
const walkWindow = 1024

// Walk reads all entries of a session forwards, a bounded piece at a time: what History
// returns without a limit, for sessions that are too long to be held at once.
type Walk struct {
	log   *store.Log
	trail Trail
	view  view
	next  int64
	upto  int64
}

// NewWalk begins at the beginning of a log and ends with the seq upto. The view members
// say how the entries stand there.
func NewWalk(ctx context.Context, log *store.Log, upto int64) (*Walk, error) {
	v, err := viewAt(ctx, log, upto)
	if err != nil {
		return nil, err
	}
	return &Walk{log: log, view: v, upto: upto}, nil
}

// Next returns the next encoded entries, none at times. more is false at the end.
func (w *Walk) Next(ctx context.Context) (entries [][]byte, more bool, err error) {
	if w.next > w.upto {
		return nil, false, nil
	}
	to := min(w.next+walkWindow-1, w.upto)
	events, err := w.log.Structural(ctx, w.next, to, trailMarks...)
	if err != nil {
		return nil, false, err
	}
	w.next = to + 1
	for _, ev := range events {
		if at, ok := w.trail.Next(ev); ok {
			line, _ := Entry(ev, at, w.view.of(ev.Seq))
			entries = append(entries, line)
		}
	}
	return entries, true, nil
}
