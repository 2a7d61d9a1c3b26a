package server_test

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hitchpost/server"
	"hitchpost/server/config"
	"hitchpost/store"
)

// TestADamagedSessionKeepsNoOtherFromStarting: it is named in the log; the waiting texts
// of the others begin their turns, and the server serves. Guarantee 1.
func TestADamagedSessionKeepsNoOtherFromStarting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	leaveWaking(t, path, "good", "damaged")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE events SET event = '{}' WHERE session = (SELECT key FROM sessions WHERE id = 'damaged')"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	log := &output{}
	cfg := config.ZeroConfig()
	cfg.Database, cfg.Listen, cfg.Tools.Workspace, cfg.Timeouts.Shutdown = path, "127.0.0.1:0", []string{t.TempDir()}, config.Duration(100*time.Millisecond)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err = server.Run(ctx, server.Options{
		Config: cfg, Log: slog.New(slog.NewTextHandler(log, nil)), Ready: func(string) { stop() },
	})
	if err != nil {
		t.Errorf("Run = %v", err)
	}
	if !log.has("session=damaged") || log.has("session=good") {
		t.Errorf("the log says:\n%s", log)
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	if strings.Contains(string(stacks), "hitchpost/turn.") {
		t.Errorf("a turn goes on beside a log that was closed:\n%s", stacks)
	}
}

// TestWaitingTextsHaveBegunTheirTurnsBeforeAnythingIsServed: guarantee 1.
func TestWaitingTextsHaveBegunTheirTurnsBeforeAnythingIsServed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	leaveWaking(t, path, "a", "b", "c")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	begun := 0
	cfg := config.ZeroConfig()
	cfg.Database, cfg.Listen, cfg.Tools.Workspace, cfg.Timeouts.Shutdown = path, "127.0.0.1:0", []string{t.TempDir()}, 0
	err := server.Run(ctx, server.Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Ready: func(string) {
		defer stop()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Error(err)
			return
		}
		defer db.Close()
		if err := db.QueryRow("SELECT count(*) FROM events WHERE type = 'turn/start'").Scan(&begun); err != nil {
			t.Error(err)
		}
	}})
	if err != nil || begun != 3 {
		t.Errorf("Run = %v; %d turns had begun when the server was ready, want 3", err, begun)
	}
}

// leaveWaking makes sessions in whose inbox a text waits, as a crash leaves it.
func leaveWaking(t *testing.T, path string, ids ...string) {
	t.Helper()
	ctx := context.Background()
	st, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		created := []store.NewEvent{{Type: "session/created", Payload: []byte(`{"parent_id":null}`)}}
		if err := st.Create(ctx, store.Session{ID: id, Owner: "me", Agent: config.DefaultAgent}, created); err != nil {
			t.Fatal(err)
		}
		log, err := st.OpenLog(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		text := store.Input{Position: 1, ID: "0000000000000001", Queue: "next_turn", Text: "think 5000", Wake: true}
		if _, err := log.Append(ctx, store.Batch{From: 1, Put: []store.Input{text}}); err != nil {
			t.Fatal(err)
		}
		log.Close()
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}
