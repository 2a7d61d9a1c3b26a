package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// saidIn is the text of an event in these tests.
func saidIn(typ string, payload json.RawMessage) string {
	var said struct{ Text string }
	_ = json.Unmarshal(payload, &said)
	return said.Text
}

func said(text string) NewEvent {
	b, _ := json.Marshal(map[string]string{"text": text})
	return NewEvent{Type: "user/message", Payload: b}
}

// found is what a search of ada's finds: "session/seq".
func found(t testing.TB, s *Store, query string) (out []string) {
	t.Helper()
	hits, err := s.Search(context.Background(), "ada", query, 10)
	if err != nil {
		t.Fatalf("search %.80q: %v", query, err)
	}
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s/%d", h.Session, h.Seq))
	}
	return out
}

func finds(t testing.TB, s *Store, query string, want ...string) {
	t.Helper()
	if got := found(t, s, query); !slices.Equal(got, want) {
		t.Errorf("search %.80q = %v, want %v", query, got, want)
	}
}

// guarantee 15
func TestASearchFindsTitlesAndTextsOfTheOwnerTheNewestFirst(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{SearchText: saidIn})
	l := session(t, s, "s1")
	add(t, l, said("The weather in Zürich is fine"), event("turn/end", `{}`), said("and in Paris?"))
	title := "About the WEATHER"
	if _, err := l.Append(ctx, Batch{From: next(l), Title: &title}); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(ctx, Session{ID: "s2", Owner: "ada", Title: "weather again"}, []NewEvent{said("first words about the weather")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(ctx, Session{ID: "bobs", Owner: "bob", Title: "weather"}, []NewEvent{said("weather")}); err != nil {
		t.Fatal(err)
	}
	add(t, l, chunk("weather, streamed"))
	finds(t, s, "weather", "s2/0", "s2/-1", "s1/-1", "s1/1")
	finds(t, s, "zurich FINE", "s1/1")
	finds(t, s, "zür", "s1/1")  // the last word also as a beginning
	finds(t, s, "weath zürich") // the others not
	finds(t, s, "in zürich weather the", "s1/1")
	finds(t, s, "wea", "s2/0", "s2/-1", "s1/-1", "s1/1")
	finds(t, s, "w")
	finds(t, s, "paris, weather")
	finds(t, s, "nothing")
	hits, err := s.Search(ctx, "ada", "zürich", 1)
	line := all(t, l)[1]
	if err != nil || len(hits) != 1 || !strings.Contains(line, hits[0].EventID) || len(hits[0].EventID) != idDigits ||
		hits[0].Snippet != "The weather in Zürich is fine" {
		t.Errorf("hits = %+v %v", hits, err)
	}
	if hits, err := s.Search(ctx, "ada", "about", 9); err != nil || hits[1].EventID != "" || hits[1].Snippet != title {
		t.Errorf("hits = %+v %v", hits, err)
	}
	for _, limit := range []int{0, -1, 1, 3, MaxHits + 1} {
		hits, err := s.Search(ctx, "ada", "weather", limit)
		if want := max(0, min(limit, 4)); err != nil || len(hits) != want {
			t.Errorf("limit %d: %d hits %v, want %d", limit, len(hits), err, want)
		}
	}
	if hits, err := s.Search(ctx, "bob", "weather", 10); err != nil || len(hits) != 2 {
		t.Errorf("bob finds %+v %v", hits, err)
	}
	if hits, err := s.Search(ctx, "nobody", "weather", 10); err != nil || len(hits) != 0 {
		t.Errorf("nobody finds %+v %v", hits, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	intact(t, s.path)
}

// hard are queries that a careless search chokes on.
var hard = []string{
	"", " ", `"`, `""`, `"""`, `'`, "*", "**", "a*", "*a", "^a", "a^", "-a", "+a", "a+b", "(", ")", "()", "(a", "a)", ":", "text:a", "owner : a",
	"a:b", "AND", "OR", "NOT", "NEAR", "a AND", "AND a", "a OR b", "a NOT b", "NEAR(a b, 3)", "{a b}:c", "a\x00b", "\x00", "\xff", "a\xffb", "\u2028",
	"!!! ???", "!!! apple", "apple !!!", "%", "_", ";", "--", "/*", "?1", `\`, "ap\u0301ple", "日本語", "🙂", "→ apple", "\"apple", "apple\"pie", "a.b.c", "…",
	"--apple", "'apple'; DROP TABLE search", "\n", "\t apple \r\n",
}

// guarantee 15
func TestAnyTextIsAQuery(t *testing.T) {
	s := open(t, Options{SearchText: saidIn})
	l := session(t, s, "s1")
	add(t, l, said("an apple a day"))
	for _, q := range append(hard, strings.Repeat("apple ", 200_000), strings.Repeat("a", 1<<20), strings.Repeat(`"`, 1<<20),
		strings.Repeat("a* ", 1<<18), strings.Repeat("é", 1<<20), strings.Repeat("(", 1<<20), strings.Repeat("-", 1<<20)) {
		got := found(t, s, q)
		for _, hit := range got {
			if hit != "s1/1" {
				t.Errorf("search %.40q = %v", q, got)
			}
		}
	}
	for _, q := range []string{"!!! apple", "apple !!!", "→ apple", "\"apple", "--apple", "\t apple \r\n", "a apple"} {
		finds(t, s, q, "s1/1")
	}
	finds(t, s, "AND") // a word, and no word of the text
	finds(t, s, "apple OR pear")
}

func FuzzAnyTextIsAQuery(f *testing.F) {
	for _, q := range hard {
		f.Add(q)
	}
	s, err := Open(context.Background(), filepath.Join(f.TempDir(), "log.db"), Options{SearchText: saidIn})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	if err := s.Create(context.Background(), Session{ID: "s1", Owner: "ada"}, []NewEvent{said("an apple a day")}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query string) { found(t, s, query) })
}

// guarantee 15
func TestATextIsFoundOnceItsAppendIsAnsweredAndNeverIfItWasRefused(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{SearchText: saidIn})
	l := session(t, s, "s1")
	add(t, l, said("apple"))
	finds(t, s, "apple", "s1/1")
	title := "pear"
	if _, err := l.Append(ctx, Batch{From: next(l), Events: []NewEvent{said("pear")}, Title: &title, Take: []int64{7}}); !errors.Is(err, ErrConflict) {
		t.Fatal(err)
	}
	finds(t, s, "pear")
	for _, title := range []string{"plum", "cherry", ""} {
		if _, err := l.Append(ctx, Batch{From: next(l), Title: &title}); err != nil {
			t.Fatal(err)
		}
	}
	finds(t, s, "plum")
	finds(t, s, "cherry")
	if _, err := s.Search(ctx, "ada", "apple", 1); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	finds(t, s, "apple")
	idle(t, s)
	var docs int
	if err := s.read.QueryRow("SELECT count(*) FROM search").Scan(&docs); err != nil || docs != 0 {
		t.Errorf("%d documents of deleted sessions are left, %v", docs, err)
	}
	if left := rowsLeft(t, s); left != 0 {
		t.Errorf("%d rows are left", left)
	}
}

