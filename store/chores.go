package store

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
)

// chores is what the writer does by itself, between the requests of others.
type chores struct {
	remove []int64 // keys whose rows are to go, if leftovers still names them
	index  bool    // some logs are yet to be indexed
	failed bool    // the last piece: the next one waits for a commit that succeeds
}

// A chore's piece takes at most these, or one larger row: a few milliseconds.
const (
	pieceRows  = 256
	pieceBytes = 1 << 20 // of envelopes
	pieceTexts = 16      // of the inbox, or of the search's documents, which have up to MaxSearchText bytes
)

// load finds what an earlier life of the process left to do.
func (c *chores) load(ctx context.Context, conn *sql.Conn, search bool) error {
	if search {
		if err := conn.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM unindexed)").Scan(&c.index); err != nil {
			return fmt.Errorf("read what is left to do: %w", err)
		}
	}
	rows, err := conn.QueryContext(ctx, "SELECT key FROM leftovers ORDER BY key")
	if err != nil {
		return fmt.Errorf("read what is left to do: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var key int64
		if err := rows.Scan(&key); err != nil {
			return fmt.Errorf("read what is left to do: %w", err)
		}
		c.remove = append(c.remove, key)
	}
	return rows.Err()
}

func (w *writer) choresWait() bool {
	return !w.chores.failed && (len(w.chores.remove) > 0 || w.chores.index)
}

// chore does one piece. When it fails, nothing of it was done, and it is tried again
// after the next commit: it may be the disk, which the next commit will know.
func (w *writer) chore() {
	if !w.choresWait() {
		return
	}
	if err := w.piece(context.Background()); err != nil {
		w.chores.failed = true
		slog.Error("tidying up failed, it will be tried again", "file", w.store.path, "err", err)
	}
}

// piece does a piece of the first chore in a transaction of its own.
func (w *writer) piece(ctx context.Context) error {
	tx, err := w.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := w.fault("chore"); err != nil {
		return err
	}
	if len(w.chores.remove) == 0 {
		done, err := w.indexSome(ctx, tx)
		if err == nil {
			err = tx.Commit()
		}
		w.chores.index = !done || err != nil
		return err
	}
	done, err := removeSome(ctx, tx, w.chores.remove[0])
	if err == nil {
		err = tx.Commit()
	}
	if err == nil && done {
		w.chores.remove = w.chores.remove[1:]
	}
	return err
}

var someDocs = fmt.Sprintf("(SELECT doc FROM texts WHERE session = ?1 ORDER BY doc LIMIT %d)", pieceTexts)

// removals are what removes the rows of a session, each a piece at a time. Events go
// from the newest on, so that a piece is bounded by their positions.
var removals = []string{
	fmt.Sprintf(`WITH last AS (SELECT seq, pos FROM events WHERE session = ?1 ORDER BY seq DESC LIMIT 1)
		DELETE FROM events WHERE session = ?1 AND seq > (SELECT seq FROM last) - %d AND
			(seq = (SELECT seq FROM last) OR pos - octet_length(event) >= (SELECT pos FROM last) - %d)`, pieceRows, pieceBytes),
	fmt.Sprintf(`DELETE FROM inbox WHERE session = ?1 AND position IN
		(SELECT position FROM inbox WHERE session = ?1 LIMIT %d)`, pieceTexts),
	fmt.Sprintf(`DELETE FROM inputs_seen WHERE session = ?1 AND client_id IN
		(SELECT client_id FROM inputs_seen WHERE session = ?1 LIMIT %d)`, pieceRows),
	"DELETE FROM search WHERE rowid IN " + someDocs,
	"DELETE FROM texts WHERE doc IN " + someDocs, // the same ones, when search has none of them left
	"DELETE FROM unindexed WHERE session = ?1",
	"DELETE FROM leftovers WHERE key = ?1",
}

// removeSome removes a piece of a session's rows; done is true when it was the last.
func removeSome(ctx context.Context, tx *sql.Tx, key int64) (done bool, err error) {
	var left bool
	if err := tx.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM leftovers WHERE key = ?)", key).Scan(&left); err != nil || !left {
		return true, err // a draft that became whole after all
	}
	for i, q := range removals {
		res, err := tx.ExecContext(ctx, q, key)
		if err != nil {
			return false, err
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			return i == len(removals)-1, err
		}
	}
	return true, nil
}
