package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Session is a session's row. Times are UTC in whole microseconds.
type Session struct {
	ID, Owner, Agent, Title, ParentID string
	Pinned                            bool
	CreatedAt                         time.Time // zero in Create: now
	UpdatedAt                         time.Time // at of its newest event, if that can be read; ignored by Create
	Deleted                           bool
	Digest                            json.RawMessage // what the last batch with one said of it; nil: the log says it. Ignored by Create
	LastSeq, Bytes                    int64           // of its log: seq of the newest event, -1 if there is none; bytes of the envelopes. Ignored by Create
	Damage                            error           // ErrDamaged where the newest event cannot be read, and so the log not be opened. Ignored by Create
}

// Session returns the row of a session: ErrNotFound, or ErrDeleted (then with
// the row of the tombstone).
func (s *Store) Session(ctx context.Context, id string) (Session, error) {
	done, err := s.reading()
	if err != nil {
		return Session{}, fmt.Errorf("session %q: %w", id, err)
	}
	defer done()
	x, err := scanSession(s.queries.session.QueryRowContext(ctx, id))
	s.upToTip(&x)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Session{}, fmt.Errorf("session %q: %w", id, ErrNotFound)
	case err != nil:
		return Session{}, fmt.Errorf("session %q: %w", id, err)
	case x.Deleted:
		return x, fmt.Errorf("session %q: %w", id, ErrDeleted)
	}
	return x, nil
}

// Sessions returns every session that is not deleted, in the order they were created.
func (s *Store) Sessions(ctx context.Context) ([]Session, error) {
	out, err := s.sessionRows(ctx, s.queries.sessions)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return out, nil
}

// SessionsOf returns the sessions of an owner that are not deleted, in the order
// they were created.
func (s *Store) SessionsOf(ctx context.Context, owner string) ([]Session, error) {
	out, err := s.sessionRows(ctx, s.queries.sessionsOf, owner)
	if err != nil {
		return nil, fmt.Errorf("list the sessions of %q: %w", owner, err)
	}
	return out, nil
}

func (s *Store) sessionRows(ctx context.Context, query *sql.Stmt, args ...any) ([]Session, error) {
	done, err := s.reading()
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := query.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Session
	for rows.Next() {
		x, err := scanSession(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range out {
		s.upToTip(&out[i])
	}
	return out, nil
}

// upToTip has a row end where readers of the log see it end. The digest and the title of what
// is committed and not yet published are in the row already, so the publishing, which touches
// no disk, is waited for.
func (s *Store) upToTip(x *Session) {
	l := s.held(x.ID)
	if l == nil {
		return
	}
	now := s.committing.Load() // the one that the row shows, where the tip does not: any later one finds that published
	tip, pos := l.Tip()
	if tip < x.LastSeq && now != nil {
		<-now.published
		tip, pos = l.Tip()
	}
	if tip < x.LastSeq { // whoever appended was told that it failed
		x.LastSeq, x.Bytes = tip, pos
	}
}

// SessionsWith returns the ids of the sessions whose log holds a structural event
// of this id: a fork's copies have the ids of the originals.
func (s *Store) SessionsWith(ctx context.Context, eventID string) ([]string, error) {
	if !isID(eventID) {
		return nil, nil
	}
	raw, _ := hex.DecodeString(eventID) // 16 hex digits, as isID says
	ids, err := s.sessionIDs(ctx, s.queries.with, raw)
	if err != nil {
		return nil, fmt.Errorf("list sessions with event %s: %w", eventID, err)
	}
	return ids, nil
}

// WakingSessions returns the ids of the sessions whose inbox holds a text that
// asks for a turn.
func (s *Store) WakingSessions(ctx context.Context) ([]string, error) {
	ids, err := s.sessionIDs(ctx, s.queries.waking)
	if err != nil {
		return nil, fmt.Errorf("list waking sessions: %w", err)
	}
	return ids, nil
}

// Unclosed returns the ids of the sessions whose newest event of two structural
// types is of the type opened, in the order they were created.
func (s *Store) Unclosed(ctx context.Context, opened, closed string) ([]string, error) {
	ids, err := s.sessionIDs(ctx, s.queries.unclosed, opened, closed)
	if err != nil {
		return nil, fmt.Errorf("list sessions with %s and no %s behind it: %w", opened, closed, err)
	}
	return ids, nil
}

func (s *Store) sessionIDs(ctx context.Context, query *sql.Stmt, args ...any) ([]string, error) {
	done, err := s.reading()
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := query.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	return scanIDs(rows)
}

func scanIDs(rows *sql.Rows) (ids []string, err error) {
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// Create makes a session: its row and its first events, in one transaction.
// ErrExists, ErrDeleted, ErrInvalid. Like Append it waits for the commit.
func (s *Store) Create(ctx context.Context, x Session, first []NewEvent) error {
	if err := checkSessionID(x.ID); err != nil {
		return fmt.Errorf("create session: %w", err)
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	if x.CreatedAt.IsZero() {
		x.CreatedAt = now
	}
	checked, err := checkEvents(first)
	if err != nil {
		return fmt.Errorf("create session %q: %w", x.ID, err)
	}
	r := &request{create: &x, texts: s.searchTexts(0, checked)}
	r.records, r.events = encode(envelopeHead(x.ID), 0, now, checked)
	if err := s.newDraft(x.Owner).write(ctx, r); err != nil {
		return fmt.Errorf("create session %q: %w", x.ID, err)
	}
	return nil
}

func scanSession(row interface{ Scan(...any) error }) (x Session, err error) {
	var created int64
	var digest, newest sql.NullString
	if err := row.Scan(&x.ID, &x.Owner, &x.Agent, &x.Title, &x.ParentID, &x.Pinned, &created, &x.Deleted,
		&digest, &x.LastSeq, &x.Bytes, &newest); err != nil {
		return Session{}, err
	}
	if digest.Valid {
		x.Digest = json.RawMessage(digest.String)
	}
	x.CreatedAt = time.UnixMicro(created).UTC()
	x.UpdatedAt = x.CreatedAt
	if newest.Valid {
		e, err := decode(envelopeHead(x.ID), []byte(newest.String))
		if err != nil { // of this session alone: it must not hide the others of a list
			x.Damage = fmt.Errorf("session %q, seq %d: %w", x.ID, x.LastSeq, err)
			return x, nil
		}
		x.UpdatedAt = e.At
	}
	return x, nil
}
