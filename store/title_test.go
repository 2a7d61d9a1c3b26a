package store

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// guarantee 2
func TestATitleIsSetInTheTransactionOfItsBatch(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := session(t, s, "s1")
	titled := func() string {
		row, err := s.Session(ctx, "s1")
		if err != nil {
			t.Fatal(err)
		}
		return row.Title
	}
	title, never, bytes := "Weather in Paris", "never", "a\xffb"
	events := []NewEvent{event("session/titled", `{"title":"Weather in Paris"}`)}
	if _, err := l.Append(ctx, Batch{From: next(l), Events: events, Title: &title}); err != nil || titled() != title {
		t.Errorf("title is %q (%v), want %q", titled(), err, title)
	}
	if _, err := l.Append(ctx, Batch{From: next(l) + 1, Events: events, Title: &never}); !errors.Is(err, ErrConflict) || titled() != title {
		t.Errorf("title is %q (%v) after a batch that failed, want %q", titled(), err, title)
	}
	if _, err := l.Append(ctx, Batch{From: next(l), Title: &bytes}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a title that is not UTF-8: %v, want ErrInvalid", err)
	}
	add(t, l, event("turn/start", `{}`))
	if titled() != title {
		t.Errorf("a batch without a title made it %q", titled())
	}
}

func TestUnclosedNamesTheSessionsWhoseNewestMarkIsOpen(t *testing.T) {
	s := open(t, Options{})
	for id, marks := range map[string][]string{
		"none": nil, "closed": {"start", "end"}, "open": {"start"}, "again": {"start", "end", "start", "other"}, "stray": {"end"},
	} {
		l := session(t, s, id)
		for _, mark := range marks {
			add(t, l, event(mark, `{}`))
		}
	}
	got, err := s.Unclosed(context.Background(), "start", "end")
	slices.Sort(got)
	if err != nil || !slices.Equal(got, []string{"again", "open"}) {
		t.Errorf("unclosed are %v (%v), want again and open", got, err)
	}
}
