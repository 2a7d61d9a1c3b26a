package store

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// exportVersion is the version of the format that Export writes.
const exportVersion = 1

// exportHeader is the first line of an exported session: its row, and how many lines
// of each kind follow, in this order.
type exportHeader struct {
	Version   int       `json:"hitchpost_export"`
	Session   string    `json:"session_id"`
	Owner     string    `json:"owner"`
	Agent     string    `json:"agent"`
	Title     string    `json:"title"`
	ParentID  string    `json:"parent_id"`
	Pinned    bool      `json:"pinned"`
	CreatedAt time.Time `json:"created_at"`
	Inbox     int64     `json:"inbox"`
	Seen      int64     `json:"seen"`
	Events    int64     `json:"events"`
}

// exportInput is the line of a text that waits.
type exportInput struct {
	Inbox *exportedInput `json:"inbox"`
}

type exportedInput struct {
	Position int64     `json:"position"`
	ID       string    `json:"input_id"`
	ClientID bool      `json:"client_id"`
	Queue    string    `json:"queue"`
	Text     string    `json:"text"`
	Wake     bool      `json:"wake"`
	QueuedAt time.Time `json:"queued_at"`
}

// exportSeen is the line of an input id that is remembered.
type exportSeen struct {
	Seen *exportedSeen `json:"seen"`
}

type exportedSeen struct {
	ID   string `json:"client_id"`
	Note string `json:"note"`
}

// Export writes a session as JSON Lines: a header, the texts that wait, the input ids
// that are remembered, and the envelopes byte for byte. It is the session at the moment
// of the call, whatever is appended meanwhile, and no read transaction stays open
// while w takes its time. ErrNotFound, ErrDeleted, also when that happens meanwhile.
func (s *Store) Export(ctx context.Context, id string, w io.Writer) error {
	x := exporting{db: s.read, id: id, reading: func(read func() error) error {
		done, err := s.reading()
		if err != nil {
			return err
		}
		defer done()
		return read()
	}}
	return x.write(ctx, w)
}

// ExportFile writes sessions of the log file at path, also while another process serves
// it: those of the ids, one behind the other; none given: all, in the order of creation.
func ExportFile(ctx context.Context, path string, w io.Writer, ids ...string) error {
	db, err := openOutside(ctx, path)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer db.Close()
	if len(ids) == 0 {
		rows, err := db.QueryContext(ctx, "SELECT id FROM sessions WHERE deleted_at IS NULL ORDER BY key")
		if err == nil {
			ids, err = scanIDs(rows)
		}
		if err != nil {
			return fmt.Errorf("export %s: %w", path, err)
		}
	}
	for _, id := range ids {
		x := exporting{db: db, id: id, reading: func(read func() error) error { return read() }}
		if err := x.write(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// exporting is the export of one session.
type exporting struct {
	db      *sql.DB
	id      string
	reading func(read func() error) error // around each read

	key    int64
	header exportHeader
	inbox  []Input
	seen   []exportedSeen
}

func (x *exporting) write(ctx context.Context, w io.Writer) error {
	err := x.reading(func() error { return x.look(ctx) })
	if err == nil {
		to := bufio.NewWriterSize(w, 64<<10)
		if err = x.writeRow(to); err == nil {
			err = x.writeEvents(ctx, to)
		}
		if err == nil {
			err = to.Flush()
		}
	}
	if err != nil {
		return fmt.Errorf("export session %q: %w", x.id, err)
	}
	return nil
}

// look reads, at one moment, everything but the events, which do not change.
func (x *exporting) look(ctx context.Context) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // it only reads
	h := &x.header
	*h = exportHeader{Version: exportVersion, Session: x.id}
	var created int64
	var deleted bool
	err = tx.QueryRowContext(ctx, `SELECT key, owner, agent, title, parent_id, pinned, created_at, deleted_at IS NOT NULL,
		(SELECT coalesce(max(seq), -1) + 1 FROM events WHERE session = s.key) FROM sessions s WHERE id = ?`, x.id).
		Scan(&x.key, &h.Owner, &h.Agent, &h.Title, &h.ParentID, &h.Pinned, &created, &deleted, &h.Events)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case err != nil:
		return err
	case deleted:
		return ErrDeleted
	}
	h.CreatedAt = time.UnixMicro(created).UTC()
	rows, err := tx.QueryContext(ctx, selectInbox, x.key)
	if err != nil {
		return err
	}
	if x.inbox, err = scanInbox(rows); err != nil {
		return err
	}
	h.Inbox = int64(len(x.inbox))
	if err := x.lookSeen(ctx, tx); err != nil {
		return err
	}
	h.Seen = int64(len(x.seen))
	return nil
}

func (x *exporting) lookSeen(ctx context.Context, tx *sql.Tx) error {
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	note := "note"
	if version < 2 { // the file of an older version, which is only read here
		note = "''"
	}
	rows, err := tx.QueryContext(ctx, "SELECT client_id, "+note+" FROM inputs_seen WHERE session = ? ORDER BY client_id", x.key)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var s exportedSeen
		if err := rows.Scan(&s.ID, &s.Note); err != nil {
			return err
		}
		x.seen = append(x.seen, s)
	}
	return rows.Err()
}

// writeRow writes the lines before the events.
func (x *exporting) writeRow(to *bufio.Writer) error {
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x.header); err != nil {
		return err
	}
	for _, in := range x.inbox {
		line := exportInput{&exportedInput{in.Position, in.ID, in.ClientID, in.Queue, in.Text, in.Wake, in.QueuedAt}}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	for i := range x.seen {
		if err := enc.Encode(exportSeen{&x.seen[i]}); err != nil {
			return err
		}
	}
	return nil
}

func (x *exporting) writeEvents(ctx context.Context, to *bufio.Writer) error {
	head := envelopeHead(x.id)
	for next := int64(0); next < x.header.Events; {
		var n int
		var pos sql.NullInt64
		var text []byte
		err := x.reading(func() error {
			return x.db.QueryRowContext(ctx, selectPage, x.key, next, min(PageEvents, x.header.Events-next), PageBytes).Scan(&n, &pos, &text)
		})
		if err != nil {
			return err
		}
		for line := range bytes.SplitSeq(text, []byte{'\n'}) {
			if e, err := decode(head, line); err != nil || e.Seq != next {
				return x.missing(ctx, next)
			}
			to.Write(line) // an error stays with the writer until Flush
			if err := to.WriteByte('\n'); err != nil {
				return err
			}
			next++
		}
	}
	return nil
}

// missing says why the event of a seq is not where it belongs.
func (x *exporting) missing(ctx context.Context, seq int64) error {
	if err := x.reading(func() error { return x.look(ctx) }); err != nil {
		return err // deleted meanwhile
	}
	return fmt.Errorf("seq %d is missing or damaged; run hitchpost verify", seq)
}
