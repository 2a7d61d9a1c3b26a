package sessions

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"hitchpost/server/auth"
	"hitchpost/server/project"
	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn/event"
)

var (
	// ErrNoRun: the token reaches no session with such a run.
	ErrNoRun = errors.New("no such run")

	// ErrNoCall: no such call stands: unknown, foreign, or decided by now.
	ErrNoCall = errors.New("no such call waits for a verdict")

	// ErrAmbiguous: calls of several runs have this id.
	ErrAmbiguous = errors.New("several runs have a call with this id waiting; say which run_id")
)

// Run finds a run by its id in the sessions that the token reaches: ErrNoRun.
func (b *Book) Run(ctx context.Context, t *auth.Token, id string) (store.Session, project.Run, error) {
	holders, err := b.Store.SessionsWith(ctx, id)
	if err != nil {
		return store.Session{}, project.Run{}, err
	}
	missing := noRun(id)
	for _, holder := range holders { // a fork holds copies of its source's turns
		x, err := b.Row(ctx, t, holder)
		if errors.Is(err, ErrAbsent) {
			continue
		}
		if err != nil {
			return store.Session{}, project.Run{}, err
		}
		run, err := b.find(ctx, x.ID, id)
		switch {
		case errors.Is(err, project.ErrNoRun), isGone(err):
			continue
		case errors.Is(err, store.ErrDamaged): // it may be a fork, and the run another's
			missing = err
			continue
		case err != nil:
			return store.Session{}, project.Run{}, err
		}
		return x, run, nil
	}
	return store.Session{}, project.Run{}, missing
}

func (b *Book) find(ctx context.Context, session, id string) (project.Run, error) {
	log, err := b.Store.OpenLog(ctx, session)
	if err != nil {
		return project.Run{}, err
	}
	defer log.Close()
	return project.Find(ctx, log, id)
}

// RunObject makes the object of a run that Run found.
func (b *Book) RunObject(ctx context.Context, x store.Session, run project.Run) (protocol.Run, error) {
	o := protocol.Run{RunID: run.ID, SessionID: x.ID, FirstSeq: run.First, LastSeq: run.Last}
	if run.End == "" {
		now, err := b.Store.Session(ctx, x.ID)
		if err != nil {
			return protocol.Run{}, err
		}
		s, err := b.look(ctx, now)
		if err != nil {
			return protocol.Run{}, err
		}
		if s.digest.RunID == run.ID {
			o.Status = open(s.status())
			return o, nil
		}
		// It has ended since.
		if run, err = b.find(ctx, x.ID, run.ID); err != nil {
			return protocol.Run{}, err
		}
		o.LastSeq = run.Last
	}
	o.Status = ended(run.End)
	return o, nil
}

func open(status protocol.SessionStatus) protocol.RunStatus {
	switch status {
	case protocol.StatusRequiresAction:
		return protocol.RunStatusInterrupted
	case protocol.StatusResumable:
		return protocol.RunStatusResumable
	}
	return protocol.RunStatusRunning
}

func ended(status event.Status) protocol.RunStatus {
	switch status {
	case event.Completed, event.Empty:
		return protocol.RunStatusCompleted
	case event.Cancelled:
		return protocol.RunStatusCancelled
	}
	return protocol.RunStatusError
}

// Approvals returns the calls that wait for a verdict in the sessions that the token
// reaches, oldest first; never nil.
func (b *Book) Approvals(ctx context.Context, t *auth.Token) ([]protocol.Approval, error) {
	list := []protocol.Approval{}
	rows, err := b.Rows(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, x := range rows {
		s, err := b.look(ctx, x)
		if isGone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, p := range s.digest.Pending {
			list = append(list, protocol.Approval{
				PendingCall: protocol.PendingCall{ToolCallID: p.CallID, ToolName: p.Name, Arguments: string(p.Args)},
				RunID:       s.digest.RunID, SessionID: x.ID, CreatedAt: protocol.Time(p.At),
			})
		}
	}
	slices.SortStableFunc(list, func(a, b protocol.Approval) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	return list, nil
}

// Standing finds where a call waits for a verdict, among the sessions that the token
// reaches; run is "" where the caller does not say. ErrNoCall, ErrAmbiguous.
func (b *Book) Standing(ctx context.Context, t *auth.Token, call, run string) (session, runID string, err error) {
	all, err := b.Approvals(ctx, t)
	if err != nil {
		return "", "", err
	}
	for _, a := range all {
		switch {
		case a.ToolCallID != call, run != "" && a.RunID != run:
		case session != "" && session != a.SessionID:
			return "", "", ErrAmbiguous
		default:
			session, runID = a.SessionID, a.RunID
		}
	}
	if session == "" {
		return "", "", noCall(call)
	}
	return session, runID, nil
}
