package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
)

// backlog is where the indexing of a log stands that was written before there was a
// search: its structural events behind (typ, seq), up to upto, are yet to be looked at.
type backlog struct {
	key, seq, upto int64
	typ            string // "": the title too
	owner, title   string
}

// indexSome indexes a piece of such a log; done is true when none is left.
func (w *writer) indexSome(ctx context.Context, tx *sql.Tx) (done bool, err error) {
	var b backlog
	err = tx.QueryRowContext(ctx, `SELECT u.session, u.type, u.seq, u.upto, s.owner, s.title
		FROM unindexed u CROSS JOIN sessions s ON s.key = u.session ORDER BY u.session LIMIT 1`).
		Scan(&b.key, &b.typ, &b.seq, &b.upto, &b.owner, &b.title)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	texts, err := w.backlogPiece(ctx, tx, &b)
	if err != nil {
		return false, err
	}
	if err := w.conn.Raw(func(any) error { return w.index(b.key, ownerWord(b.owner), texts) }); err != nil {
		return false, err
	}
	if b.typ == "" { // nothing was left
		_, err = tx.ExecContext(ctx, "DELETE FROM unindexed WHERE session = ?", b.key)
	} else {
		_, err = tx.ExecContext(ctx, "UPDATE unindexed SET type = ?, seq = ? WHERE session = ?", b.typ, b.seq, b.key)
	}
	return false, err
}

// backlogPiece reads the texts of the next piece and moves b behind it; typ is "" when
// there was nothing.
func (w *writer) backlogPiece(ctx context.Context, tx *sql.Tx, b *backlog) (texts []searchText, err error) {
	if b.typ == "" && b.title != "" {
		var has bool // a title that was set meanwhile is in the index
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM texts WHERE session = ? AND seq = ?)", b.key, titleSeq).Scan(&has); err != nil {
			return nil, err
		}
		if !has {
			texts = append(texts, searchText{titleSeq, b.title})
		}
	}
	rows, err := tx.QueryContext(ctx, `SELECT type, seq, event FROM events INDEXED BY events_structural
		WHERE session = ?1 AND id IS NOT NULL AND (type, seq) > (?2, ?3) AND seq <= ?4 ORDER BY type, seq LIMIT ?5`,
		b.key, b.typ, b.seq, b.upto, pieceRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	b.typ = ""
	for size := 0; rows.Next() && size < pieceBytes; {
		var line []byte
		if err := rows.Scan(&b.typ, &b.seq, &line); err != nil {
			return nil, err
		}
		size += len(line)
		var e struct{ Payload json.RawMessage }
		if err := json.Unmarshal(line, &e); err != nil {
			continue // damaged, as verify will say: the others can be found still
		}
		texts = w.store.addText(texts, b.seq, b.typ, e.Payload)
	}
	return texts, rows.Err()
}
