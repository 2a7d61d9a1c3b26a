package follow

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hitchpost/store"
)

// fixture is a log in a real file.
type fixture struct {
	t   *testing.T
	log *store.Log
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	st, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "log.db"), store.Options{Durability: store.Normal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	if err := st.Create(context.Background(), store.Session{ID: "s", Owner: "me"}, []store.NewEvent{{Type: "session/created", Payload: json.RawMessage(`{}`)}}); err != nil {
		t.Fatal(err)
	}
	log, err := st.OpenLog(context.Background(), "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(log.Close)
	return &fixture{t, log}
}

func (f *fixture) fill(n, size int) {
	f.t.Helper()
	tip, _ := f.log.Tip()
	b := store.Batch{From: tip + 1}
	for range n {
		b.Events = append(b.Events, store.NewEvent{Type: "assistant/chunk", Streamed: true,
			Payload: json.RawMessage(`{"text":"` + strings.Repeat("x", size) + `"}`)})
	}
	if _, err := f.log.Append(context.Background(), b); err != nil {
		f.t.Fatal(err)
	}
}

// basket is a Sink with room for so many events.
type basket struct {
	room   int
	lines  []string
	probes []func()
}

func (b *basket) Fits(int) bool    { return b.room > 0 }
func (b *basket) Text(line []byte) { b.room--; b.lines = append(b.lines, string(line)) }
func (b *basket) Probe(fn func())  { b.probes = append(b.probes, fn) }

// reader is a Reader whose wakes can be awaited.
type reader struct {
	*Reader
	woken chan struct{}
}

func (f *fixture) follow(slots *Slots, from int64, bound int) *reader {
	r := &reader{woken: make(chan struct{}, 1)}
	r.Reader = slots.Follow(f.log, from, bound, func() {
		select {
		case r.woken <- struct{}{}:
		default:
		}
	})
	return r
}

// read reads until n events were taken, waking as told.
func (r *reader) read(t *testing.T, to *basket, n int) {
	t.Helper()
	for {
		if err := r.Next(to); err != nil {
			t.Fatal(err)
		}
		if len(to.lines) >= n || to.room == 0 {
			return
		}
		select {
		case <-r.woken:
		case <-time.After(time.Minute):
			t.Fatalf("no wake after %d of %d events", len(to.lines), n)
		}
	}
}

func wantSeqs(t *testing.T, lines []string, from int64) {
	t.Helper()
	for i, line := range lines {
		if want := fmt.Sprintf(`"seq":%d,`, from+int64(i)); !strings.Contains(line, want) {
			t.Fatalf("event %d is %.120s, want %s", i, line, want)
		}
	}
}

// guarantee 1
func TestEveryWayFromPagesToRecentEventsIsGapless(t *testing.T) {
	f := newFixture(t)
	f.fill(700, 10)
	for _, step := range []int{1, 7, 255, 256, 257, 10_000} {
		r := f.follow(NewSlots(1), 3, 1000)
		b := &basket{}
		tip, _ := f.log.Tip()
		want := int(tip) - 3 + 1
		for len(b.lines) < want {
			b.room = step
			r.read(t, b, want)
		}
		f.fill(5, 10)
		b.room = 100
		r.read(t, b, want+5)
		wantSeqs(t, b.lines, 3)
		if len(b.lines) != want+5 {
			t.Errorf("step %d: %d events, want %d", step, len(b.lines), want+5)
		}
		r.Close()
	}
}

// guarantee 3
func TestASlotIsHeldForTheReadAndNotWhileThePageIsSent(t *testing.T) {
	f := newFixture(t)
	f.fill(700, 10)
	slots := NewSlots(1)
	slow := f.follow(slots, 0, 1000)
	defer slow.Close()
	b := &basket{room: 10}
	slow.read(t, b, 10) // holds the rest of its page and takes no more
	quick := f.follow(slots, 0, 1000)
	defer quick.Close()
	all := &basket{room: 10_000}
	quick.read(t, all, 701)
	wantSeqs(t, all.lines, 0)
}

// guarantee 3
func TestAReaderWithinTheRecentEventsNeedsNoSlot(t *testing.T) {
	f := newFixture(t)
	slots := NewSlots(1)
	release, err := slots.Take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	r := f.follow(slots, 1, 1000)
	defer r.Close()
	f.fill(700, 10)
	b := &basket{room: 10_000}
	r.read(t, b, 700)
	wantSeqs(t, b.lines, 1)
}

// guarantee 5
func TestCloseDoesNotWaitForASlot(t *testing.T) {
	f := newFixture(t)
	f.fill(700, 10)
	slots := NewSlots(1)
	release, err := slots.Take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r := f.follow(slots, 0, 1000)
	if err := r.Next(&basket{room: 1}); err != nil {
		t.Fatal(err)
	}
	r.Close()
	release()
	if release, err = slots.Take(context.Background()); err != nil { // nobody kept it
		t.Fatal(err)
	}
	release()
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		tip, from, limit, start int64
		cut                     bool
	}{
		{-1, 0, 10, 0, false},
		{999, 900, 100, 900, false},
		{999, 899, 100, 900, true},
		{999, 1<<63 - 1, 100, 1<<63 - 1, false},
		{1<<62 - 1, 0, 1, 1<<62 - 1, true},
	} {
		if start, cut := Window(c.tip, c.from, c.limit); start != c.start || cut != c.cut {
			t.Errorf("Window(%d, %d, %d) = %d, %v; want %d, %v", c.tip, c.from, c.limit, start, cut, c.start, c.cut)
		}
	}
}

