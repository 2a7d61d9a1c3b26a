package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// small is the export of a session of three events, a text that waits and two
// remembered ids: lines 1 to 7.
func small(t testing.TB) (lines []string) {
	t.Helper()
	s, err := Open(context.Background(), filepath.Join(t.TempDir(), "log.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l := session(t, s, "s1")
	add(t, l, chunk("a"), event("turn/start", `{"agent":"x"}`))
	if _, err := l.Append(context.Background(), Batch{From: 3, Put: []Input{{Position: 1, ID: "c", ClientID: true, Text: "waits"}}, Seen: []string{"d"}}); err != nil {
		t.Fatal(err)
	}
	lines = strings.SplitAfter(exported(t, s, "s1"), "\n")
	return lines[:len(lines)-1]
}

// guarantee 17
func TestALineThatExportWouldNotWriteIsRefusedByItsNumber(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	good := small(t)
	if len(good) != 7 {
		t.Fatalf("%d lines:\n%s", len(good), strings.Join(good, ""))
	}
	edit := func(line int, old, new string) []string {
		out := slices.Clone(good)
		if !strings.Contains(out[line-1], old) {
			t.Fatalf("line %d has no %q: %s", line, old, out[line-1])
		}
		out[line-1] = strings.Replace(out[line-1], old, new, 1)
		return out
	}
	id := good[5][len(envID) : len(envID)+idDigits]
	for _, c := range []struct {
		name  string
		lines []string
		line  int
		want  error
		says  string
	}{
		{"a member less", slices.Concat(good[:5], good[6:]), 6, ErrInvalid, "seq is 2, that of the next event"},
		{"a line twice", slices.Concat(good[:6], good[5:6], good[6:]), 7, ErrInvalid, "seq is 1, that of the next event"},
		{"cut off", good[:6], 7, ErrInvalid, "lacks 1 of its 3 events; export it again"},
		{"cut off in a line", append(slices.Clone(good[:6]), good[6][:60]), 7, ErrInvalid, "no "},
		{"no header", good[1:], 1, ErrInvalid, "header of a session should be"},
		{"an empty line", slices.Concat(good[:4], []string{"\n"}, good[4:]), 5, ErrInvalid, "event 0"},
		{"foreign text", []string{"buy milk\n"}, 1, ErrInvalid, "is this what hitchpost export wrote?"},
		{"a newer export", edit(1, `"hitchpost_export":1`, `"hitchpost_export":2,"new":1`), 1, ErrInvalid, "version is 2, this program knows 1"},
		{"an unknown member", edit(1, `"pinned"`, `"pined"`), 1, ErrInvalid, "header"},
		{"no id", edit(1, `"session_id":"s1"`, `"session_id":""`), 1, ErrInvalid, "session id"},
		{"less than none", edit(1, `"events":3`, `"events":-1`), 1, ErrInvalid, "less than no lines"},
		{"text for input", edit(1, `"inbox":1`, `"inbox":2`), 3, ErrInvalid, "text that waits should be"},
		{"input for seen", edit(1, `"inbox":1`, `"inbox":0`), 2, ErrInvalid, "remembered input id should be"},
		{"an id twice", edit(4, `"client_id":"d"`, `"client_id":"c"`), 7, ErrConflict, "was taken before"},
		{"another session", edit(6, `"session_id":"s1"`, `"session_id":"s2"`), 6, ErrInvalid, "no session_id where it belongs"},
		{"another seq", edit(6, `"seq":1`, `"seq":01`), 6, ErrInvalid, "not written as"},
		{"space", edit(6, `"seq":1`, `"seq": 1`), 6, ErrInvalid, "no seq where"},
		{"a bad time", edit(6, `"at":"2`, `"at":"x`), 6, ErrInvalid, "no at where"},
		{"an older time", edit(6, `"at":"2`, `"at":"1`), 6, ErrInvalid, "older than the one before it"},
		{"an id of letters", edit(6, id, "ABCDEFABCDEFABCD"), 6, ErrInvalid, "16 lowercase hex digits"},
		{"an id of an earlier event", edit(7, good[6][len(envID):len(envID)+idDigits], id), 7, ErrConflict, "has the id"},
		{"no object", edit(7, `{"agent":"x"}`, `["agent"]`), 7, ErrInvalid, "not a JSON object"},
		{"no JSON", edit(7, `{"agent":"x"}`, `{"agent":x}`), 7, ErrInvalid, "not valid JSON"},
		{"two objects", edit(7, `{"agent":"x"}`, `{},"more":{}`), 7, ErrInvalid, "not valid JSON"},
		{"no UTF-8", edit(7, `"x"`, "\"\xff\""), 7, ErrInvalid, "not valid UTF-8"},
		{"half a character", edit(7, `"x"`, `"\ud800"`), 7, ErrInvalid, "not written as"},
		{"no UTF-8 in a text", edit(2, `waits`, "\xff"), 2, ErrInvalid, "text that waits"},
		{"a bad type", edit(7, `turn/start`, `turn start`), 7, ErrInvalid, "type"},
	} {
		_, err := importText(s, strings.Join(c.lines, ""))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), fmt.Sprintf("line %d:", c.line)) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want line %d and %q", c.name, err, c.line, c.says)
		}
		if _, err := s.Session(ctx, "s1"); !errors.Is(err, ErrNotFound) {
			t.Fatalf("%s: the session was imported: %v", c.name, err)
		}
	}
	got, err := importText(s, strings.Join(slices.Concat(good, good[6:]), ""))
	if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "line 8: ") || !slices.Equal(got.Sessions, []string{"s1"}) {
		t.Errorf("a line behind a whole session: %+v %v, want the session, and line 8 refused", got, err)
	}
	idle(t, s)
	if left := rowsLeft(t, s); left != 0 {
		t.Errorf("%d rows are left of what was refused", left)
	}
}

