package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func TestTheStoreSaysWhyItCannotBeWrittenAndHearsOfTheRecoveryByItself(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := session(t, s, "s1")
	if err := s.Writable(ctx); err != nil {
		t.Fatalf("a store that works: %v", err)
	}
	before := s.Stats()
	pragma(t, s, "query_only = 1")
	if err := s.Writable(ctx); err != nil {
		t.Errorf("nothing has failed yet: %v", err)
	}
	if _, err := l.Append(ctx, Batch{From: next(l), Events: []NewEvent{chunk("x")}}); err == nil {
		t.Fatal("a read-only file took an append")
	}
	for range 2 {
		if err := s.Writable(ctx); err == nil || !strings.Contains(err.Error(), "readonly") {
			t.Errorf("a file that is read-only: %v", err)
		}
	}
	gone, end := context.WithCancel(ctx)
	end()
	if err := s.Writable(gone); err == nil {
		t.Error("nobody waited for the answer, and all is well")
	}
	pragma(t, s, "query_only = 0")
	if err := s.Writable(ctx); err != nil {
		t.Errorf("mended, and nobody else has written: %v", err)
	}
	if tip, _ := l.Tip(); tip != 0 {
		t.Errorf("looking has appended: the tip is %d", tip)
	}
	add(t, l, chunk("y"), chunk("z"))
	after := s.Stats()
	if after.Failures < before.Failures+3 || after.Events != before.Events+2 || after.Commits <= before.Commits || after.Appends <= before.Appends {
		t.Errorf("counted %+v, before %+v", after, before)
	}
}

// One request that cannot be stored is its caller's fault and nobody else's.
func TestARefusedBatchDoesNotMakeTheStoreUnwritable(t *testing.T) {
	s := open(t, Options{})
	l := session(t, s, "s1")
	if _, err := l.Append(context.Background(), Batch{From: 7, Events: []NewEvent{chunk("x")}}); err == nil {
		t.Fatal("a batch of another place was taken")
	}
	if err := s.Writable(context.Background()); err != nil || s.Stats().Failures != 0 {
		t.Errorf("%v, %+v", err, s.Stats())
	}
}

// What failed was larger than a byte or two, so that these still fit proves nothing.
func TestAFullDiskIsFullAlsoWhenSomethingSmallStillFits(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := session(t, s, "s1")
	var pages int
	if err := s.writer.conn.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	pragma(t, s, fmt.Sprintf("max_page_count = %d", pages+1))
	if _, err := l.Append(ctx, Batch{From: next(l), Events: []NewEvent{chunk(strings.Repeat("x", 100_000))}}); err == nil {
		t.Fatal("a full disk took an append")
	}
	for range 2 {
		if err := s.Writable(ctx); err == nil || !strings.Contains(err.Error(), "full") {
			t.Errorf("a disk that is full: %v", err)
		}
		add(t, l, chunk("small"))
	}
	pragma(t, s, "max_page_count = 1000000")
	for range 2 {
		if err := s.Writable(ctx); err != nil {
			t.Errorf("there is room again: %v", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	intact(t, s.path)
}
