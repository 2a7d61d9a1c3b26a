package store

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"
)

// guarantee 2
func TestASessionIsCreatedWithItsFirstEventsOrNotAtAll(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	x := Session{ID: `a "quoted" <é>`, Owner: "ada", Agent: "default", Title: "t", ParentID: "p", Pinned: true}
	bad := []NewEvent{{ID: "00000000000000aa", Type: "x", Payload: []byte(`{}`)}, {ID: "00000000000000aa", Type: "x", Payload: []byte(`{}`)}}
	if err := s.Create(ctx, x, bad); !errors.Is(err, ErrConflict) {
		t.Fatalf("create with an id twice = %v, want ErrConflict", err)
	}
	if _, err := s.Session(ctx, x.ID); !errors.Is(err, ErrNotFound) {
		t.Fatalf("after a failed create: %v, want ErrNotFound", err)
	}
	if _, err := s.OpenLog(ctx, x.ID); !errors.Is(err, ErrNotFound) {
		t.Fatalf("open log after a failed create: %v, want ErrNotFound", err)
	}
	if err := s.Create(ctx, x, []NewEvent{event("session/created", `{}`), chunk("x")}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Session(ctx, x.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.UpdatedAt.Before(got.CreatedAt) || time.Since(got.CreatedAt) > time.Minute {
		t.Errorf("created %v, updated %v", got.CreatedAt, got.UpdatedAt)
	}
	l := hold(t, s, x.ID)
	e := add(t, l, chunk("y"))[0]
	got, err = s.Session(ctx, x.ID)
	if err != nil || !got.UpdatedAt.Equal(e.At) {
		t.Errorf("updated %v %v, want the newest event's %v", got.UpdatedAt, err, e.At)
	}
	x.CreatedAt, x.UpdatedAt = got.CreatedAt, got.UpdatedAt
	x.LastSeq, x.Bytes = l.Tip()
	if !reflect.DeepEqual(got, x) {
		t.Errorf("session = %+v, want %+v", got, x)
	}
	if list, err := s.Sessions(ctx); err != nil || len(list) != 1 || !reflect.DeepEqual(list[0], x) {
		t.Errorf("sessions = %+v %v", list, err)
	}
	if err := s.Create(ctx, x, nil); !errors.Is(err, ErrExists) {
		t.Errorf("create again = %v, want ErrExists", err)
	}
	for _, id := range []string{"", "\xff", string(make([]byte, MaxSessionID+1))} {
		if err := s.Create(ctx, Session{ID: id}, nil); !errors.Is(err, ErrInvalid) {
			t.Errorf("create %.10q = %v, want ErrInvalid", id, err)
		}
	}
}

// guarantee 11
func TestADeletedSessionsIDStaysTaken(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := session(t, s, "s1")
	if _, err := l.Append(ctx, Batch{From: 1, Put: []Input{{Position: 1, Wake: true}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	alter(t, s.path, "UPDATE sessions SET deleted_at = 1")
	s = openAt(t, s.path, Options{})
	if x, err := s.Session(ctx, "s1"); !errors.Is(err, ErrDeleted) || !x.Deleted {
		t.Errorf("Session = %+v %v, want ErrDeleted", x, err)
	}
	if err := s.Create(ctx, Session{ID: "s1"}, nil); !errors.Is(err, ErrDeleted) {
		t.Errorf("Create = %v, want ErrDeleted", err)
	}
	if _, err := s.OpenLog(ctx, "s1"); !errors.Is(err, ErrDeleted) {
		t.Errorf("OpenLog = %v, want ErrDeleted", err)
	}
	if list, err := s.Sessions(ctx); err != nil || len(list) != 0 {
		t.Errorf("Sessions = %v %v, want none", list, err)
	}
	if ids, err := s.WakingSessions(ctx); err != nil || len(ids) != 0 {
		t.Errorf("WakingSessions = %v %v, want none", ids, err)
	}
}

func TestOpeningALogTwiceGivesTheSameOneUntilTheLastHolderCloses(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	if err := s.Create(ctx, Session{ID: "s1"}, []NewEvent{event("session/created", `{}`)}); err != nil {
		t.Fatal(err)
	}
	a, err := s.OpenLog(ctx, "s1")
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.OpenLog(ctx, "s1")
	if err != nil || a != b {
		t.Fatalf("two logs of one session: %p %p %v", a, b, err)
	}
	a.Close()
	add(t, b, chunk("x"))
	b.Submit(Batch{From: 2, Events: []NewEvent{chunk("y")}}, func([]Event, error) {})
	b.Close() // while the append is under way
	c := hold(t, s, "s1")
	if _, err := c.Append(ctx, Batch{From: 3, Events: []NewEvent{chunk("z")}}); err != nil {
		t.Errorf("append behind one that its holder left: %v", err)
	}
}
