package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rounds is the number of kills of the crash test; a soak is asked for by HITCHPOST_SOAK=1.
func rounds() int {
	if os.Getenv("HITCHPOST_SOAK") != "" {
		return 50
	}
	return 3
}

// guarantee 1, 3: kill -9 while 64 sessions append, again and again on one file.
func TestNothingAcknowledgedIsLostByAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	type acknowledged struct {
		session string
		seq     int64
	}
	ids := make(map[acknowledged]string)
	for round := range rounds() {
		o := start(t, "append", path)
		o.out.Scan() // it runs
		timer := time.AfterFunc(time.Duration(20+37*(round%8))*time.Millisecond, func() { o.cmd.Process.Kill() })
		for {
			var a acknowledged
			var id string
			// A last line that the kill cut is no acknowledgement.
			if n, _ := fmt.Sscan(o.out.Text(), &a.session, &a.seq, &id); n == 3 && isID(id) {
				ids[a] = id
			} else if strings.HasPrefix(o.out.Text(), "error") {
				t.Fatalf("round %d: %s", round, o.out.Text())
			}
			if !o.out.Scan() {
				break
			}
		}
		timer.Stop()
		o.kill()

		began := time.Now()
		s, err := Open(context.Background(), path, Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		t.Logf("round %d: %d acknowledged so far, opened in %v", round, len(ids), time.Since(began))
		for a, id := range ids {
			e, ok, err := hold(t, s, a.session).ByID(context.Background(), id)
			if err != nil || !ok || e.Seq != a.seq {
				t.Fatalf("round %d: acknowledged seq %d of %s is gone: %v %v", round, a.seq, a.session, ok, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		intact(t, path)
	}
}

func intact(t testing.TB, path string) Report {
	t.Helper()
	r, err := Verify(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return r
}

// guarantee 3, 5: a write-ahead log that ends anywhere gives a prefix of the commits.
func TestAWriteAheadLogCutAtAnyLengthGivesACleanPrefix(t *testing.T) {
	crashed := crashed(t)
	file, err := os.ReadFile(crashed)
	if err != nil {
		t.Fatal(err)
	}
	wal, err := os.ReadFile(crashed + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	dir, had := t.TempDir(), -1
	cuts := 25
	if testing.Short() || raceDetector { // one goroutine reads at a time
		cuts = 5
	}
	step := max(len(wal)/cuts, 1)
	for cut := 0; cut <= len(wal); cut += step + 1 { // not in step with the frames
		path := filepath.Join(dir, fmt.Sprintf("%d.db", cut))
		os.WriteFile(path, file, 0o600)
		os.WriteFile(path+"-wal", wal[:cut], 0o600)
		s, err := Open(context.Background(), path, Options{})
		if err != nil {
			t.Fatalf("cut at %d of %d: %v", cut, len(wal), err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		r := intact(t, path)
		if r.Events < had {
			t.Errorf("cut at %d there are %d events, with less of the log there were %d", cut, r.Events, had)
		}
		had = r.Events
	}
	if had <= 0 {
		t.Error("no cut gave any event")
	}
}
