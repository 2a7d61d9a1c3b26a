package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// maxNote is the length in bytes of what is kept beside a remembered id.
const maxNote = 4096

// Input is a text that was accepted and not yet read.
type Input struct {
	Position    int64 // order of reading in its session
	ID          string
	Queue, Text string
	Wake        bool      // asks for a turn
	QueuedAt    time.Time // UTC, whole microseconds
	ClientID    bool      // ID is the client's own and is remembered as long as the session
}

func checkInputs(put []Input, seen []string, notes map[string]string) error {
	for _, in := range put {
		if !utf8.ValidString(in.Text) || !utf8.ValidString(in.ID) || !utf8.ValidString(in.Queue) {
			return fmt.Errorf("%w: input at position %d is not valid UTF-8", ErrInvalid, in.Position)
		}
		if len(in.Text) > MaxPayload {
			return fmt.Errorf("%w: input at position %d has %d bytes, the limit is %d", ErrInvalid, in.Position, len(in.Text), MaxPayload)
		}
		if in.ClientID && in.ID == "" {
			return fmt.Errorf("%w: input at position %d has an empty id of its client", ErrInvalid, in.Position)
		}
	}
	for _, id := range seen {
		if id == "" || !utf8.ValidString(id) {
			return fmt.Errorf("%w: input id %.40q is empty or not valid UTF-8", ErrInvalid, id)
		}
	}
	for id, note := range notes {
		if len(note) > maxNote || !utf8.ValidString(note) {
			return fmt.Errorf("%w: the note of input id %.40q is not 0 to %d bytes of UTF-8", ErrInvalid, id, maxNote)
		}
	}
	return nil
}

// applyInbox writes what a batch does to its session's inbox.
func (w *writer) applyInbox(key int64, r *request) error {
	for _, position := range r.take {
		res, err := w.sql.takeInput.run(key, position)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n != 1 {
			return fmt.Errorf("%w: no text waits at position %d", ErrConflict, position)
		}
	}
	for _, position := range r.calm {
		if _, err := w.sql.calmInput.run(key, position); err != nil {
			return err
		}
	}
	for _, in := range r.put {
		_, err := w.sql.addInput.run(key, in.Position, in.ID, in.ClientID, in.Queue, in.Text, in.Wake, in.QueuedAt.UnixMicro())
		if isConstraint(err) {
			return fmt.Errorf("%w: a text waits at position %d already", ErrConflict, in.Position)
		}
		if err != nil {
			return err
		}
		if in.ClientID && r.draft == nil { // a draft lists all it remembers
			if err := w.remember(key, in.ID, r.notes[in.ID]); err != nil {
				return err
			}
		}
	}
	for _, id := range r.seen {
		if err := w.remember(key, id, r.notes[id]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) remember(key int64, id, note string) error {
	_, err := w.sql.addSeen.run(key, id, note)
	if isConstraint(err) {
		return fmt.Errorf("%w: input id %.80q was taken before", ErrConflict, id)
	}
	return err
}

// Inbox returns the texts that wait, in the order of their positions.
func (l *Log) Inbox(ctx context.Context) ([]Input, error) {
	var out []Input
	err := l.reading(func() error {
		rows, err := l.store.queries.inbox.QueryContext(ctx, l.key)
		if err != nil {
			return err
		}
		out, err = scanInbox(rows)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("inbox of %q: %w", l.id, err)
	}
	return out, nil
}

func scanInbox(rows *sql.Rows) (out []Input, err error) {
	defer rows.Close()
	for rows.Next() {
		var in Input
		var queued int64
		if err := rows.Scan(&in.Position, &in.ID, &in.ClientID, &in.Queue, &in.Text, &in.Wake, &queued); err != nil {
			return nil, err
		}
		in.QueuedAt = time.UnixMicro(queued).UTC()
		out = append(out, in)
	}
	return out, rows.Err()
}

// SeenInput tells whether a client's input id was taken before, also when its
// text was read long ago.
func (l *Log) SeenInput(ctx context.Context, clientID string) (bool, error) {
	_, seen, err := l.SeenNote(ctx, clientID)
	return seen, err
}

// SeenNote is SeenInput together with the note that the batch gave for the id.
func (l *Log) SeenNote(ctx context.Context, clientID string) (note string, seen bool, err error) {
	err = l.reading(func() error { return l.store.queries.seen.QueryRowContext(ctx, l.key, clientID).Scan(&note) })
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("look up an input id of %q: %w", l.id, err)
	}
	return note, true, nil
}
