package turn

import (
	"context"

	"hitchpost/turn/event"
	"hitchpost/turn/history"
)

// Branch moves the leaf of the session's tree to an entry, or with exclusive to that
// entry's parent, which of a first message is the root, "". What is said next goes on
// from there, and the model reads that path alone. It returns the leaf and the one
// before; where they are the same nothing is logged. ErrTurnOpen while a turn is open;
// ErrNoEntry when the session has no such entry.
func (a *Agent) Branch(ctx context.Context, to string, exclusive bool) (leaf, previous string, err error) {
	var moved event.SessionBranched
	err = a.do(ctx, func() (err error) {
		moved, err = a.branch(ctx, to, exclusive)
		return err
	})
	if err != nil {
		return "", "", err
	}
	return moved.To, moved.Previous, nil
}

func (a *Agent) branch(ctx context.Context, to string, exclusive bool) (event.SessionBranched, error) {
	var moved event.SessionBranched
	if a.st.turn != nil {
		return moved, ErrTurnOpen
	}
	entry, err := entryOf(ctx, a.log, to)
	if err != nil {
		return moved, err
	}
	moved.To = entry.ID
	if exclusive {
		if moved.To, err = history.Leaf(ctx, a.log, entry.Seq); err != nil {
			return moved, err
		}
	}
	if moved.Previous, err = history.Leaf(ctx, a.log, a.st.next); err != nil {
		return moved, err
	}
	if moved.To != moved.Previous {
		a.emit(moved)
	}
	return moved, nil
}
