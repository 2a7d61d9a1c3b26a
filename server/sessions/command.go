package sessions

import (
	"context"
	"errors"
	"fmt"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn"
)

// ErrEnded: the run has ended, and takes no text any more.
var ErrEnded = errors.New("the run has ended; start another one")

// With does something with the agent of a session that the token reaches. A session that
// was deleted since it was looked up, or is being deleted, is absent: that error comes then.
func (b *Book) With(ctx context.Context, session string, absent error, do func(*turn.Agent) error) error {
	a, err := b.Host.Open(ctx, session)
	if err == nil {
		defer a.Release()
		err = do(a)
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDeleted) || errors.Is(err, turn.ErrForeign) {
		return absent
	}
	return err
}

// Cancel stops a run, one that a restart left open too; the zero mode is abort. One that
// has ended stays as it is, which is what was asked for. ErrNoRun.
func (b *Book) Cancel(ctx context.Context, t *auth.Token, id string, mode protocol.Mode) error {
	x, run, err := b.Run(ctx, t, id)
	if err != nil || run.End != "" {
		return err
	}
	stop := turn.Stop{Mode: turn.Abort, Resumable: true}
	if mode == protocol.ModeGraceful {
		stop.Mode = turn.Graceful
	}
	err = b.With(ctx, x.ID, noRun(id), func(a *turn.Agent) error { return a.StopRun(ctx, run.ID, stop) })
	if errors.Is(err, turn.ErrNotRunning) { // it has ended meanwhile
		return nil
	}
	return err
}

// Inject puts a text into the inbox of an open run's session. ErrNoRun, ErrEnded, and
// what turn.Agent.InjectInto refuses.
func (b *Book) Inject(ctx context.Context, t *auth.Token, id string, queue protocol.Queue, text string) error {
	x, run, err := b.Run(ctx, t, id)
	if err != nil {
		return err
	}
	ended := fmt.Errorf("run %s: %w", run.ID, ErrEnded)
	if run.End != "" {
		return ended
	}
	err = b.With(ctx, x.ID, noRun(id), func(a *turn.Agent) error {
		return a.InjectInto(ctx, run.ID, turn.Inject{Text: text, Queue: string(queue)})
	})
	if errors.Is(err, turn.ErrNotRunning) {
		return ended
	}
	return err
}

// Decide gives a verdict in the token's name; v.RunID is "" where its sender does not
// say. ErrNoCall, ErrAmbiguous, turn.ErrStaleCall.
func (b *Book) Decide(ctx context.Context, t *auth.Token, v turn.Verdict) error {
	session, run, err := b.Standing(ctx, t, v.CallID, v.RunID)
	if err != nil {
		return err
	}
	v.RunID, v.By = run, t.Name
	return b.With(ctx, session, noCall(v.CallID), func(a *turn.Agent) error { return a.Decide(ctx, v) })
}

func noRun(id string) error  { return fmt.Errorf("%w: %.140q", ErrNoRun, id) }
func noCall(id string) error { return fmt.Errorf("%w: %.140q", ErrNoCall, id) }
