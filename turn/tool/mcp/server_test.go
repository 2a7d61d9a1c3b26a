package mcp

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// pauses is a log handler that collects how long each attempt is put off.
type pauses struct{ all *[]time.Duration }

func (p pauses) Enabled(context.Context, slog.Level) bool { return true }
func (p pauses) WithAttrs([]slog.Attr) slog.Handler       { return p }
func (p pauses) WithGroup(string) slog.Handler            { return p }
func (p pauses) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "again_in" {
			*p.all = append(*p.all, a.Value.Duration())
		}
		return true
	})
	return nil
}

// TestPausesBetweenAttemptsGrowToACapAndACallCutsThemShort: guarantee 7.
func TestPausesBetweenAttemptsGrowToACapAndACallCutsThemShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []time.Duration
		m, err := Open(context.Background(), []ServerConfig{{Name: "absent", Command: []string{"no-such-program-anywhere"}}},
			Options{Log: slog.New(pauses{&seen})})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute) // on the fake clock
		synctest.Wait()
		for i, pause := range seen {
			about := min(minPause<<i, maxPause)
			if i > 10 {
				about = maxPause
			}
			if pause < about/2 || pause > about*3/2 {
				t.Errorf("pause %d is %s, not about %s", i, pause, about)
			}
		}
		if len(seen) < 14 || len(seen) > 30 {
			t.Errorf("%d attempts in ten minutes", len(seen))
		}
		before, began := len(seen), time.Now()
		if _, err := m.servers[0].borrow(context.Background()); err == nil {
			t.Error("a connection to a server that is not there")
		}
		waited := time.Since(began)
		synctest.Wait() // the call is told before the attempt is logged
		m.Close()
		if waited != 0 || len(seen) == before {
			t.Errorf("the call waited %s and made %d attempts", waited, len(seen)-before)
		}
	})
}
