package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func streamedType(typ string) bool { return typ == "assistant/chunk" }

// exported is the export of sessions, one behind the other.
func exported(t testing.TB, s *Store, ids ...string) string {
	t.Helper()
	var b bytes.Buffer
	for _, id := range ids {
		if err := s.Export(context.Background(), id, &b); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func importText(s *Store, text string) (Imported, error) {
	return s.Import(context.Background(), strings.NewReader(text), ImportOptions{Streamed: streamedType})
}

// furnished is a session with everything that an export carries.
func furnished(t testing.TB, s *Store, id string, events int) *Log {
	t.Helper()
	x := Session{ID: id, Owner: "ada", Agent: "default", Title: "a \"title\" <é>\u2028", ParentID: "p", Pinned: true}
	if err := s.Create(context.Background(), x, []NewEvent{event("session/created", `{"parent_id":"p"}`)}); err != nil {
		t.Fatal(err)
	}
	l := hold(t, s, id)
	varied(t, l, events)
	add(t, l, said("hé\x00\u2028<&> wörd"), chunk(strings.Repeat("b", PageBytes)), event("x", "{\"half\":\"\\ud800\"}"))
	queued := time.Date(2026, 8, 18, 4, 10, 11, 123456000, time.UTC)
	b := Batch{From: next(l), Put: []Input{{Position: 3, ID: "c1", ClientID: true, Queue: "steer", Text: "hé\u2028\x00<", Wake: true, QueuedAt: queued},
		{Position: 9, ID: "made", Queue: "next_turn", Text: "two", QueuedAt: queued}}, Seen: []string{"c2"}, SeenNote: map[string]string{"c1": "note <1>", "key": "run"}}
	if _, err := l.Append(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	return l
}

// guarantee 17
func TestAnImportOfAnExportIsTheSameSessionAgain(t *testing.T) {
	ctx := context.Background()
	from, to := open(t, Options{SearchText: saidIn}), open(t, Options{SearchText: saidIn})
	l := furnished(t, from, `one "quoted" <é>`, 1000)
	furnished(t, from, "two", 0)
	session(t, from, "three")
	text := exported(t, from, l.Session(), "two", "three")
	got, err := importText(to, text)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Sessions) != 3 || got.Sessions[0] != l.Session() || got.Events != 1004+4+1 {
		t.Errorf("imported = %+v", got)
	}
	if again := exported(t, to, got.Sessions...); again != text {
		t.Errorf("the export of the import differs:\n%.500s\n%.500s", text, again)
	}
	c := hold(t, to, l.Session())
	if a, b := strings.Join(all(t, l), "\n"), strings.Join(all(t, c), "\n"); a != b {
		t.Error("the logs differ")
	}
	_, pos := l.Tip()
	if _, copied := c.Tip(); copied != pos {
		t.Errorf("the copy has %d bytes, the original %d", copied, pos)
	}
	finds(t, to, "wörd", "two/1", l.Session()+"/1001")
	finds(t, to, "title", "two/-1", l.Session()+"/-1")
	for id, want := range map[string]string{"c1": "note <1>", "c2": "", "key": "run"} {
		if note, seen, err := c.SeenNote(ctx, id); note != want || !seen || err != nil {
			t.Errorf("SeenNote(%s) = %q %v %v", id, note, seen, err)
		}
	}
	if pieces, err := c.Structural(ctx, 0, 1<<40, "assistant/chunk"); err != nil || len(pieces) != 0 {
		t.Errorf("%d streamed pieces are found like structural events, %v", len(pieces), err)
	}
	add(t, c, event("turn/start", `{}`)) // it goes on
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	intact(t, to.path)
}

// guarantee 17
func TestAnExportIsTheSessionOfOneMomentAlsoFromOutside(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	l := furnished(t, s, "s1", 700)
	session(t, s, "s2")
	session(t, s, "gone")
	if err := s.Delete(ctx, "gone"); err != nil {
		t.Fatal(err)
	}
	want := exported(t, s, "s1")
	r, w := io.Pipe()
	go func() { w.CloseWithError(s.Export(ctx, "s1", w)) }()
	first := make([]byte, 10)
	if _, err := io.ReadFull(r, first); err != nil { // the moment has been
		t.Fatal(err)
	}
	if _, err := l.Append(ctx, Batch{From: next(l), Events: []NewEvent{chunk("later")}, Take: []int64{3}, Seen: []string{"later"}}); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r)
	if err != nil || string(first)+string(rest) != want {
		t.Errorf("what was appended meanwhile is in the export, or it was cut: %d bytes of %d, %v", 10+len(rest), len(want), err)
	}
	var outside bytes.Buffer
	if err := ExportFile(ctx, s.path, &outside); err != nil || outside.String() != exported(t, s, "s1", "s2") {
		t.Errorf("from outside: %d bytes, %v", outside.Len(), err)
	}
	for id, want := range map[string]error{"gone": ErrDeleted, "nobody": ErrNotFound} {
		if err := s.Export(ctx, id, io.Discard); !errors.Is(err, want) {
			t.Errorf("export of %s = %v", id, err)
		}
		if err := ExportFile(ctx, s.path, io.Discard, id); !errors.Is(err, want) {
			t.Errorf("export of %s from outside = %v", id, err)
		}
	}
	full := errors.New("no space left on the device")
	if err := s.Export(ctx, "s1", failingWriter{full}); !errors.Is(err, full) {
		t.Errorf("export to a full disk = %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestAnExportOfAFileOfTheFirstSchemaNeedsNoMigration(t *testing.T) {
	ctx := context.Background()
	path := schema1File(t, 30)
	var b bytes.Buffer
	if err := ExportFile(ctx, path, &b); err != nil {
		t.Fatal(err)
	}
	s := open(t, Options{})
	if got, err := importText(s, b.String()); err != nil || got.Events != 30 {
		t.Fatalf("%+v %v", got, err)
	}
	if again := exported(t, s, "s1"); again != b.String() {
		t.Error("the export of the import differs")
	}
}

func TestAnExportSaysSoWhenItsSessionIsDeletedMeanwhile(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	furnished(t, s, "s1", 3000)
	r, w := io.Pipe()
	failed := make(chan error, 1)
	go func() {
		err := s.Export(ctx, "s1", w)
		w.Close()
		failed <- err
	}()
	if _, err := io.ReadFull(r, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	idle(t, s)
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, ErrDeleted) {
		t.Errorf("export = %v, want ErrDeleted", err)
	}
}

func TestAnImportIsWrittenToAnotherOwnerIfAsked(t *testing.T) {
	ctx := context.Background()
	from, to := open(t, Options{}), openAt(t, filepath.Join(t.TempDir(), "to.db"), Options{})
	furnished(t, from, "s1", 0)
	if _, err := to.Import(ctx, strings.NewReader(exported(t, from, "s1")), ImportOptions{Owner: "bob"}); err != nil {
		t.Fatal(err)
	}
	if x, err := to.Session(ctx, "s1"); err != nil || x.Owner != "bob" {
		t.Errorf("%+v %v", x, err)
	}
}

// A log that is not there is not called damaged: the folder or the configuration is wrong.
func TestExportBackupAndVerifyOfNoFileSaySo(t *testing.T) {
	ctx := context.Background()
	none := filepath.Join(t.TempDir(), "none.db")
	for name, err := range map[string]error{
		"export": ExportFile(ctx, none, io.Discard),
		"backup": Backup(ctx, none, none+".copy"),
		"verify": func() error { _, err := Verify(ctx, none, nil); return err }(),
	} {
		if !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrForeign) {
			t.Errorf("%s = %v, want that there is no file", name, err)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(filepath.Dir(none), "*")); len(found) != 0 {
		t.Errorf("looking has made %v", found)
	}
}
