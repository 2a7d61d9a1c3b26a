package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hitchpost/store"
)

// Queues of waiting texts (run wire, F5). A step that follows another reads steer and
// next_turn; where the turn would end, a text of steer or follow_up makes it go on, and
// next_turn rides along; a turn's first step reads everything that waits.
const (
	QueueSteer    = "steer"
	QueueNextTurn = "next_turn"
	QueueFollowUp = "follow_up"
)

// socketQueue is how the texts of the agent socket are stored. They wait as next_turn
// does, and their events name no queue.
const socketQueue = ""

// What a step reads: that of a turn's first one or of one that texts have made, and
// that of one which comes anyway.
func everything(string) bool       { return true }
func atBoundary(queue string) bool { return queue != QueueFollowUp }

// goesOn tells whether a text waits that makes the turn go on although the last reply
// asked for nothing. The texts of a resume ride a step of their own, whatever their queue.
func (a *Agent) goesOn() bool {
	return slices.ContainsFunc(a.st.inbox, func(text store.Input) bool {
		return a.resuming || text.Queue == QueueSteer || text.Queue == QueueFollowUp
	})
}

// InjectInto takes a text for the open turn whose turn/start has the id runID,
// whether it runs, is parked or was left open; it begins and resumes nothing. What the
// turn never reads rides the next one. ErrNotRunning: that turn is not open.
// ErrInboxFull, ErrDraining, an *AppendError, or an *InvalidError that says what is
// wrong with the text.
func (a *Agent) InjectInto(ctx context.Context, runID string, in Inject) error {
	if in.Queue == "" {
		in.Queue = QueueNextTurn
	}
	in.Wake = false
	switch {
	case in.Queue != QueueSteer && in.Queue != QueueNextTurn && in.Queue != QueueFollowUp:
		return &InvalidError{fmt.Sprintf("no queue %.40q; there are %s, %s and %s", in.Queue, QueueSteer, QueueNextTurn, QueueFollowUp)}
	case strings.TrimSpace(in.Text) == "":
		return &InvalidError{"the input must say something"}
	}
	return a.do(ctx, func() error {
		if !a.runs(runID) {
			return ErrNotRunning
		}
		return a.inject(ctx, in)
	})
}

// runs tells whether the open turn is this one.
func (a *Agent) runs(runID string) bool { return a.st.turn != nil && a.st.turn.id == runID }

// Inbox returns the texts that wait, in order of arrival.
func (a *Agent) Inbox(ctx context.Context) ([]store.Input, error) {
	var out []store.Input
	err := a.do(ctx, func() error {
		out = a.waiting()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// waiting is the inbox as readers are told it.
func (a *Agent) waiting() []store.Input {
	out := append([]store.Input{}, a.st.inbox...)
	for i := range out {
		if out[i].Queue == socketQueue {
			out[i].Queue = QueueNextTurn
		}
	}
	return out
}

// Withdraw takes a waiting text back, by its input id. ErrNoInput: none waits under it,
// it may have been read. The id of its sender stays remembered.
func (a *Agent) Withdraw(ctx context.Context, inputID string) error {
	return a.do(ctx, func() error {
		at := slices.IndexFunc(a.st.inbox, func(text store.Input) bool { return text.ID == inputID })
		if at < 0 {
			return ErrNoInput
		}
		a.take(a.st.inbox[at])
		a.st.inbox = slices.Delete(a.st.inbox, at, at+1)
		return nil
	})
}
