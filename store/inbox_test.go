package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

func texts(t *testing.T, l *Log) (out []string) {
	t.Helper()
	in, err := l.Inbox(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range in {
		out = append(out, fmt.Sprintf("%d %s wake=%v", x.Position, x.Text, x.Wake))
	}
	return out
}

// guarantee 2
func TestTextsArePutAndTakenInTheTransactionOfTheEvents(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := session(t, s, "s1")
	queued := time.Date(2026, 8, 18, 4, 10, 11, 123456000, time.UTC)
	put := Input{Position: 1, ID: "c1", ClientID: true, Queue: "steer", Text: "hé\u2028\x00llo", Wake: true, QueuedAt: queued}
	if _, err := l.Append(ctx, Batch{From: 1, Put: []Input{put, {Position: 2, ID: "x", Text: "two"}}}); err != nil {
		t.Fatal(err)
	}
	in, err := l.Inbox(ctx)
	if err != nil || len(in) != 2 || in[0] != put {
		t.Fatalf("inbox = %+v %v, want %+v first", in, err, put)
	}

	// A batch that fails at its last act leaves the text where it was and the log without the event.
	_, err = l.Append(ctx, Batch{From: 1, Events: []NewEvent{event("context/injected", `{"text":"x"}`)}, Take: []int64{1}, Seen: []string{"c1"}})
	if !errors.Is(err, ErrConflict) {
		t.Fatalf("append = %v, want ErrConflict", err)
	}
	if got := texts(t, l); len(got) != 2 || len(all(t, l)) != 1 {
		t.Fatalf("after a refused batch: inbox %v, %d events", got, len(all(t, l)))
	}

	if _, err := l.Append(ctx, Batch{From: 1, Events: []NewEvent{event("context/injected", `{"text":"x"}`)}, Take: []int64{1}}); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, l); !slices.Equal(got, []string{"2 two wake=false"}) || len(all(t, l)) != 2 {
		t.Errorf("after the text was read: inbox %v, %d events", got, len(all(t, l)))
	}
	if _, err := l.Append(ctx, Batch{From: 2, Take: []int64{1}}); !errors.Is(err, ErrConflict) {
		t.Errorf("taking it again = %v, want ErrConflict", err)
	}
	if _, err := l.Append(ctx, Batch{From: 2, Put: []Input{{Position: 2}}}); !errors.Is(err, ErrConflict) {
		t.Errorf("putting on a taken position = %v, want ErrConflict", err)
	}
}

// guarantee 10
func TestAClientsInputIDIsRememberedAfterItsTextWasRead(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l, other := session(t, s, "s1"), session(t, s, "s2")
	put := Batch{From: 1, Put: []Input{{Position: 1, ID: "c1", ClientID: true}, {Position: 2, ID: "made"}}, Seen: []string{"c2"}}
	if _, err := l.Append(ctx, put); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(ctx, Batch{From: 1, Take: []int64{1, 2}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, s.path, Options{})
	l, other = hold(t, s, "s1"), hold(t, s, other.Session())
	for id, want := range map[string]bool{"c1": true, "c2": true, "made": false, "c3": false} {
		if got, err := l.SeenInput(ctx, id); got != want || err != nil {
			t.Errorf("SeenInput(%s) = %v %v, want %v", id, got, err, want)
		}
	}
	if got, err := other.SeenInput(ctx, "c1"); got || err != nil {
		t.Errorf("another session remembers it: %v %v", got, err)
	}
	if _, err := l.Append(ctx, Batch{From: 1, Put: []Input{{Position: 3, ID: "c1", ClientID: true}}}); !errors.Is(err, ErrConflict) {
		t.Errorf("the same id again = %v, want ErrConflict", err)
	}
}

// guarantee 2
func TestCalmTakesTheWakeFromTheTextsItNamesAndFromNoOther(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := session(t, s, "s1")
	session(t, s, "s2")
	wakes := func(want ...string) {
		t.Helper()
		if got, err := s.WakingSessions(ctx); err != nil || !slices.Equal(got, want) {
			t.Errorf("WakingSessions = %v %v, want %v", got, err, want)
		}
	}
	wakes()
	if _, err := l.Append(ctx, Batch{From: 1, Put: []Input{{Position: 1, Text: "a", Wake: true}, {Position: 2, Text: "b", Wake: true}}}); err != nil {
		t.Fatal(err)
	}
	wakes("s1")
	if _, err := l.Append(ctx, Batch{From: 1, Calm: []int64{1}, Take: []int64{7}}); !errors.Is(err, ErrConflict) {
		t.Fatalf("append = %v, want ErrConflict", err)
	}
	if got := texts(t, l); !slices.Equal(got, []string{"1 a wake=true", "2 b wake=true"}) {
		t.Errorf("inbox after a refused batch = %v", got)
	}
	if _, err := l.Append(ctx, Batch{From: 1, Events: []NewEvent{event("turn/end", `{"status":"cancelled"}`)}, Calm: []int64{1, 2},
		Put: []Input{{Position: 3, Text: "c", Wake: true}}}); err != nil {
		t.Fatal(err)
	}
	wakes("s1")
	if got := texts(t, l); !slices.Equal(got, []string{"1 a wake=false", "2 b wake=false", "3 c wake=true"}) {
		t.Errorf("inbox = %v", got)
	}
	if _, err := l.Append(ctx, Batch{From: 2, Calm: []int64{3}}); err != nil {
		t.Fatal(err)
	}
	wakes()
}