// guarantee 4: whoever is shown a hit can read it. Two appends share a transaction, and what
// holds up the publishing of the first holds up that of the second.
func TestASearchFindsNoEventBeforeItIsPublished(t *testing.T) {
	ctx := context.Background()
	var stopper, l *Log
	armed := make(chan struct{}, 1)
	stopped := false
	s := open(t, Options{SearchText: saidIn, fault: func(stage string) error {
		switch {
		case stage == "insert" && len(armed) > 0:
			<-armed
			stopped = true
			l.Submit(Batch{From: 2, Events: []NewEvent{said("apple pear")}}, func([]Event, error) {})
		case stage == "commit" && stopped:
			stopped = false
			stopper.mu.Lock()
		}
		return nil
	}})
	stopper, l = session(t, s, "stopper"), session(t, s, "s1")
	add(t, l, said("apple"))
	armed <- struct{}{}
	published := make(chan struct{})
	stopper.Submit(Batch{From: 1, Events: []NewEvent{chunk("x")}}, func([]Event, error) { close(published) })
	for committed := false; !committed; {
		if err := s.read.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM events WHERE session = ? AND seq = 2)", l.key).Scan(&committed); err != nil {
			t.Fatal(err)
		}
	}
	finds(t, s, "pear")
	if hits, err := s.Search(ctx, "ada", "apple", 1); err != nil || len(hits) != 1 || hits[0].Seq != 1 {
		t.Errorf("it takes the place of one that is: %+v, %v", hits, err)
	}
	stopper.mu.Unlock()
	<-published
	finds(t, s, "apple", "s1/2", "s1/1")
}

