package sessions

import (
	"context"
	"errors"

	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn"
)

// standing is how a session stands: what its log says, and what this process does.
type standing struct {
	row    store.Session
	digest turn.Digest
	live   turn.Liveness
	damage error // store.ErrDamaged: what the log says cannot be read
}

// look reads how a session stands. Where a run is open and nobody is at work on it, it may
// have ended, or have been taken up, between the look at its row and the look at the
// process: that it rests is certain once its log has not moved meanwhile.
func (b *Book) look(ctx context.Context, x store.Session) (standing, error) {
	for {
		s, err := b.glance(ctx, x)
		if err != nil || s.status() != protocol.StatusResumable {
			return s, err
		}
		again, err := b.Store.Session(ctx, x.ID)
		if err != nil || again.LastSeq == x.LastSeq { // deleted meanwhile: as it was
			return s, nil
		}
		x = again
	}
}

func (b *Book) glance(ctx context.Context, x store.Session) (s standing, err error) {
	s.row, s.damage = x, x.Damage
	if s.damage == nil {
		s.digest, err = b.digest(ctx, x)
	}
	if errors.Is(err, store.ErrDamaged) {
		s.damage, err = err, nil
	}
	s.live = b.Host.Live(x.ID)
	return s, err
}

// digest is what the log says. A call that stood when approvals were switched off waits for
// nobody, since nobody can decide it: its turn goes on with the next stimulus.
func (b *Book) digest(ctx context.Context, x store.Session) (turn.Digest, error) {
	d, err := turn.ReadDigest(ctx, b.Store, x)
	if !b.Host.AsksPeople() {
		d.Pending = nil
	}
	return d, err
}

// status is the first that applies (run wire, session.status).
func (s standing) status() protocol.SessionStatus {
	open := s.digest.RunID != ""
	switch {
	case s.damage != nil:
		return protocol.StatusFailed
	case len(s.digest.Pending) > 0:
		return protocol.StatusRequiresAction
	case open && s.live.Stopping:
		return protocol.StatusStopping
	case open && s.live.Running:
		return protocol.StatusRunning
	case open:
		return protocol.StatusResumable
	case s.digest.Error != nil:
		return protocol.StatusFailed
	}
	return protocol.StatusIdle
}

// Object makes the session object of a row, from what is newest by now.
func (b *Book) Object(ctx context.Context, x store.Session) (protocol.Session, error) {
	s, err := b.look(ctx, x)
	if err != nil {
		return protocol.Session{}, err
	}
	x = s.row
	o := protocol.Session{
		ID: x.ID, Title: x.Title, Agent: x.Agent, Pinned: x.Pinned,
		CreatedAt: protocol.Time(x.CreatedAt), UpdatedAt: protocol.Time(x.UpdatedAt),
		LastSeq: x.LastSeq, Bytes: x.Bytes,
		Status: s.status(), LiveRunID: s.digest.RunID, ForkedFrom: s.digest.ForkedFrom,
		PendingCount: len(s.digest.Pending), Pending: make([]protocol.SessionPending, len(s.digest.Pending)),
	}
	if x.ParentID != "" {
		o.ParentID = &x.ParentID
	}
	if s.digest.InputAt != nil {
		o.LastInputAt = protocol.Time(*s.digest.InputAt)
	}
	for i, p := range s.digest.Pending {
		o.Pending[i] = protocol.SessionPending{ToolCallID: p.CallID, ToolName: p.Name, RunID: s.digest.RunID}
	}
	if e := s.digest.Error; e != nil {
		o.LastError = &protocol.Failure{Code: e.Code, Message: e.Message}
	}
	if s.damage != nil {
		o.LastError = &protocol.Failure{Code: protocol.CodeInternal, Message: Damaged(s.damage)}
	}
	return o, nil
}

// Damaged says in words for people what is wrong with a session, and what to do.
func Damaged(err error) string {
	return err.Error() + "; run hitchpost verify, and restore the session from a backup"
}
