package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// pragma sets something on the writer's connection, between two transactions.
func pragma(t *testing.T, s *Store, q string) {
	t.Helper()
	var ignored sql.NullString
	if err := s.writer.conn.QueryRowContext(context.Background(), "PRAGMA "+q).Scan(&ignored); err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatal(err)
	}
}

// guarantee 5, by SQLite's own errors
func TestADiskThatFailsFailsAppendsByNameAndHealsWithoutARestart(t *testing.T) {
	for name, c := range map[string]struct {
		breakIt, mendIt string
		code            int
	}{
		"full":      {"max_page_count = 1", "max_page_count = 1000000", sqlite3.SQLITE_FULL},
		"read-only": {"query_only = 1", "query_only = 0", sqlite3.SQLITE_READONLY},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, Options{})
			l, quiet := session(t, s, "s1"), session(t, s, "s2")
			heard := 0
			defer l.Watch(func() { heard++ })()
			pragma(t, s, c.breakIt)
			big := chunk(strings.Repeat("x", 100_000))
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Add(1)
				l.Submit(Batch{From: int64(1 + i), Events: []NewEvent{big}, Put: []Input{{Position: int64(i)}}}, func(_ []Event, err error) {
					var e *sqlite.Error
					if i == 0 && (!errors.As(err, &e) || e.Code()&0xff != c.code) || err == nil {
						t.Errorf("append %d = %v", i, err)
					}
					wg.Done()
				})
			}
			wg.Wait()
			if err := s.Create(context.Background(), Session{ID: "s3"}, []NewEvent{big}); err == nil {
				t.Error("a session was created on the failing disk")
			}
			if tip, _ := l.Tip(); tip != 0 || heard != 0 || len(all(t, l)) != 1 || len(all(t, quiet)) != 1 {
				t.Errorf("tip %d, %d events, watcher called %d times; nothing should be published, reads should go on", tip, len(all(t, l)), heard)
			}
			pragma(t, s, c.mendIt)
			add(t, l, big)
			if lines := all(t, l); len(lines) != 2 || len(texts(t, l)) != 0 {
				t.Errorf("%d events, inbox %v after the disk recovered", len(lines), texts(t, l))
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			intact(t, s.path)
		})
	}
}

// guarantee 5
func TestACommitThatFailsFailsEveryCallerOfTheGroup(t *testing.T) {
	broken := errors.New("input/output error")
	failing := false
	s := open(t, Options{fault: func(stage string) error {
		if failing && stage == "commit" {
			return broken
		}
		return nil
	}})
	var logs []*Log
	for i := range 5 {
		logs = append(logs, session(t, s, fmt.Sprintf("s%d", i)))
	}
	try := func() (failed int) {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, l := range logs {
			wg.Add(1)
			l.Submit(Batch{From: 1, Events: []NewEvent{chunk("x")}}, func(_ []Event, err error) {
				mu.Lock()
				defer mu.Unlock()
				if errors.Is(err, broken) {
					failed++
				}
				wg.Done()
			})
		}
		wg.Wait()
		return failed
	}
	failing = true
	if got := try(); got != len(logs) {
		t.Errorf("%d of %d callers heard of it", got, len(logs))
	}
	failing = false
	if got := try(); got != 0 {
		t.Errorf("%d failed after the disk recovered", got)
	}
}

// guarantee 5: an append fails for those behind it too, and whichever of them somebody
// waits for, it says what the trouble was.
func TestAnAppendBehindOneThatFailedNamesItsTrouble(t *testing.T) {
	broken := errors.New("no space left")
	failing := false
	s := open(t, Options{fault: func(stage string) error {
		if failing && stage == "commit" {
			return broken
		}
		return nil
	}})
	l := session(t, s, "s1")
	append := func(from int64) error {
		_, err := l.Append(context.Background(), Batch{From: from, Events: []NewEvent{chunk("x")}})
		return err
	}
	failing = true
	if err := append(1); !errors.Is(err, broken) {
		t.Fatalf("append = %v", err)
	}
	failing = false
	for from := range int64(2) {
		if err := append(2 + from); !errors.Is(err, broken) || !errors.Is(err, ErrConflict) {
			t.Errorf("the append behind it = %v, want a conflict and its cause", err)
		}
	}
	if err := append(1); err != nil {
		t.Fatal(err)
	}
	if err := append(3); !errors.Is(err, ErrConflict) || errors.Is(err, broken) {
		t.Errorf("misplaced, and nothing has failed since = %v", err)
	}
}
