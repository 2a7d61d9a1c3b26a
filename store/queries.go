package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// queries are the prepared reads.
type queries struct {
	session, sessions, sessionsOf, with, waking, unclosed, tip, inbox, seen,
	page, rows, before, byID, newest, newestOfAll, structural, structuralOfAll, streamed, search *sql.Stmt
}

const (
	selectSession = `SELECT s.id, owner, agent, title, parent_id, pinned, created_at, deleted_at IS NOT NULL,
		digest, coalesce(e.seq, -1), coalesce(e.pos, 0), e.event FROM sessions s
		LEFT JOIN events e ON e.session = s.key AND e.seq = (SELECT max(seq) FROM events WHERE session = s.key)`

	selectTip = `SELECT s.key, s.owner, s.deleted_at IS NOT NULL, e.seq, e.pos, e.event FROM sessions s
		LEFT JOIN events e ON e.session = s.key AND e.seq = (SELECT max(seq) FROM events WHERE session = s.key)
		WHERE s.id = ?`

	// A whole page comes as one value, so that an event costs no conversion of
	// its own: the rows arrive in the order of the index and an envelope holds no
	// newline. pos cuts the page without reading the events behind the cut.
	selectPage = `SELECT count(*), max(pos), CAST(group_concat(event, char(10)) AS BLOB) FROM events
		WHERE session = ?1 AND seq >= ?2 AND seq < ?2 + ?3 AND (seq = ?2 OR pos <= ?4 +
			coalesce((SELECT pos FROM events WHERE session = ?1 AND seq = ?2 - 1), 0))`

	selectInbox = `SELECT position, input_id, client_id, queue, text, wake, queued_at FROM inbox WHERE session = ? ORDER BY position`

	// rows is a page, row by row.
	selectRows = `SELECT type, id, event FROM events
		WHERE session = ?1 AND seq >= ?2 AND seq < ?2 + ?3 AND (seq = ?2 OR pos <= ?4 +
			coalesce((SELECT pos FROM events WHERE session = ?1 AND seq = ?2 - 1), 0)) ORDER BY seq`

	// unclosed looks at two ends of the index for each session, never at a log.
	selectUnclosed = `SELECT id FROM sessions s WHERE deleted_at IS NULL AND
		(SELECT max(seq) FROM events INDEXED BY events_structural WHERE session = s.key AND type = ?1 AND id IS NOT NULL) >
		coalesce((SELECT max(seq) FROM events INDEXED BY events_structural WHERE session = s.key AND type = ?2 AND id IS NOT NULL), -1)
		ORDER BY key`

	selectByID = `SELECT event FROM events INDEXED BY events_by_id WHERE id = ?2 AND session = ?1 AND seq <= ?3`

	selectWith = `SELECT s.id FROM events e INDEXED BY events_by_id CROSS JOIN sessions s ON s.key = e.session
		WHERE e.id = ? AND s.deleted_at IS NULL ORDER BY e.session`

	// kinds lists the structural types of a session, one step of the index for each.
	kinds = `WITH RECURSIVE kinds(value) AS (
		SELECT min(type) FROM events INDEXED BY events_structural WHERE session = ?1 AND id IS NOT NULL
		UNION ALL
		SELECT (SELECT min(type) FROM events INDEXED BY events_structural
			WHERE session = ?1 AND id IS NOT NULL AND type > kinds.value) FROM kinds WHERE value IS NOT NULL) `
	given = `WITH kinds(value) AS (SELECT value FROM json_each(?2)) `

	selectNewest = `SELECT event FROM events WHERE session = ?1 AND seq = (SELECT max(seq) FROM (
		SELECT (SELECT max(seq) FROM events INDEXED BY events_structural
			WHERE session = ?1 AND type = kinds.value AND id IS NOT NULL AND seq <= ?3) AS seq FROM kinds))`

	selectStructural = `SELECT event FROM kinds CROSS JOIN events INDEXED BY events_structural
		WHERE session = ?1 AND type = kinds.value AND id IS NOT NULL AND seq BETWEEN ?3 AND ?4 ORDER BY seq`

	// search reads the matches from the newest on, as many as are asked for.
	selectSearch = `SELECT s.id, t.seq, e.id, snippet(search, 1, '', '', '…', 24)
		FROM search CROSS JOIN texts t ON t.doc = search.rowid CROSS JOIN sessions s ON s.key = t.session
		LEFT JOIN events e ON e.session = t.session AND e.seq = t.seq
		WHERE search MATCH ?1 AND s.owner = ?2 AND s.deleted_at IS NULL ORDER BY search.rowid DESC`

	selectStreamed = `SELECT event FROM events WHERE session = ?1 AND seq BETWEEN ?2 AND ?3 AND id IS NULL ORDER BY seq`
)

// beforeTypes is the number of types that Before takes at most.
const beforeTypes = 16

// selectBefore merges the ends of the index, one for each type: SQLite reads of
// each only what the merge takes, so the cost is that of the events returned.
func selectBefore() string {
	var b strings.Builder
	for i := range beforeTypes {
		if i > 0 {
			b.WriteString(" UNION ALL ")
		}
		fmt.Fprintf(&b, `SELECT seq, event FROM events INDEXED BY events_structural
			WHERE session = ?1 AND type = json_extract(?2, '$[%d]') AND id IS NOT NULL AND seq <= ?3`, i)
	}
	return "SELECT event FROM (" + b.String() + " ORDER BY seq DESC LIMIT ?4)"
}

func (q *queries) prepare(ctx context.Context, db *sql.DB) error {
	for _, p := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&q.session, selectSession + " WHERE s.id = ?"},
		{&q.sessions, selectSession + " WHERE deleted_at IS NULL ORDER BY key"},
		{&q.sessionsOf, selectSession + " WHERE deleted_at IS NULL AND owner = ? ORDER BY key"},
		{&q.with, selectWith},
		{&q.waking, "SELECT DISTINCT s.id FROM inbox i CROSS JOIN sessions s ON s.key = i.session WHERE i.wake = 1 AND s.deleted_at IS NULL"},
		{&q.unclosed, selectUnclosed},
		{&q.tip, selectTip},
		{&q.inbox, selectInbox},
		{&q.seen, "SELECT note FROM inputs_seen WHERE session = ? AND client_id = ?"},
		{&q.page, selectPage},
		{&q.rows, selectRows},
		{&q.before, selectBefore()},
		{&q.byID, selectByID},
		{&q.newest, given + selectNewest},
		{&q.newestOfAll, kinds + selectNewest},
		{&q.structural, given + selectStructural},
		{&q.structuralOfAll, kinds + selectStructural},
		{&q.streamed, selectStreamed},
		{&q.search, selectSearch},
	} {
		var err error
		if *p.to, err = db.PrepareContext(ctx, p.sql); err != nil {
			return fmt.Errorf("prepare %q: %w", p.sql, err)
		}
	}
	return nil
}
