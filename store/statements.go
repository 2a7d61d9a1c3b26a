package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// statement is a prepared statement of the writer's connection, used without the
// bookkeeping of database/sql, which costs an append a tenth of its CPU time.
// It may run only inside the connection's Raw.
type statement struct {
	prepared driver.Stmt
	exec     driver.StmtExecContext
	args     []driver.NamedValue // reused; the writer is alone
}

// statements are what the writer does in its transactions.
type statements struct {
	begin, commit, rollback, addEvent, addSession, addInput, takeInput, calmInput, addSeen,
	setTitle, setPinned, setDigest,
	addLeftover, dropLeftover, buryLeftover, burySession,
	addText, addDoc, dropTitleDoc, dropTitle, probe statement
}

func (x *statements) all() map[*statement]string {
	return map[*statement]string{
		&x.begin:      "BEGIN IMMEDIATE",
		&x.commit:     "COMMIT",
		&x.rollback:   "ROLLBACK",
		&x.addEvent:   "INSERT INTO events(session, seq, type, id, pos, event) VALUES(?,?,?,?,?,?)",
		&x.addSession: "INSERT INTO sessions(key, id, owner, agent, title, parent_id, pinned, created_at) VALUES(?,?,?,?,?,?,?,?)",
		&x.addInput:   "INSERT INTO inbox(session, position, input_id, client_id, queue, text, wake, queued_at) VALUES(?,?,?,?,?,?,?,?)",
		&x.takeInput:  "DELETE FROM inbox WHERE session = ? AND position = ?",
		&x.calmInput:  "UPDATE inbox SET wake = 0 WHERE session = ? AND position = ?",
		&x.addSeen:    "INSERT INTO inputs_seen(session, client_id, note) VALUES(?,?,?)",
		&x.setTitle:   "UPDATE sessions SET title = ? WHERE key = ?",
		&x.setPinned:  "UPDATE sessions SET pinned = ? WHERE key = ?",
		&x.setDigest:  "UPDATE sessions SET digest = ? WHERE key = ?",

		&x.addLeftover:  "INSERT INTO leftovers(key) VALUES(?)",
		&x.dropLeftover: "DELETE FROM leftovers WHERE key = ?",
		&x.buryLeftover: "INSERT INTO leftovers SELECT key FROM sessions WHERE id = ? AND deleted_at IS NULL",
		&x.burySession:  "UPDATE sessions SET deleted_at = ?, title = '', digest = NULL WHERE key = ?",

		&x.addText:      "INSERT INTO texts(session, seq) VALUES(?,?)",
		&x.addDoc:       "INSERT INTO search(rowid, owner, text) VALUES(?,?,?)",
		&x.dropTitleDoc: "DELETE FROM search WHERE rowid = (SELECT doc FROM texts WHERE session = ? AND seq = -1)",
		&x.dropTitle:    "DELETE FROM texts WHERE session = ? AND seq = -1",

		&x.probe: "INSERT OR REPLACE INTO meta VALUES('room', hex(zeroblob(32768)))", // 64 KiB
	}
}

func (x *statements) prepare(ctx context.Context, conn *sql.Conn) error {
	return conn.Raw(func(dc any) error {
		for s, text := range x.all() {
			prepared, err := dc.(driver.ConnPrepareContext).PrepareContext(ctx, text)
			if err != nil {
				return fmt.Errorf("prepare %q: %w", text, err)
			}
			s.prepared, s.exec = prepared, prepared.(driver.StmtExecContext)
		}
		return nil
	})
}

// close finalizes them: SQLite does not let go of a file that a statement is left of.
func (x *statements) close(conn *sql.Conn) error {
	return conn.Raw(func(any) error {
		var errs []error
		for s := range x.all() {
			errs = append(errs, s.prepared.Close())
		}
		return errors.Join(errs...)
	})
}

// run executes the statement. Values are those of package driver: int64, string,
// []byte, bool, nil.
func (s *statement) run(args ...driver.Value) (driver.Result, error) {
	s.args = s.args[:0]
	for i, v := range args {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	// No caller's context may end the transaction of the others.
	return s.exec.ExecContext(context.Background(), s.args)
}