func TestAnImportOfAnIDThatIsTakenIsRefusedByName(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	text := strings.Join(small(t), "")
	more := strings.ReplaceAll(text, `"s1"`, `"s2"`)
	if got, err := importText(s, text+more); err != nil || len(got.Sessions) != 2 {
		t.Fatal(got, err)
	}
	if _, err := importText(s, text); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), `line 1: session "s1"`) {
		t.Errorf("import again = %v", err)
	}
	if err := s.Delete(ctx, "s2"); err != nil {
		t.Fatal(err)
	}
	third := strings.ReplaceAll(text, `"s1"`, `"s3"`)
	got, err := importText(s, third+strings.TrimSuffix(more, "\n"))
	if !errors.Is(err, ErrDeleted) || !strings.Contains(err.Error(), `line 8: session "s2"`) || !slices.Equal(got.Sessions, []string{"s3"}) {
		t.Errorf("import of a deleted one = %+v %v", got, err)
	}
}

// guarantee 16: a crash at any piece leaves nothing that anybody can see.
func TestAnImportIsInvisibleUntilWholeWhereverACrashCutsIt(t *testing.T) {
	ctx := context.Background()
	from := open(t, Options{})
	furnished(t, from, "s1", 1000)
	text := exported(t, from, "s1")
	s, film := filmed(t)
	film.on.Store(true)
	if _, err := importText(s, text); err != nil {
		t.Fatal(err)
	}
	if film.shot < 4 {
		t.Fatalf("the import was %d commits, want one for each piece", film.shot)
	}
	film.crashes(func(n int, s *Store) {
		if list, err := s.Sessions(ctx); err != nil || len(list) != 0 {
			t.Errorf("crash %d: %d sessions, %v", n, len(list), err)
		}
		if _, err := importText(s, text); err != nil {
			t.Errorf("crash %d: import again = %v", n, err)
		}
		if exported(t, s, "s1") != text {
			t.Errorf("crash %d: imported again it differs", n)
		}
	})
}

// Whatever is accepted comes out again, and the file is whole.
func FuzzImport(f *testing.F) {
	good := strings.Join(small(f), "")
	for _, old := range []string{"", "s1", "seq", "events", `"agent":"x"`, "\n", "turn/start"} {
		f.Add([]byte(strings.Replace(good, old, "", 1)))
	}
	s, err := Open(context.Background(), filepath.Join(f.TempDir(), "log.db"), Options{Durability: Normal})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _ := s.Import(context.Background(), bytes.NewReader(data), ImportOptions{Streamed: streamedType})
		for _, id := range got.Sessions {
			l, err := s.OpenLog(context.Background(), id)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range all(t, l) {
				if !bytes.Contains(data, []byte(line)) {
					t.Errorf("stored %s", line)
				}
			}
			l.Close()
		}
		if len(got.Sessions) > 0 {
			intact(t, s.path)
			for _, table := range append(tables(2), "sessions", "search") { // the next one finds the ids free
				alterOpen(t, s, "DELETE FROM "+table)
			}
		}
	})
}

// A cursor of 0 means "nothing yet", so nothing that a client could miss may stand at seq 0.
func TestALogThatDoesNotBeginAsEveryLogDoesIsNotImported(t *testing.T) {
	ctx := context.Background()
	s := open(t, Options{})
	good := strings.Join(small(t), "")
	o := ImportOptions{Streamed: streamedType, First: "session/created"}
	for name, bad := range map[string]string{
		"another type": strings.Replace(good, `"type":"session/created"`, `"type":"turn/start"`, 1),
		"no event":     `{"hitchpost_export":1,` + strings.Replace(good[len(`{"hitchpost_export":1,`):strings.Index(good, "\n")+1], `"events":3`, `"events":0`, 1),
	} {
		_, err := s.Import(ctx, strings.NewReader(bad), o)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "session/created") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Import(ctx, strings.NewReader(good), o); err != nil {
		t.Errorf("as it was written: %v", err)
	}
}
