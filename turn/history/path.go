package history

import (
	"context"
	"encoding/json"
	"slices"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// Range is a piece of a log: the seqs From to To, both included.
type Range struct{ From, To int64 }

// Path is the way from the root of a session's tree to a leaf, as ranges of seqs,
// oldest first: no two overlap, none is empty. Every entry of the branch stands in one
// of them, and no entry of another branch does.
type Path []Range

// Paths finds the path that was the active one when the log ended with the seq upto. It
// costs two lookups for each branch that the path took, whatever the log's length.
func Paths(ctx context.Context, log *store.Log, upto int64) (Path, error) {
	var path Path
	for to := upto; to >= 0; {
		branched, found, err := log.Newest(ctx, to+1, string(event.SessionBranchedType))
		if err != nil {
			return nil, err
		}
		from := int64(0)
		if found {
			from = branched.Seq + 1
		}
		if from <= to {
			path = append(path, Range{from, to})
		}
		if !found {
			break
		}
		if to, err = target(ctx, log, branched); err != nil {
			return nil, err
		}
	}
	slices.Reverse(path)
	return path, nil
}

// target returns the seq of the entry that a branch moved the leaf to, -1 for the root:
// also where the log, which then came from elsewhere, holds no such entry before it.
func target(ctx context.Context, log *store.Log, branched store.Event) (int64, error) {
	entry, found, err := log.ByID(ctx, movedTo(branched))
	if err != nil || !found || entry.Seq >= branched.Seq {
		return -1, err
	}
	return entry.Seq, nil
}

// movedTo returns the id of the entry that a branch moved the leaf to, "" for the root:
// also where the event, which then came from elsewhere, does not say.
func movedTo(branched store.Event) string {
	var moved event.SessionBranched
	_ = json.Unmarshal(branched.Payload, &moved)
	return moved.To
}

// Holds tells whether what stands at seq is on the path.
func (p Path) Holds(seq int64) bool {
	_, found := slices.BinarySearchFunc(p, seq, func(r Range, seq int64) int {
		switch {
		case r.To < seq:
			return -1
		case r.From > seq:
			return 1
		}
		return 0
	})
	return found
}

// Upto returns the part of the path up to and including seq.
func (p Path) Upto(seq int64) Path {
	var out Path
	for _, r := range p {
		if r.From <= seq {
			out = append(out, Range{r.From, min(r.To, seq)})
		}
	}
	return out
}

// Newest returns the newest event of the types that stands on the path.
func (p Path) Newest(ctx context.Context, log *store.Log, types ...string) (store.Event, bool, error) {
	for _, r := range slices.Backward(p) {
		ev, found, err := log.Newest(ctx, r.To+1, types...)
		if err != nil || !found || ev.Seq >= r.From {
			return ev, found, err
		}
	}
	return store.Event{}, false, nil
}

// Structural returns the events of the types that stand on the path, from the seq
// from on, in order.
func (p Path) Structural(ctx context.Context, log *store.Log, from int64, types ...string) ([]store.Event, error) {
	var out []store.Event
	for _, r := range p {
		if r.To < from {
			continue
		}
		events, err := log.Structural(ctx, max(r.From, from), r.To, types...)
		if err != nil {
			return nil, err
		}
		out = append(out, events...)
	}
	return out, nil
}

// Leaf returns the id of the entry that was the leaf when the log ended right before
// the seq before, so the parent of an entry that stands at before; "" at the root.
func Leaf(ctx context.Context, log *store.Log, before int64) (string, error) {
	for before > 0 {
		last, found, err := log.Newest(ctx, before, leafMarks...)
		switch {
		case err != nil || !found:
			return "", err
		case event.Type(last.Type) == event.SessionBranchedType:
			return movedTo(last), nil
		case event.MakesEntry(event.Type(last.Type), last.Payload):
			return last.ID, nil
		}
		before = last.Seq // a turn that ended without an entry
	}
	return "", nil
}

// leafMarks are the types of which the newest event tells the leaf.
var leafMarks = func() []string {
	marks := []string{string(event.SessionBranchedType)}
	for _, t := range event.EntryTypes() {
		marks = append(marks, string(t))
	}
	return marks
}()
