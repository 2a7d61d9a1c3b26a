package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// varied appends n events of all sizes and kinds to a log.
func varied(t testing.TB, l *Log, n int) {
	t.Helper()
	var events []NewEvent
	for i := range n {
		e := chunk(fmt.Sprintf("piece %d <é>", i))
		switch i % 7 {
		case 3:
			e = event("turn/start", fmt.Sprintf(`{"agent":"%d"}`, i))
		case 5:
			e = event("user/message", fmt.Sprintf(`{"text":"apple%d"}`, i))
		}
		events = append(events, e)
	}
	for piece := range slices.Chunk(events, 500) {
		add(t, l, piece...)
	}
}

// renamed is what a log's lines are in another session.
func renamed(lines []string, from, to string) (out []string) {
	for _, line := range lines {
		a, b := strings.TrimSuffix(envelopeHead(from), envSeq), strings.TrimSuffix(envelopeHead(to), envSeq)
		out = append(out, strings.Replace(line, a, b, 1))
	}
	return out
}

func TestACopyHoldsThePrefixUnderItsOwnIDAndThenTheRest(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := session(t, s, "source")
	varied(t, l, 2000)
	add(t, l, chunk(strings.Repeat("b", PageBytes))) // a piece of its own
	add(t, l, event("turn/end", `{}`))
	if _, err := l.Append(ctx, Batch{From: next(l), Put: []Input{{Position: 1, ID: "c", ClientID: true, Wake: true}}}); err != nil {
		t.Fatal(err)
	}
	want := all(t, l)
	for _, n := range []int64{0, 1, 2, 255, 256, 257, 1000, int64(len(want))} {
		id := fmt.Sprintf(`copy "%d" longer than its source`, n)
		x := Session{ID: id, Owner: "ada", Agent: "default", Title: "t", ParentID: "p"}
		rest := []NewEvent{event("session/forked", `{"from":"source"}`), chunk("x")}
		if err := s.Copy(ctx, x, "source", n, rest, json.RawMessage(`{"run":"r"}`)); err != nil {
			t.Fatal(err)
		}
		c := hold(t, s, id)
		got := all(t, c)
		if len(got) != int(n)+2 || !slices.Equal(got[:n], renamed(want[:n], "source", id)) {
			t.Fatalf("copy of %d: %d events, or they differ", n, len(got))
		}
		row, err := s.Session(ctx, id)
		if err != nil || row.Title != "t" || row.ParentID != "p" || string(row.Digest) != `{"run":"r"}` || row.LastSeq != n+1 {
			t.Errorf("row = %+v %v", row, err)
		}
		if in := texts(t, c); len(in) != 0 {
			t.Errorf("the copy has the source's inbox: %v", in)
		}
		add(t, c, event("turn/start", `{}`)) // it goes on like any log
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	intact(t, s.path)
}

func TestACopyRefusesByNameAndLeavesNothing(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := session(t, s, "source")
	varied(t, l, 600)
	first, err := l.Structural(ctx, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	session(t, s, "taken")
	session(t, s, "gone")
	if err := s.Delete(ctx, "gone"); err != nil {
		t.Fatal(err)
	}
	again := NewEvent{ID: first[1].ID, Type: "turn/end", Payload: json.RawMessage(`{}`)}
	for _, c := range []struct {
		id, source string
		n          int64
		rest       []NewEvent
		digest     string
		want       error
	}{
		{"new", "nobody", 1, nil, `{}`, ErrNotFound},
		{"new", "gone", 1, nil, `{}`, ErrDeleted},
		{"taken", "source", 1, nil, `{}`, ErrExists},
		{"gone", "source", 1, nil, `{}`, ErrDeleted},
		{"", "source", 1, nil, `{}`, ErrInvalid},
		{"new", "source", 602, nil, `{}`, ErrInvalid},
		{"new", "source", -1, nil, `{}`, ErrInvalid},
		{"new", "source", 600, []NewEvent{event("x", `[]`)}, `{}`, ErrInvalid},
		{"new", "source", 600, nil, `{`, ErrInvalid},
		{"new", "source", 600, []NewEvent{again}, `{}`, ErrConflict},
	} {
		if err := s.Copy(ctx, Session{ID: c.id}, c.source, c.n, c.rest, []byte(c.digest)); !errors.Is(err, c.want) {
			t.Errorf("copy %d of %q to %q = %v, want %v", c.n, c.source, c.id, err, c.want)
		}
		if _, err := s.Session(ctx, "new"); !errors.Is(err, ErrNotFound) {
			t.Fatalf("after a refused copy: %v", err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Copy(ended, Session{ID: "new"}, "source", 600, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("copy with a context that ended = %v", err)
	}
	if err := s.Copy(ctx, Session{ID: "new"}, "source", 600, nil, nil); err != nil {
		t.Errorf("the id is free all the same: %v", err)
	}
	idle(t, s)
	if left := rowsLeft(t, s); left != 0 {
		t.Errorf("%d rows are left of what was refused", left)
	}
}

// guarantee 16: a crash at any piece of a copy leaves nothing that anybody can see, and the next
// Open removes the rest.
func TestACopyIsInvisibleUntilWholeWhereverACrashCutsIt(t *testing.T) {
	ctx := context.Background()
	s, film := filmed(t)
	l := session(t, s, "source")
	varied(t, l, 1000)
	const id = "00000000000000aa"
	add(t, l, NewEvent{ID: id, Type: "turn/start", Payload: json.RawMessage(`{}`)})
	film.on.Store(true)
	if err := s.Copy(ctx, Session{ID: "copy", Owner: "ada"}, "source", 1002, []NewEvent{event("session/forked", `{}`)}, nil); err != nil {
		t.Fatal(err)
	}
	if film.shot < 4 {
		t.Fatalf("the copy was %d commits, want one for each piece", film.shot)
	}
	film.crashes(func(n int, s *Store) {
		if _, err := s.Session(ctx, "copy"); !errors.Is(err, ErrNotFound) {
			t.Errorf("crash %d: Session = %v", n, err)
		}
		if _, err := s.OpenLog(ctx, "copy"); !errors.Is(err, ErrNotFound) {
			t.Errorf("crash %d: OpenLog = %v", n, err)
		}
		if list, err := s.Sessions(ctx); err != nil || len(list) != 1 {
			t.Errorf("crash %d: %d sessions, %v", n, len(list), err)
		}
		if ids, err := s.SessionsWith(ctx, id); err != nil || !slices.Equal(ids, []string{"source"}) {
			t.Errorf("crash %d: SessionsWith = %v %v", n, ids, err)
		}
		if err := s.Copy(ctx, Session{ID: "copy"}, "source", 1002, nil, nil); err != nil {
			t.Errorf("crash %d: copy again = %v", n, err)
		}
		if lines := all(t, hold(t, s, "copy")); len(lines) != 1002 {
			t.Errorf("crash %d: copied again, %d events", n, len(lines))
		}
	})
}

func TestACopyWhoseDiskFailsLeavesNothing(t *testing.T) {
	ctx := context.Background()
	broken := errors.New("input/output error")
	pieces := 0
	s := open(t, Options{fault: func(stage string) error {
		if stage != "commit" || pieces == 0 {
			return nil
		}
		if pieces--; pieces == 0 {
			return broken
		}
		return nil
	}})
	varied(t, session(t, s, "source"), 1000)
	pieces = 3
	if err := s.Copy(ctx, Session{ID: "copy"}, "source", 1001, nil, nil); !errors.Is(err, broken) {
		t.Fatalf("copy = %v", err)
	}
	idle(t, s)
	if left := rowsLeft(t, s); left != 0 {
		t.Errorf("%d rows are left", left)
	}
}

// guarantee 16: what is appended to the source, and to others, goes on while it is copied.
func TestALogThatGrowsWhileItIsCopiedIsCopiedUpToN(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{Durability: Normal})
	l := session(t, s, "source")
	varied(t, l, 2000)
	want := all(t, l)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for _, log := range []*Log{l, session(t, s, "other")} {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					add(t, log, chunk("meanwhile"))
				}
			}
		})
	}
	if err := s.Copy(ctx, Session{ID: "copy"}, "source", int64(len(want)), nil, nil); err != nil {
		t.Error(err)
	}
	close(stop)
	wg.Wait()
	if got := all(t, hold(t, s, "copy")); !slices.Equal(got, renamed(want, "source", "copy")) {
		t.Error("the copy differs from the prefix of its source")
	}
}

