package store

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

// guarantee 11
func TestADeletedSessionIsGoneAtOnceAndItsIDStaysTaken(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := session(t, s, "s1")
	varied(t, l, 1000)
	if _, err := l.Append(ctx, Batch{From: next(l), Put: []Input{{Position: 1, ID: "c1", ClientID: true, Wake: true}}}); err != nil {
		t.Fatal(err)
	}
	other := session(t, s, "s2")
	before := all(t, other)
	woken := make(chan struct{}, 1)
	defer l.Watch(func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})()
	if err := s.Delete(ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	<-woken // whoever waits at the tail hears of it
	if _, _, ok := l.Recent(next(l), 10, 1<<20); ok {
		t.Error("a reader at the tip is told to wait for more")
	}
	for name, f := range map[string]func() error{
		"Append": func() error {
			_, err := l.Append(ctx, Batch{From: next(l), Events: []NewEvent{chunk("x")}})
			return err
		},
		"Page":       func() error { _, err := l.Page(ctx, 0); return err },
		"Newest":     func() error { _, _, err := l.Newest(ctx, -1); return err },
		"Structural": func() error { _, err := l.Structural(ctx, 0, 10); return err },
		"Before":     func() error { _, err := l.Before(ctx, -1, 10, "turn/start"); return err },
		"Inbox":      func() error { _, err := l.Inbox(ctx); return err },
		"SeenNote":   func() error { _, _, err := l.SeenNote(ctx, "c1"); return err },
		"OpenLog":    func() error { _, err := s.OpenLog(ctx, "s1"); return err },
		"Session":    func() error { _, err := s.Session(ctx, "s1"); return err },
		"Create":     func() error { return s.Create(ctx, Session{ID: "s1"}, nil) },
		"Delete":     func() error { return s.Delete(ctx, "s1") },
	} {
		if err := f(); !errors.Is(err, ErrDeleted) {
			t.Errorf("%s = %v, want ErrDeleted", name, err)
		}
	}
	if err := s.Delete(ctx, "nobody"); !errors.Is(err, ErrNotFound) {
		t.Errorf("delete an unknown session = %v", err)
	}
	if list, err := s.Sessions(ctx); err != nil || len(list) != 1 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
	if ids, err := s.WakingSessions(ctx); err != nil || len(ids) != 0 {
		t.Errorf("waking = %v %v", ids, err)
	}
	idle(t, s)
	if left := rowsLeft(t, s); left != 0 {
		t.Errorf("%d rows are left", left)
	}
	if after := all(t, other); len(after) != len(before) {
		t.Errorf("another session has %d events, had %d", len(after), len(before))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	intact(t, s.path)
	s = openAt(t, s.path, Options{})
	if x, err := s.Session(ctx, "s1"); !errors.Is(err, ErrDeleted) || x.Owner != "ada" || x.Title != "" {
		t.Errorf("over a restart: %+v %v", x, err)
	}
}

// guarantee 4: what was submitted before a deletion is answered, what comes behind it
// is refused, also when one transaction has both.
func TestAppendsBehindADeletionOfTheSameTransactionAreRefused(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := session(t, s, "s1")
	type answer struct {
		n   int
		err error
	}
	answers := make(chan answer, 2)
	held := make(chan struct{})
	l.Submit(Batch{From: 1}, func([]Event, error) { <-held }) // the writer stands in here while the others queue up
	l.Submit(Batch{From: 1, Events: []NewEvent{chunk("x")}}, func(_ []Event, err error) { answers <- answer{1, err} })
	deleted := make(chan error, 1)
	r := &request{remove: "s1", done: func(_ []Event, err error) { deleted <- err }}
	s.writer.queue.add(r)
	l.Submit(Batch{From: 2, Events: []NewEvent{chunk("y")}}, func(_ []Event, err error) { answers <- answer{2, err} })
	close(held)
	if err := <-deleted; err != nil {
		t.Error(err)
	}
	for range 2 {
		if a := <-answers; a.n == 1 && a.err != nil || a.n == 2 && !errors.Is(a.err, ErrDeleted) {
			t.Errorf("append %d = %v", a.n, a.err)
		}
	}
	if err := s.Delete(ctx, "s1"); !errors.Is(err, ErrDeleted) {
		t.Errorf("delete again = %v", err)
	}
}

// guarantee 16: a crash at any piece leaves the tombstone, and the next Open goes on.
func TestADeletionGoesOnWhereACrashCutIt(t *testing.T) {
	ctx := context.Background()
	s, film := filmed(t)
	l := session(t, s, "s1")
	varied(t, l, 1000)
	if _, err := l.Append(ctx, Batch{From: next(l), Put: []Input{{Position: 1, ID: "c1", ClientID: true}}}); err != nil {
		t.Fatal(err)
	}
	film.on.Store(true)
	if err := s.Delete(ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	idle(t, s)
	if film.shot < 6 {
		t.Fatalf("the deletion was %d commits, want one for each piece", film.shot)
	}
	film.crashes(func(n int, s *Store) {
		_, err := s.Session(ctx, "s1")
		if whole := n == 0; whole && err != nil || !whole && !errors.Is(err, ErrDeleted) {
			t.Errorf("crash %d: Session = %v", n, err)
		}
	})
}

func TestARemovalThatFailsIsTriedAgainAfterTheNextCommit(t *testing.T) {
	ctx := context.Background()
	tried := make(chan struct{}, 1)
	failing := true
	s := open(t, Options{fault: func(stage string) error {
		if stage == "chore" && failing {
			failing = false // of the writer's goroutine only
			tried <- struct{}{}
			return errors.New("input/output error")
		}
		return nil
	}})
	varied(t, session(t, s, "s1"), 100)
	if err := s.Delete(ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	<-tried
	session(t, s, "s2")
	idle(t, s)
	if left := rowsLeft(t, s); left != 0 {
		t.Errorf("%d rows are left", left)
	}
}

// guarantee 16
func TestTheSpaceOfADeletedSessionIsUsedAgain(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{Durability: Normal})
	size := func() int64 {
		if err := s.Close(); err != nil { // folds the write-ahead log in
			t.Fatal(err)
		}
		info, err := os.Stat(s.path)
		if err != nil {
			t.Fatal(err)
		}
		s = openAt(t, s.path, Options{Durability: Normal})
		return info.Size()
	}
	big := chunk(strings.Repeat("x", 100_000))
	var first int64
	for _, id := range []string{"s1", "s2", "s3", "s4"} {
		l := session(t, s, id)
		for range 30 {
			add(t, l, big)
		}
		now := size()
		if first == 0 {
			first = now
		}
		if now > first*5/4 {
			t.Errorf("with %s the file has %d bytes, with the first session it had %d", id, now, first)
		}
		if err := s.Delete(ctx, id); err != nil {
			t.Fatal(err)
		}
		idle(t, s)
	}
}
