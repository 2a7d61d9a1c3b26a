package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// guarantee 12
func TestASecondProcessIsRefusedAndToldTheHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	first := start(t, "hold", path)
	if !first.out.Scan() || first.out.Text() != "ready" {
		t.Fatalf("the first process says %q", first.out.Text())
	}
	link := filepath.Join(t.TempDir(), "another name.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		_, err := Open(context.Background(), name, Options{})
		want := fmt.Sprintf("held by pid %d 127.0.0.1:4242", first.cmd.Process.Pid)
		if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), want) {
			t.Errorf("open %s = %v, want ErrLocked with %q", name, err, want)
		}
	}
	first.kill()
	openAt(t, path, Options{}) // a dead holder does not keep the file
}

// guarantee 12
func TestAFileThatIsNotOursIsRefusedUntouched(t *testing.T) {
	dir := t.TempDir()
	newer, other := filepath.Join(dir, "newer.db"), filepath.Join(dir, "other.db")
	if err := openAt(t, newer, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	alter(t, newer, fmt.Sprintf("PRAGMA user_version = %d", len(migrations)+1))
	alter(t, other, "CREATE TABLE x(y); INSERT INTO x VALUES(1)")
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte("buy milk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{newer: ErrNewer, other: ErrForeign, text: ErrForeign, dir: ErrForeign} {
		before, _ := os.ReadFile(path)
		for _, f := range []func() error{
			func() error { _, err := Open(context.Background(), path, Options{}); return err },
			func() error { return Backup(context.Background(), path, filepath.Join(dir, "copy.db")) },
			func() error { _, err := Verify(context.Background(), path, nil); return err },
		} {
			if err := f(); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", filepath.Base(path), err, want)
			}
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s was changed", filepath.Base(path))
		}
		for _, beside := range []string{"-wal", "-journal"} {
			if exists(path + beside) {
				t.Errorf("%s%s was made", filepath.Base(path), beside)
			}
		}
	}
}

