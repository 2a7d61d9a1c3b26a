package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// schema1File makes a file as the first schema's version left it: two sessions, one
// of them deleted, a title, a text that waits and a remembered input.
func schema1File(t *testing.T, events int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "v1.db")
	db, err := sql.Open("sqlite", dsn(path, "rwc", "_journal_mode=WAL"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run := func(q string, args ...any) {
		t.Helper()
		if _, err := db.Exec(q, args...); err != nil {
			t.Fatal(err)
		}
	}
	db.SetMaxOpenConns(1)
	run("BEGIN")
	run(schemaV1)
	run(fmt.Sprintf("PRAGMA user_version = 1; PRAGMA application_id = %d", applicationID))
	run("INSERT INTO meta VALUES('log_id', '0123456789abcdef'), ('wal_needed', '0')")
	run("INSERT INTO sessions VALUES(1, 's1', 'ada', 'default', 'Weather in Zürich', '', 1, 1000, NULL), (2, 'gone', 'ada', 'default', 'secret', '', 0, 1000, 2000)")
	run("INSERT INTO inbox VALUES(1, 1, 'c1', 1, 'steer', 'waits', 1, 1000)")
	run("INSERT INTO inputs_seen VALUES(1, 'c1')")
	for key, id := range map[int]string{1: "s1", 2: "gone"} {
		var pos int
		for seq := range events {
			e := event("user/message", fmt.Sprintf(`{"text":"word%d said"}`, seq))
			if seq%3 == 2 {
				e = chunk("streamed")
			}
			recs, _ := encode(envelopeHead(id), int64(seq), stamp(seq), []NewEvent{e})
			pos += len(recs[0].line)
			run("INSERT INTO events VALUES(?,?,?,?,?,?)", key, seq, e.Type, recs[0].id, pos, string(recs[0].line))
		}
	}
	run("COMMIT")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// guarantee 12
func TestAFileOfTheFirstSchemaIsBroughtForwardWithNothingLost(t *testing.T) {
	ctx := context.Background()
	path := schema1File(t, 30)
	intact(t, path) // before as well: verify reads what it has not migrated
	s := openAt(t, path, Options{})
	x, err := s.Session(ctx, "s1")
	if err != nil || x.Title != "Weather in Zürich" || !x.Pinned || x.Digest != nil || x.LastSeq != 29 {
		t.Fatalf("session = %+v %v", x, err)
	}
	l := hold(t, s, "s1")
	if lines := all(t, l); len(lines) != 30 {
		t.Errorf("%d events, want 30", len(lines))
	}
	if note, seen, err := l.SeenNote(ctx, "c1"); note != "" || !seen || err != nil {
		t.Errorf("the remembered input: %q %v %v", note, seen, err)
	}
	if in := texts(t, l); len(in) != 1 {
		t.Errorf("inbox = %v", in)
	}
	add(t, l, event("turn/end", `{}`))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	intact(t, path)
}
