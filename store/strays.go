package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// tables are those whose rows belong to a session.
func tables(schema int) []string {
	if schema < 2 {
		return []string{"events", "inbox", "inputs_seen"}
	}
	return []string{"events", "inbox", "inputs_seen", "texts", "unindexed"}
}

// strays looks for rows that belong to nothing. What leftovers names is being removed,
// or is a copy that is being made.
func (r *Report) strays(ctx context.Context, db *sql.DB) error {
	var schema int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&schema); err != nil {
		return err
	}
	leftovers := ""
	if schema >= 2 {
		leftovers = " EXCEPT SELECT key FROM leftovers"
	}
	for _, table := range tables(schema) {
		if err := r.count(ctx, db, table+" holds rows of %d sessions that do not exist",
			"SELECT count(*) FROM (SELECT DISTINCT session FROM "+table+" EXCEPT SELECT key FROM sessions"+leftovers+")"); err != nil {
			return err
		}
	}
	if schema < 2 {
		return nil
	}
	for problem, query := range strayRows() {
		if err := r.count(ctx, db, problem, query); err != nil {
			return err
		}
	}
	return nil
}

// strayRows are what else is to be counted, and to be none.
func strayRows() map[string]string {
	var holds []string
	for _, table := range tables(2) {
		holds = append(holds, "EXISTS(SELECT 1 FROM "+table+" WHERE session = s.key)")
	}
	const kept = " AND session NOT IN (SELECT key FROM leftovers)"
	return map[string]string{
		"%d sessions have a digest that is not JSON": "SELECT count(*) FROM sessions WHERE NOT json_valid(digest)",
		"%d deleted sessions have rows that nobody will remove": "SELECT count(*) FROM sessions s WHERE deleted_at IS NOT NULL AND key NOT IN " +
			"(SELECT key FROM leftovers) AND (" + strings.Join(holds, " OR ") + ")",
		"%d sessions that are not deleted would be removed":      "SELECT count(*) FROM leftovers JOIN sessions USING(key) WHERE deleted_at IS NULL",
		"%d texts of the search are not in its index":            "SELECT count(*) FROM texts LEFT JOIN search_docsize ON id = doc WHERE id IS NULL" + kept,
		"the search's index has %d texts that belong to nothing": "SELECT count(*) FROM search_docsize LEFT JOIN texts ON doc = id WHERE doc IS NULL",
		"%d texts of the search belong to no event": "SELECT count(*) FROM texts t WHERE seq <> -1 AND NOT EXISTS" +
			"(SELECT 1 FROM events WHERE session = t.session AND seq = t.seq AND id IS NOT NULL)" + kept,
	}
}

// count reports a problem if the query counts any; %d in it is how many.
func (r *Report) count(ctx context.Context, db *sql.DB, problem, query string) error {
	var n int
	if err := db.QueryRowContext(ctx, query).Scan(&n); err != nil {
		return fmt.Errorf("look for strays: %w", err)
	}
	if n > 0 {
		r.problem(problem, n)
	}
	return nil
}
