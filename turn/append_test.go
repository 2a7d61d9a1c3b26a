package turn

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"

	"hitchpost/turn/event"
)

// TestATurnWhoseAppendFailsStaysOpenAndIsResumed: guarantees 2 and 8. Another program
// holds the file locked for longer than SQLite waits for it, 5 s.
func TestATurnWhoseAppendFailsStaysOpenAndIsResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	script := func(lines ...[2]string) {
		t.Helper()
		for _, line := range lines {
			if err := w.run(line[0], line[1]); err != nil {
				t.Fatalf("%s %s: %v", line[0], line[1], err)
			}
		}
	}
	script([2]string{"model", `"half" @g "never"`}, [2]string{"model", `"whole"`}, [2]string{"wake", "hi"}, [2]string{"await", "g"})
	unlock := lockFile(t, w.path)
	var failed *AppendError
	if err := w.run("inject-id", "i-1 lost"); !errors.As(err, &failed) {
		t.Errorf("inject on a file that cannot be written = %v, want an *AppendError", err)
	}
	script([2]string{"status", string(Resumable)})
	unlock()
	script([2]string{"status", string(Resumable)}, [2]string{"inject-id", "i-1 sent again"})
	w.idle()
	log := w.log()
	checkInvariants(t, log)
	if isOpen(log) || count(log, event.TurnStartType) != 1 {
		t.Errorf("want one turn, closed:\n%s", render(log))
	}
	var texts []string
	for _, ev := range log {
		if event.Type(ev.Type) == event.ContextInjectedType {
			var p event.ContextInjected
			mustUnmarshal(t, ev.Payload, &p)
			texts = append(texts, p.Text)
		}
	}
	if !slices.Equal(texts, []string{"sent again"}) {
		t.Errorf("injected %q, want the one whose append succeeded", texts)
	}
}

// lockFile keeps everybody else from writing to the file.
func lockFile(t *testing.T, path string) (unlock func()) {
	t.Helper()
	ctx := context.Background()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := db.ExecContext(ctx, "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	}
}
