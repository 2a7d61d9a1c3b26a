package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// camera copies the file with its write-ahead log whenever the writer is about to
// commit, as a crash at that moment would leave them.
type camera struct {
	t    testing.TB
	path string
	on   atomic.Bool
	dir  string
	shot int
}

// filmed opens a store with a camera, which is off.
func filmed(t testing.TB) (*Store, *camera) {
	t.Helper()
	c := &camera{t: t, dir: t.TempDir(), path: filepath.Join(t.TempDir(), "log.db")}
	return openAt(t, c.path, Options{fault: c.take}), c
}

// take is a fault that never fails; the writer calls it.
func (c *camera) take(stage string) error {
	if stage == "insert" || !c.on.Load() {
		return nil
	}
	to := filepath.Join(c.dir, fmt.Sprintf("%d.db", c.shot))
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(c.path + suffix)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to+suffix, b, 0o600); err != nil {
			return err
		}
	}
	c.shot++
	return nil
}

// crashes opens each picture as the next life of the process would, looks, lets it do
// its chores and checks the file that is left.
func (c *camera) crashes(look func(n int, s *Store)) {
	c.t.Helper()
	c.on.Store(false)
	for n := range c.shot {
		path := filepath.Join(c.dir, fmt.Sprintf("%d.db", n))
		s, err := Open(context.Background(), path, Options{})
		if err != nil {
			c.t.Fatalf("crash %d of %d: %v", n, c.shot, err)
		}
		look(n, s)
		idle(c.t, s)
		if left := rowsLeft(c.t, s); left != 0 {
			c.t.Errorf("crash %d of %d: %d rows are left that nobody sees", n, c.shot, left)
		}
		if err := s.Close(); err != nil {
			c.t.Fatal(err)
		}
		intact(c.t, path)
	}
}

var idled atomic.Int64

// idle waits until the writer has nothing left to do.
func idle(t testing.TB, s *Store) {
	t.Helper()
	for {
		var waits bool
		if err := s.read.QueryRow("SELECT EXISTS(SELECT 1 FROM leftovers)").Scan(&waits); err != nil {
			t.Fatal(err)
		}
		if !waits {
			return
		}
		// A commit of another's goes in between: the chores are not waited for.
		id := fmt.Sprintf("idle%d", idled.Add(1))
		if err := s.Create(context.Background(), Session{ID: id}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// rowsLeft counts the rows of sessions that do not exist, or are tombstones.
func rowsLeft(t testing.TB, s *Store) (n int) {
	t.Helper()
	for _, table := range []string{"events", "inbox", "inputs_seen", "texts"} {
		var rows int
		if err := s.read.QueryRow("SELECT count(*) FROM " + table +
			" WHERE session NOT IN (SELECT key FROM sessions WHERE deleted_at IS NULL)").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		n += rows
	}
	return n
}
