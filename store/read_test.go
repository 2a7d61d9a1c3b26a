package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// guarantee 8
func TestAPageEndsAt256EventsOrAtOneMiBButHasOneEvent(t *testing.T) {
	ctx := context.Background()
	l := session(t, open(t, Options{}), "s1")
	grow(t, l, 600)
	add(t, l, chunk(strings.Repeat("b", 3*PageBytes)), chunk("after"))
	quarter := strings.Repeat("q", PageBytes/4)
	add(t, l, chunk(quarter), chunk(quarter), chunk(quarter), chunk(quarter), chunk(quarter))
	var next, pos int64
	var sizes []int
	for {
		p, err := l.Page(ctx, next)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Lines) == 0 {
			break
		}
		bytes := 0
		for _, line := range p.Lines {
			bytes += len(line)
			if !strings.Contains(string(line[:100]), fmt.Sprintf(`"seq":%d,`, next)) {
				t.Fatalf("at seq %d came %.100s", next, line)
			}
			next++
		}
		if pos += int64(bytes); p.Pos != pos {
			t.Errorf("after seq %d: pos %d, want %d", next-1, p.Pos, pos)
		}
		if len(p.Lines) > 1 && bytes > PageBytes {
			t.Errorf("a page of %d events has %d bytes", len(p.Lines), bytes)
		}
		sizes = append(sizes, len(p.Lines))
	}
	if tip, bytes := l.Tip(); next != tip+1 || pos != bytes {
		t.Errorf("read up to %d and %d bytes, the tip is %d and %d", next-1, pos, tip, bytes)
	}
	if !slices.Equal(sizes, []int{256, 256, 88, 1, 4, 2}) {
		t.Errorf("pages of %v events", sizes)
	}
	if p, err := l.Page(ctx, 1_000_000); err != nil || len(p.Lines) != 0 {
		t.Errorf("past the tip: %d lines, %v", len(p.Lines), err)
	}
}

func TestStructuralNewestAndByIDSeeEverythingButStreamedPieces(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l, other := session(t, s, "s1"), session(t, s, "s2")
	add(t, other, event("turn/start", `{"other":1}`))
	add(t, l, event("turn/start", `{}`), chunk("a"), event("turn/end", `{}`), chunk("b"), event("turn/start", `{}`))
	seqs := func(from, to int64, types ...string) string {
		t.Helper()
		events, err := l.Structural(ctx, from, to, types...)
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, e := range events {
			out += fmt.Sprintf("%d %s, ", e.Seq, e.Type)
		}
		return out
	}
	for want, got := range map[string]string{
		"0 session/created, 1 turn/start, 3 turn/end, 5 turn/start, ": seqs(0, 1<<40),
		"1 turn/start, 3 turn/end, ":                                  seqs(1, 4),
		"1 turn/start, 5 turn/start, ":                                seqs(0, 9, "turn/start", "nothing/such"),
		"":                                                            seqs(0, 9, "assistant/chunk"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, c := range []struct {
		before int64
		types  []string
		want   int64
	}{
		{-1, nil, 5}, {5, nil, 3}, {1, nil, 0}, {0, nil, -1},
		{-1, []string{"turn/start", "turn/end"}, 5}, {5, []string{"turn/start", "turn/end"}, 3},
		{3, []string{"turn/start", "turn/end"}, 1}, {1, []string{"turn/start"}, -1}, {-1, []string{"assistant/chunk"}, -1},
	} {
		e, ok, err := l.Newest(ctx, c.before, c.types...)
		if err != nil || ok != (c.want >= 0) || ok && e.Seq != c.want {
			t.Errorf("Newest(%d, %v) = %d %v %v, want %d", c.before, c.types, e.Seq, ok, err, c.want)
		}
	}
	pieces, err := l.Streamed(ctx, 0, 3)
	if err != nil || len(pieces) != 1 || pieces[0].Seq != 2 {
		t.Errorf("Streamed up to 3 = %v %v, want seq 2", pieces, err)
	}
	if _, ok, err := l.ByID(ctx, pieces[0].ID); ok || err != nil {
		t.Errorf("a streamed piece was found by id: %v %v", ok, err)
	}
	for _, id := range []string{"", "xyz", "0123456789abcdef"} {
		if _, ok, err := l.ByID(ctx, id); ok || err != nil {
			t.Errorf("ByID(%q) = %v %v, want none", id, ok, err)
		}
	}
}

// guarantee 9: whatever is asked on opening is answered by an index, never by a scan.
func TestNoQueryOfALogScansIt(t *testing.T) {
	s := open(t, Options{})
	for name, q := range map[string]string{
		"tip": selectTip, "page": selectPage, "by id": selectByID, "session": selectSession + " WHERE s.id = ?1",
		"sessions of": selectSession + " WHERE owner = ?1 ORDER BY key", "with": selectWith, "before": selectBefore(), "search": selectSearch,
		"newest": given + selectNewest, "newest of all": kinds + selectNewest,
		"structural": given + selectStructural, "structural of all": kinds + selectStructural, "streamed": selectStreamed,
	} {
		rows, err := s.read.Query("EXPLAIN QUERY PLAN "+q, 1, 1, 1, 1)
		if err != nil {
			t.Fatal(name, err)
		}
		for rows.Next() {
			var id, parent, x int
			var step string
			if err := rows.Scan(&id, &parent, &x, &step); err != nil {
				t.Fatal(err)
			}
			scans := strings.HasPrefix(step, "SCAN e") || strings.HasPrefix(step, "SCAN s") // events, sessions
			sorts := strings.HasPrefix(step, "USE TEMP B-TREE") && (name == "before" || name == "search")
			if scans && step != "SCAN search VIRTUAL TABLE INDEX 192:M2" || sorts { // 192: from the newest match on
				t.Errorf("%s: %s", name, step)
			}
		}
		rows.Close()
	}
}

func TestALineOfAPageIsDecodedToTheEventThatWasAppended(t *testing.T) {
	l := session(t, open(t, Options{}), "s1")
	appended := add(t, l, event("turn/start", `{"agent":"a"}`), chunk("<&> é"))
	page, err := l.Page(context.Background(), appended[0].Seq)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range page.Lines {
		got, err := l.Decode(line)
		want := appended[i]
		if err != nil || got.Seq != want.Seq || got.ID != want.ID || got.Type != want.Type || !got.At.Equal(want.At) ||
			string(got.Payload) != string(want.Payload) || string(got.Line) != string(want.Line) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	if _, err := l.Decode([]byte("{}")); err == nil {
		t.Error("what is no envelope was decoded")
	}
}