// guarantee 16: one that comes while a piece is written is answered before the next
// piece is, and so before the copy.
func TestAnAppendWaitsForOnePieceOfACopyAtTheMost(t *testing.T) {
	ctx := context.Background()
	var other *Log
	var commits atomic.Int64 // of the copy; 0: it has not begun
	answered := make(chan int64, 1)
	s := open(t, Options{fault: func(stage string) error {
		if stage == "commit" && commits.Load() > 0 && commits.Add(1) == 3 {
			other.Submit(Batch{From: 1, Events: []NewEvent{chunk("urgent")}}, func(_ []Event, err error) {
				if err != nil {
					t.Error(err)
				}
				answered <- commits.Load()
			})
		}
		return nil
	}})
	varied(t, session(t, s, "source"), 2500)
	other = session(t, s, "other")
	commits.Store(1)
	if err := s.Copy(ctx, Session{ID: "copy"}, "source", 2501, nil, nil); err != nil {
		t.Fatal(err)
	}
	if at, all := <-answered, commits.Load(); at > 4 || all < 10 {
		t.Errorf("submitted at commit 3, answered at %d of %d", at, all)
	}
}

// guarantee 7
func TestTheTimeOfWhatFollowsACopyDoesNotGoBack(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := session(t, s, "source")
	l.lastAt = time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond) // the clock was wrong once
	add(t, l, chunk("late"))
	if err := s.Copy(ctx, Session{ID: "copy"}, "source", 2, []NewEvent{event("session/forked", `{}`)}, nil); err != nil {
		t.Fatal(err)
	}
	c := hold(t, s, "copy")
	e, _, err := c.Newest(ctx, -1)
	if err != nil || e.At.Before(l.lastAt) {
		t.Errorf("the event behind the copy is of %v, the copied one of %v (%v)", e.At, l.lastAt, err)
	}
}