// lagged lets the fake time pass and tells whether the reader is then lagged.
func lagged(r *reader, after time.Duration) bool {
	time.Sleep(after)
	synctest.Wait()
	return r.Next(&basket{}) == ErrLagged
}

// guarantee 4
func TestOnlyALiveReaderThatIsBehindForAWholeSecondIsLagged(t *testing.T) {
	const most = LagPatience - time.Millisecond
	for name, run := range map[string]func(*testing.T, *fixture){
		"events": func(t *testing.T, f *fixture) {
			r := f.follow(NewSlots(1), 1, 5)
			defer r.Close()
			r.Next(&basket{})
			f.fill(5, 10)
			if lagged(r, time.Hour) {
				t.Error("lagged at its bound")
			}
			f.fill(1, 10)
			if lagged(r, most) {
				t.Error("lagged before a second had passed")
			}
			if !lagged(r, 2*time.Millisecond) {
				t.Error("not lagged after a second")
			}
		},
		"bytes": func(t *testing.T, f *fixture) {
			r := f.follow(NewSlots(1), 1, 1000)
			defer r.Close()
			r.Next(&basket{})
			f.fill(8, 1<<20-1000)
			if lagged(r, time.Hour) {
				t.Error("lagged within 8 MiB")
			}
			f.fill(1, 10_000)
			if !lagged(r, time.Second) {
				t.Error("not lagged beyond 8 MiB")
			}
		},
		"a reader that catches up in between": func(t *testing.T, f *fixture) {
			r := f.follow(NewSlots(1), 1, 5)
			defer r.Close()
			r.Next(&basket{})
			for range 100 {
				f.fill(6, 10)
				if lagged(r, most) {
					t.Fatal("lagged although it had caught up")
				}
				r.Next(&basket{room: 6})
			}
		},
		"a reader that is never quite near": func(t *testing.T, f *fixture) {
			r := f.follow(NewSlots(1), 1, 5)
			defer r.Close()
			r.Next(&basket{})
			f.fill(100, 10)
			time.Sleep(most)
			r.Next(&basket{room: 90})
			if !lagged(r, 2*time.Millisecond) {
				t.Error("not lagged although it was behind all along")
			}
		},
		"a reader that is live from the start": func(t *testing.T, f *fixture) {
			f.fill(10, 10)
			r := &reader{Reader: NewSlots(1).FollowLive(f.log, 1, 5, func() {})}
			defer r.Close()
			if r.AtTail() {
				t.Error("at the tail with ten events to hand on")
			}
			if lagged(r, most) {
				t.Error("lagged before a second had passed")
			}
			if !lagged(r, 2*time.Millisecond) {
				t.Error("not lagged after a second")
			}
		},
		"a replay": func(t *testing.T, f *fixture) {
			f.fill(700, 10)
			r := f.follow(NewSlots(1), 1, 5)
			defer r.Close()
			b := &basket{room: 10}
			for len(b.lines) < 10 {
				r.Next(b)
				synctest.Wait()
			}
			f.fill(2000, 10)
			if lagged(r, time.Hour) {
				t.Error("lagged although it had not reached the tail")
			}
		},
		"a client that has yet to show that it has its replay": func(t *testing.T, f *fixture) {
			f.fill(200, 10_000)
			r := f.follow(NewSlots(1), 1, 5)
			defer r.Close()
			b := &basket{room: 10_000}
			for len(b.lines) < 200 {
				r.Next(b)
				synctest.Wait()
			}
			r.Next(b)
			f.fill(100, 10)
			if lagged(r, time.Hour) {
				t.Error("lagged before its client had shown anything")
			}
			if len(b.probes) != 1 {
				t.Fatalf("%d probes, want 1", len(b.probes))
			}
			b.probes[0]()
			f.fill(1, 10)
			if !lagged(r, time.Second) {
				t.Error("not lagged after its client had shown it")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { run(t, newFixture(t)) })
		})
	}
}

func TestAReaderThatIsLaggedIsWokenWithoutAskingAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		r := f.follow(NewSlots(1), 1, 1)
		defer r.Close()
		r.Next(&basket{})
		f.fill(10, 10)
		synctest.Wait()
		<-r.woken // of the publish
		start := time.Now()
		<-r.woken // its owner may be blocked in a write meanwhile
		if took := time.Since(start); took != LagPatience {
			t.Errorf("woken after %v, want %v", took, LagPatience)
		}
		if err := r.Next(&basket{}); err != ErrLagged {
			t.Errorf("Next = %v, want %v", err, ErrLagged)
		}
	})
}
