package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// open opens a store in a fresh directory and closes it with the test.
func open(t testing.TB, o Options) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "log.db"), o)
}

func openAt(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// session creates a session with its first event and opens its log.
func session(t testing.TB, s *Store, id string) *Log {
	t.Helper()
	first := []NewEvent{{Type: "session/created", Payload: json.RawMessage(`{"parent_id":null}`)}}
	if err := s.Create(context.Background(), Session{ID: id, Owner: "ada", Agent: "default"}, first); err != nil {
		t.Fatal(err)
	}
	return hold(t, s, id)
}

func hold(t testing.TB, s *Store, id string) *Log {
	t.Helper()
	l, err := s.OpenLog(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func event(typ, payload string) NewEvent {
	return NewEvent{Type: typ, Payload: json.RawMessage(payload)}
}

func chunk(text string) NewEvent {
	b, _ := json.Marshal(map[string]string{"text": text})
	return NewEvent{Type: "assistant/chunk", Payload: b, Streamed: true}
}

// next is the seq that the log will commit next.
func next(l *Log) int64 {
	tip, _ := l.Tip()
	return tip + 1
}

// add appends events at the tip.
func add(t testing.TB, l *Log, events ...NewEvent) []Event {
	t.Helper()
	out, err := l.Append(context.Background(), Batch{From: next(l), Events: events})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// all reads the log from the disk, page by page.
func all(t testing.TB, l *Log) (lines []string) {
	t.Helper()
	for {
		p, err := l.Page(context.Background(), int64(len(lines)))
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Lines) == 0 {
			return lines
		}
		for _, line := range p.Lines {
			lines = append(lines, string(line))
		}
	}
}

// alter changes a closed file behind the store's back.
func alter(t testing.TB, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

// grow fills a log with chunks, by way of the store.
func grow(b testing.TB, l *Log, n int) {
	text := strings.Repeat("x", 208)
	for next(l) < int64(n) {
		events := make([]NewEvent, min(1000, int64(n)-next(l)))
		for i := range events {
			events[i] = chunk(text)
		}
		add(b, l, events...)
	}
}

// alterOpen changes a file behind the store's back, by the writer's connection.
func alterOpen(t testing.TB, s *Store, query string) {
	t.Helper()
	if _, err := s.writer.conn.ExecContext(context.Background(), query); err != nil {
		t.Fatal(err)
	}
}

// stamp is a time, later for a higher n.
func stamp(n int) time.Time { return time.Date(2026, 8, 18, 4, 10, n, 123456000, time.UTC) }
