package agentsocket

import (
	"context"
	"database/sql"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestShutdownTellsTheClients1001(t *testing.T) {
	w := newWorld(t, settings{})
	p := w.join("a")
	go w.group.Shutdown(context.Background())
	if frames, code := p.rest(); len(frames) != 0 || code != websocket.StatusGoingAway {
		t.Errorf("frames %q, close code %d; want none, 1001", frames, code)
	}
}

// Whoever is at the door uses the host and the log, which end behind Shutdown.
func TestShutdownWaitsForWhoIsStillAtTheDoor(t *testing.T) {
	w := newWorld(t, settings{})
	db, err := sql.Open("sqlite", w.path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	other, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err) // from here on no session can be created
	}
	p := w.dial("new", "secret-all")
	for stacks := make([]byte, 1<<20); !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "store.(*Store).Create"); {
		runtime.Gosched() // the session has yet to be asked for
	}
	down := make(chan error, 1)
	go func() { down <- w.group.Shutdown(context.Background()) }()
	p.rest()
	select {
	case err := <-down:
		t.Errorf("Shutdown returned %v while the session was being created", err)
		down <- nil
	case <-time.After(200 * time.Millisecond):
	}
	if _, err := other.ExecContext(context.Background(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
}
