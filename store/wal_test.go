package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// guarantee 8: readers whose page reads overlap without a break, as when many
// slow clients replay, do not keep the write-ahead log from being reset.
func TestTheWriteAheadLogStaysSmallWhileReadersReplayAndMuchIsWritten(t *testing.T) {
	total := 40 << 20
	if os.Getenv("HITCHPOST_SOAK") != "" {
		total = 300 << 20
	}
	s := open(t, Options{})
	l := session(t, s, "s1")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			next := int64(i)
			for {
				select {
				case <-stop:
					return
				default:
				}
				p, err := l.Page(context.Background(), next)
				if err != nil {
					t.Error(err)
					return
				}
				if next += int64(len(p.Lines)); len(p.Lines) == 0 {
					next = 0
				}
			}
		})
	}
	text := chunk(strings.Repeat("x", 16<<10))
	largest := int64(0)
	for written := 0; written < total; written += 32 * len(text.Payload) {
		events := make([]NewEvent, 32)
		for i := range events {
			events[i] = text
		}
		add(t, l, events...)
		if info, err := os.Stat(s.path + "-wal"); err != nil {
			t.Fatal(err)
		} else {
			largest = max(largest, info.Size())
		}
	}
	close(stop)
	wg.Wait()
	t.Logf("%d MB written, the write-ahead log had at most %.1f MB", total>>20, float64(largest)/(1<<20))
	if largest > 32<<20 {
		t.Errorf("the write-ahead log grew to %d MB while %d MB were written", largest>>20, total>>20)
	}
}

// guarantee 8, 12
func TestACheckpointLeavesTheMarksByWhichALostWriteAheadLogIsTold(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "log.db")
	if err := create(ctx, path); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", dsn(path, "rw", "_pragma=wal_autocheckpoint(0)"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := checkpoints{conn: conn, wal: path + "-wal"}
	for i := range 3 {
		if _, err := conn.ExecContext(ctx, "INSERT INTO meta VALUES(?, hex(randomblob(50000)))", i); err != nil {
			t.Fatal(err)
		}
		if _, err := c.run(ctx); err != nil {
			t.Fatal(err)
		}
		_, inFile, err := readMeta(ctx, path, "immutable=1")
		_, withWAL, err2 := readMeta(ctx, path, "_query_only=1")
		if err != nil || err2 != nil || !inFile || withWAL {
			t.Errorf("needed says %v in the file and %v with its write-ahead log (%v %v), want true and false", inFile, withWAL, err, err2)
		}
		if want := c.written() + walPages; c.next != want {
			t.Errorf("with nobody reading the next checkpoint is due at %d pages, want %d", c.next, want)
		}
	}
}

// guarantee 13, 14
func TestABackupIsOneMomentOfALogThatGoesOnGrowing(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := session(t, s, "s1")
	grow(t, l, 2000)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				events := []NewEvent{chunk("x"), event("turn/end", `{}`)}
				if _, err := l.Append(ctx, Batch{From: next(l), Events: events}); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	before, _ := l.Tip()
	dest := s.path + ".copy"
	err := Backup(ctx, s.path, dest)
	close(stop)
	wg.Wait()
	after, _ := l.Tip() // once the append under way, which the copy may hold, is published
	if err != nil {
		t.Fatal(err)
	}
	r := intact(t, dest)
	if n := int64(r.Events); n < before+1 || n > after+1 || n%2 != 0 {
		t.Errorf("the copy has %d events; between %d and %d, and an even number, were there", n, before+1, after+1)
	}
	if r.LogID == s.LogID() || !isID(r.LogID) {
		t.Errorf("the copy's log id is %s, the original's %s", r.LogID, s.LogID())
	}
	info, err := os.Stat(dest)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy has mode %v %v, want 0600", info.Mode(), err)
	}
	if err := Backup(ctx, s.path, dest); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("backup onto a file = %v, want a refusal", err)
	}
	copied := openAt(t, dest, Options{})
	cl := hold(t, copied, "s1")
	add(t, cl, chunk("another life"))
	left, err := os.ReadDir(filepath.Dir(dest))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if strings.HasPrefix(e.Name(), ".hitchpost-backup-") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

func TestVerifyNamesWhatIsWrong(t *testing.T) {
	for want, damage := range map[string]string{
		"seq 2 should be here":                 "DELETE FROM events WHERE seq = 2",
		"seq 2: the event is not valid JSON":   `UPDATE events SET event = '{"id' WHERE seq = 2`,
		"seq 3: its position in bytes":         "UPDATE events SET pos = pos + 1 WHERE seq = 3",
		"seq 1: the event is not the one":      "UPDATE events SET type = 'x' WHERE seq = 1",
		"is taken by an earlier event":         "UPDATE events SET event = replace(event, substr(event, 8, 16), (SELECT substr(event, 8, 16) FROM events WHERE seq = 2)) WHERE seq = 3",
		"events holds rows of 1 sessions that": "UPDATE sessions SET key = 77",
		"inputs_seen holds rows of 1 sessions": "UPDATE inputs_seen SET session = 77",
		"texts holds rows of 1 sessions":       "UPDATE texts SET session = 77",
		"1 sessions have a digest":             "UPDATE sessions SET digest = '{'",
		"1 deleted sessions have rows":         "UPDATE sessions SET deleted_at = 1",
		"1 sessions that are not deleted":      "INSERT INTO leftovers SELECT key FROM sessions",
		"1 texts of the search are not in":     "DELETE FROM search",
		"the search's index has 1 texts":       "DELETE FROM texts",
		"1 texts of the search belong to no":   "UPDATE texts SET seq = 2",
		"malformed inverted index for FTS5":    "UPDATE search_content SET c1 = 'something else'",
	} {
		s := open(t, Options{SearchText: saidIn})
		l := session(t, s, "s1")
		add(t, l, event("turn/start", `{"text":"to be found"}`), chunk("a"), chunk("b"))
		if _, err := l.Append(context.Background(), Batch{From: next(l), Seen: []string{"c"}, Digest: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		intact(t, s.path)
		alter(t, s.path, damage)
		r, err := Verify(context.Background(), s.path, nil)
		if err != nil || !strings.Contains(fmt.Sprint(r.Err()), want) {
			t.Errorf("after %s: %v %v, want %q", damage, r.Err(), err, want)
		}
	}
}
