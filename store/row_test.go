package store

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// guarantee 2
func TestADigestAndAPinAreSetInTheTransactionOfTheirBatch(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := session(t, s, "s1")
	row := func() Session {
		t.Helper()
		x, err := s.Session(ctx, "s1")
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if x := row(); x.Digest != nil || x.Pinned {
		t.Errorf("a new session has digest %q, pinned %v", x.Digest, x.Pinned)
	}
	yes, no := true, false
	if _, err := l.Append(ctx, Batch{From: 1, Events: []NewEvent{chunk("x")}, Digest: []byte(`{"run":"<é>"}`), Pinned: &yes}); err != nil {
		t.Fatal(err)
	}
	if x := row(); string(x.Digest) != `{"run":"<é>"}` || !x.Pinned || x.LastSeq != 1 {
		t.Errorf("row = %+v", x)
	}
	if _, err := l.Append(ctx, Batch{From: 1, Digest: []byte(`{}`), Pinned: &no}); !errors.Is(err, ErrConflict) {
		t.Errorf("append = %v, want ErrConflict", err)
	}
	add(t, l, chunk("y"))
	if x := row(); string(x.Digest) != `{"run":"<é>"}` || !x.Pinned {
		t.Errorf("after a refused batch and one that says nothing of it: %+v", x)
	}
	for _, bad := range []string{`{`, "\"\xff\"", ``} {
		if _, err := l.Append(ctx, Batch{From: 3, Digest: []byte(bad)}); !errors.Is(err, ErrInvalid) {
			t.Errorf("digest %q = %v, want ErrInvalid", bad, err)
		}
	}
	if _, err := l.Append(ctx, Batch{From: 3, Digest: []byte(`null`), Pinned: &no}); err != nil || row().Pinned {
		t.Errorf("%v, pinned %v", err, row().Pinned)
	}
}

// guarantee 10
func TestANoteIsKeptBesideTheInputIDItBelongsTo(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := session(t, s, "s1")
	b := Batch{From: 1, Put: []Input{{Position: 1, ID: "c1", ClientID: true}}, Seen: []string{"c2", "c3"},
		SeenNote: map[string]string{"c1": "run of c1", "c2": "<run of c2>", "key": "run of key"}}
	if _, err := l.Append(ctx, b); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"c1": "run of c1", "c2": "<run of c2>", "c3": "", "key": "run of key"} {
		if note, seen, err := l.SeenNote(ctx, id); note != want || !seen || err != nil {
			t.Errorf("SeenNote(%s) = %q %v %v, want %q", id, note, seen, err, want)
		}
	}
	if note, seen, err := l.SeenNote(ctx, "c4"); note != "" || seen || err != nil {
		t.Errorf("an id nobody used: %q %v %v", note, seen, err)
	}
	if _, err := l.Append(ctx, Batch{From: 1, SeenNote: map[string]string{"key": "another"}}); !errors.Is(err, ErrConflict) {
		t.Errorf("the same id again = %v, want ErrConflict", err)
	}
	long := map[string]string{"long": string(make([]byte, maxNote+1))}
	if _, err := l.Append(ctx, Batch{From: 1, SeenNote: long}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a note of %d bytes = %v, want ErrInvalid", maxNote+1, err)
	}
}

func TestSessionsOfListsAnOwnersInTheOrderTheyWereCreated(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	for _, x := range []Session{{ID: "b", Owner: "ada"}, {ID: "x", Owner: "bob"}, {ID: "a", Owner: "ada"}, {ID: "gone", Owner: "ada"}} {
		if err := s.Create(ctx, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	alterOpen(t, s, "UPDATE sessions SET deleted_at = 1 WHERE id = 'gone'")
	list, err := s.SessionsOf(ctx, "ada")
	if err != nil || len(list) != 2 || list[0].ID != "b" || list[1].ID != "a" || list[0].LastSeq != -1 || list[0].Bytes != 0 {
		t.Errorf("SessionsOf = %+v %v", list, err)
	}
	if list, err := s.SessionsOf(ctx, "nobody"); err != nil || len(list) != 0 {
		t.Errorf("SessionsOf nobody = %+v %v", list, err)
	}
}

func TestSessionsWithFindsEverySessionThatHoldsTheEvent(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	const id = "00000000000000aa"
	for _, x := range []string{"s1", "s2", "s3"} {
		l := session(t, s, x)
		if x != "s2" {
			add(t, l, NewEvent{ID: id, Type: "turn/start", Payload: []byte(`{}`)})
		}
	}
	if got, err := s.SessionsWith(ctx, id); err != nil || !slices.Equal(got, []string{"s1", "s3"}) {
		t.Errorf("SessionsWith = %v %v, want s1 and s3", got, err)
	}
	for _, unknown := range []string{"", "x", "00000000000000ab"} {
		if got, err := s.SessionsWith(ctx, unknown); err != nil || len(got) != 0 {
			t.Errorf("SessionsWith(%q) = %v %v, want none", unknown, got, err)
		}
	}
}

// guarantee 9
func TestBeforeReturnsTheNewestOfTheTypesInOrder(t *testing.T) {
	ctx := context.Background()
	l := session(t, open(t, Options{}), "s1")
	add(t, l, event("a", `{}`), chunk("1"), event("b", `{}`), event("c", `{}`), event("a", `{}`), chunk("2"), event("b", `{}`), event("a", `{}`))
	for _, c := range []struct {
		seq   int64
		limit int
		types []string
		want  []int64
	}{
		{-1, 3, []string{"a", "b"}, []int64{5, 7, 8}},
		{7, 3, []string{"a", "b"}, []int64{1, 3, 5}},
		{8, 2, []string{"b", "c", "nothing"}, []int64{4, 7}},
		{-1, 100, []string{"a"}, []int64{1, 5, 8}},
		{1, 100, []string{"a", "b"}, nil},
		{0, 100, []string{"a"}, nil},
		{-1, 0, []string{"a"}, nil},
		{-1, 100, []string{"assistant/chunk"}, nil},
	} {
		got, err := l.Before(ctx, c.seq, c.limit, c.types...)
		if err != nil {
			t.Fatal(err)
		}
		var seqs []int64
		for _, e := range got {
			seqs = append(seqs, e.Seq)
		}
		if !slices.Equal(seqs, c.want) {
			t.Errorf("Before(%d, %d, %v) = %v, want %v", c.seq, c.limit, c.types, seqs, c.want)
		}
	}
	for _, types := range [][]string{nil, make([]string, beforeTypes+1)} {
		if _, err := l.Before(ctx, -1, 1, types...); err == nil {
			t.Errorf("Before of %d types is no error", len(types))
		}
	}
}
