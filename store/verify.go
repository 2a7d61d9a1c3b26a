package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// maxProblems bounds a Report; a file with that many is no better understood by more.
const maxProblems = 100

// Report is what Verify found.
type Report struct {
	LogID            string
	Sessions, Events int
	Problems         []string // each names the session and the seq; at most 100

	begin func() func(typ string, payload json.RawMessage) string // see Verify
}

// Err is nil for a file without problems.
func (r Report) Err() error {
	if len(r.Problems) == 0 {
		return nil
	}
	return fmt.Errorf("the file is damaged: %s", strings.Join(r.Problems, "; "))
}

func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// Verify checks the log file at path, also while another process serves it:
// SQLite's own integrity, the search's index included, seqs without a hole, envelopes
// that are valid JSON and agree with their rows, ids that are unique in their session,
// and no row that belongs to nothing. What a deletion or a copy under way, or cut by a
// crash, has left is in order: the server removes it. The error is for a file that
// could not be checked; what is wrong in it is in the Report.
//
// What the events mean is the caller's to check: begin, unless nil, is called for each
// session, and what it returns for each structural event of it from the first on. It says
// what is wrong with that, "" for nothing.
func Verify(ctx context.Context, path string, begin func() func(typ string, payload json.RawMessage) (problem string)) (Report, error) {
	r := Report{begin: begin}
	db, err := openOutside(ctx, path)
	if err != nil {
		return r, fmt.Errorf("verify: %w", err)
	}
	defer db.Close()
	if err := r.integrity(ctx, db); err != nil {
		return r, fmt.Errorf("verify %s: %w", path, err)
	}
	if err := db.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = 'log_id'").Scan(&r.LogID); err != nil {
		return r, fmt.Errorf("verify %s: %w", path, err)
	}
	// Sessions first and one page at a time: nothing here holds a read transaction
	// for long, which would make the server's write-ahead log grow.
	sessions, err := sessionKeys(ctx, db)
	if err != nil {
		return r, fmt.Errorf("verify %s: %w", path, err)
	}
	for _, s := range sessions {
		r.Sessions++
		if err := r.session(ctx, db, s.key, s.id); err != nil {
			return r, fmt.Errorf("verify %s: session %q: %w", path, s.id, err)
		}
	}
	if err := r.strays(ctx, db); err != nil {
		return r, fmt.Errorf("verify %s: %w", path, err)
	}
	return r, nil
}

func (r *Report) integrity(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", maxProblems))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if line != "ok" {
			r.problem("integrity: %s", line)
		}
	}
	return rows.Err()
}

type sessionKey struct {
	key int64
	id  string
}

func sessionKeys(ctx context.Context, db *sql.DB) (out []sessionKey, err error) {
	rows, err := db.QueryContext(ctx, "SELECT key, id FROM sessions ORDER BY key")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s sessionKey
		if err := rows.Scan(&s.key, &s.id); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// sessionCheck walks one session's log.
type sessionCheck struct {
	report    *Report
	id, head  string
	next, pos int64
	ids       map[[idDigits]byte]struct{} // streamed pieces have theirs in the envelope only
	meaning   func(typ string, payload json.RawMessage) (problem string)
}

func (r *Report) session(ctx context.Context, db *sql.DB, key int64, id string) error {
	c := sessionCheck{report: r, id: id, head: envelopeHead(id), ids: make(map[[idDigits]byte]struct{})}
	if r.begin != nil {
		c.meaning = r.begin()
	}
	for {
		n, err := c.page(ctx, db, key)
		if err != nil || n == 0 {
			return err
		}
		r.Events += n
	}
}

// page checks the rows from c.next on, as many as a page has, and returns their number.
func (c *sessionCheck) page(ctx context.Context, db *sql.DB, key int64) (n int, err error) {
	rows, err := db.QueryContext(ctx, `SELECT seq, type, id, pos, event FROM events
		WHERE session = ? AND seq >= ? ORDER BY seq LIMIT ?`, key, c.next, PageEvents)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var seq, pos int64
		var typ string
		var id, line []byte
		if err := rows.Scan(&seq, &typ, &id, &pos, &line); err != nil {
			return n, err
		}
		c.row(seq, pos, typ, id, line)
		n++
	}
	return n, rows.Err()
}

func (c *sessionCheck) row(seq, pos int64, typ string, id, line []byte) {
	wrong := func(what string) { c.report.problem("session %q, seq %d: %s", c.id, seq, what) }
	if seq != c.next {
		wrong(fmt.Sprintf("seq %d should be here", c.next))
	}
	if c.pos += int64(len(line)); seq == c.next && pos != c.pos {
		wrong("its position in bytes is wrong")
	}
	c.next, c.pos = seq+1, pos
	if !json.Valid(line) {
		wrong("the event is not valid JSON")
		return
	}
	e, err := decode(c.head, line)
	if err != nil {
		wrong(err.Error())
		return
	}
	if e.Seq != seq || e.Type != typ || id != nil && hex.EncodeToString(id) != e.ID {
		wrong("the event is not the one its row names")
	}
	unique := [idDigits]byte([]byte(e.ID))
	if _, taken := c.ids[unique]; taken {
		wrong("its id " + e.ID + " is taken by an earlier event")
	}
	c.ids[unique] = struct{}{}
	if c.meaning != nil && id != nil {
		if problem := c.meaning(e.Type, e.Payload); problem != "" {
			wrong(problem)
		}
	}
}