func TestTheHeadOfAVeryLongTextIsFoundAndNULIsASpace(t *testing.T) {
	s := open(t, Options{SearchText: saidIn})
	l := session(t, s, "s1")
	long := "begin " + strings.Repeat("é ", MaxSearchText) + " end"
	add(t, l, said(long), said("one\x00two"))
	finds(t, s, "begin", "s1/1")
	finds(t, s, "end")
	finds(t, s, "two one", "s1/2")
	hits, err := s.Search(context.Background(), "ada", "two", 1)
	if err != nil || hits[0].Snippet != "one two" {
		t.Errorf("hits = %+v %v", hits, err)
	}
	if got := cutText("aé", 2); got != "a" {
		t.Errorf("cut inside a character: %q", got)
	}
}

func TestACopysTextsAreFound(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{SearchText: saidIn})
	l := session(t, s, "s1")
	varied(t, l, 1000) // every seventh says apple
	if err := s.Copy(ctx, Session{ID: "copy", Owner: "ada", Title: "fork of apple5"}, "s1", 1001, []NewEvent{said("pear")}, nil); err != nil {
		t.Fatal(err)
	}
	finds(t, s, "apple5 of", "copy/-1")
	finds(t, s, "apple705", "copy/706", "s1/706")
	finds(t, s, "pear", "copy/1001")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	intact(t, s.path)
}

// What was written before there was a search is indexed piece by piece, over crashes,
// while the log goes on.
func TestLogsOfTheFirstSchemaAreIndexedBesideTheirAppends(t *testing.T) {
	ctx := context.Background()
	path := schema1File(t, 1500)
	s := openAt(t, path, Options{}) // without a search: nothing is lost by that
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stopped")
	pieces := 0
	s = openAt(t, path, Options{SearchText: saidIn, fault: func(stage string) error {
		if stage == "chore" {
			if pieces++; pieces > 2 {
				return stop
			}
		}
		return nil
	}})
	l := hold(t, s, "s1")
	add(t, l, said("word1 appended"))
	title := "Weather in Genève"
	if _, err := l.Append(ctx, Batch{From: next(l), Title: &title}); err != nil {
		t.Fatal(err)
	}
	finds(t, s, "appended", "s1/1500")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	intact(t, path)
	s = openAt(t, path, Options{SearchText: saidIn})
	for {
		var left bool
		if err := s.read.QueryRow("SELECT EXISTS(SELECT 1 FROM unindexed) OR EXISTS(SELECT 1 FROM leftovers)").Scan(&left); err != nil {
			t.Fatal(err)
		}
		if !left {
			break
		}
		add(t, hold(t, s, "s1"), chunk("meanwhile"))
	}
	finds(t, s, "geneve", "s1/-1")
	finds(t, s, "zurich")
	for _, n := range []int{0, 1, 3, 1497, 1498} {
		finds(t, s, fmt.Sprintf("word%d said", n), fmt.Sprintf("s1/%d", n))
	}
	finds(t, s, "secret")
	var docs int
	if err := s.read.QueryRow("SELECT count(*) FROM texts").Scan(&docs); err != nil || docs != 1000+1+1 {
		t.Errorf("%d documents, want one for each of 1000 messages, the appended one and the title (%v)", docs, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	intact(t, path)
}