// A copy whose source goes, or whose id is taken, while it is made leaves nothing.
func TestACopyThatIsOvertakenLeavesNothing(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		overtaken *request
		want      error
	}{
		"its source is deleted": {&request{remove: "source"}, ErrDeleted},
		"its id is taken":       {&request{create: &Session{ID: "copy"}}, ErrExists},
	} {
		t.Run(name, func(t *testing.T) {
			var commits atomic.Int64
			var s *Store
			s = open(t, Options{fault: func(stage string) error {
				if stage == "commit" && commits.Load() > 0 && commits.Add(1) == 3 {
					c.overtaken.done = func([]Event, error) {}
					if c.overtaken.create != nil {
						c.overtaken.draft = s.newDraft("")
					}
					s.writer.queue.add(c.overtaken)
				}
				return nil
			}})
			varied(t, session(t, s, "source"), 2500)
			commits.Store(1)
			if err := s.Copy(ctx, Session{ID: "copy", Title: "never"}, "source", 2501, nil, nil); !errors.Is(err, c.want) {
				t.Errorf("copy = %v, want %v", err, c.want)
			}
			idle(t, s)
			if left := rowsLeft(t, s); left != 0 {
				t.Errorf("%d rows are left", left)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			intact(t, s.path)
		})
	}
}