// guarantee 12
func TestANewerSchemaThatIsStillInTheWriteAheadLogIsRefused(t *testing.T) {
	path := crashed(t)
	wal := func() string { b, _ := os.ReadFile(path + "-wal"); return string(b) }
	db, err := openOutside(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // keeps the next close from folding the write-ahead log in
	alter(t, path, fmt.Sprintf("PRAGMA user_version = %d", len(migrations)+1))
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before := wal()
	if _, err := Open(context.Background(), path, Options{}); !errors.Is(err, ErrNewer) {
		t.Errorf("open = %v, want ErrNewer", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(file, after) || wal() != before {
		t.Error("the refused file or its write-ahead log was changed")
	}
}

// crashed leaves a file whose process was killed with events in its write-ahead log.
func crashed(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.db")
	o := start(t, "append", path)
	for range 200 {
		if !o.out.Scan() || strings.HasPrefix(o.out.Text(), "error") {
			t.Fatalf("the process says %q", o.out.Text())
		}
	}
	o.kill()
	return path
}

// guarantee 12
func TestALostOrForeignWriteAheadLogIsRefusedAndAFoldedOneIsNot(t *testing.T) {
	ctx := context.Background()
	refused := func(path, want string) {
		t.Helper()
		if _, err := Open(ctx, path, Options{}); !errors.Is(err, ErrWAL) || !strings.Contains(err.Error(), want) {
			t.Errorf("open = %v, want ErrWAL with %q", err, want)
		}
	}
	lost := crashed(t)
	wal, err := os.ReadFile(lost + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(lost + "-wal")
	os.Remove(lost + "-shm")
	refused(lost, "is missing")
	other := crashed(t)
	otherWAL, err := os.ReadFile(other + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(lost+"-wal", otherWAL, 0o600)
	refused(lost, "written for another file")
	os.WriteFile(lost+"-wal", bytes.Repeat([]byte("no log "), 1000), 0o600)
	refused(lost, "no write-ahead log of SQLite")
	os.WriteFile(lost+"-wal", wal, 0o600)
	s := openAt(t, lost, Options{})
	if list, err := s.Sessions(ctx); err != nil || len(list) == 0 {
		t.Errorf("with its own write-ahead log: %d sessions, %v", len(list), err)
	}

	// Somebody looked into the file with another tool, which folds in and removes what it finds.
	folded := crashed(t)
	alter(t, folded, "PRAGMA wal_checkpoint(TRUNCATE)")
	if exists(folded + "-wal") {
		t.Fatal("the other tool left a write-ahead log")
	}
	openAt(t, folded, Options{})

	// A backup was put in place of a file whose write-ahead log stayed behind.
	stale, backup := crashed(t), filepath.Join(t.TempDir(), "backup.db")
	if err := Backup(ctx, stale, backup); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(backup, stale); err != nil {
		t.Fatal(err)
	}
	refused(stale, "written for another file")

	// An empty file by hand says: go on without.
	given := crashed(t)
	os.Remove(given + "-shm")
	if err := os.Truncate(given+"-wal", 0); err != nil {
		t.Fatal(err)
	}
	openAt(t, given, Options{})
}

func TestTheFilesAreForTheirOwnerOnlyAndWhatAnAbortedCreateLeftIsCleared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a?b#c %41.db")
	os.WriteFile(path+".new", []byte("left by a crash"), 0o644)
	s := openAt(t, path, Options{})
	session(t, s, "s1")
	for _, name := range []string{"", "-wal", "-shm", ".lock"} {
		info, err := os.Stat(path + name)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v, want mode 0600", name, info, err)
		}
	}
	if exists(path + ".new") {
		t.Error("the file under its temporary name is still there")
	}
}

func TestALogKeepsItsIdentityAndItsEventsOverARestart(t *testing.T) {
	s := open(t, Options{Durability: Normal})
	l := session(t, s, "s1")
	add(t, l, chunk("x"), event("turn/end", `{}`))
	before, id := all(t, l), s.LogID()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, s.path, Options{})
	l = hold(t, s, "s1")
	if after := all(t, l); strings.Join(after, "\n") != strings.Join(before, "\n") || s.LogID() != id || !isID(id) {
		t.Errorf("log %s before, %s after:\n%s\n%s", id, s.LogID(), before, after)
	}
	add(t, l, chunk("goes on"))
}

func TestAMigrationThatFailsLeavesTheFileAtTheStepBeforeIt(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	conn := s.writer.conn
	steps := append(migrations[:len(migrations):len(migrations)], "CREATE TABLE extra(x); INSERT INTO extra VALUES(1)", "CREATE TABLE more(x); nonsense")
	if err := migrate(ctx, conn, steps); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("schema %d", len(steps))) {
		t.Errorf("migrate = %v, want an error that names schema %d", err, len(steps))
	}
	var version, extra, more int
	err := conn.QueryRowContext(ctx, `SELECT user_version, (SELECT count(*) FROM extra),
		(SELECT count(*) FROM sqlite_schema WHERE name = 'more') FROM pragma_user_version`).Scan(&version, &extra, &more)
	if err != nil || version != len(steps)-1 || extra != 1 || more != 0 {
		t.Errorf("version %d, rows of the good step %d, tables of the bad one %d, %v", version, extra, more, err)
	}
}

func TestBadOptionsAndAMissingDirectoryAreNamed(t *testing.T) {
	for want, f := range map[string]func() error{
		`durability is "ful"`: func() error { _, err := Open(context.Background(), "x.db", Options{Durability: "ful"}); return err },
		"recent events is -1": func() error { _, err := Open(context.Background(), "x.db", Options{RecentEvents: -1}); return err },
		"no such file or directory": func() error {
			_, err := Open(context.Background(), filepath.Join(t.TempDir(), "no", "log.db"), Options{})
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("open = %v, want %q", err, want)
		}
	}
}
