package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// age gives the files times of change a minute apart, the first named the newest.
func age(t *testing.T, dir string, names ...string) {
	t.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, name := range names {
		must(t, os.Chtimes(filepath.Join(dir, name), at, at))
		at = at.Add(-time.Minute)
	}
}

func TestGlobFindsByPatternNewestFirst(t *testing.T) {
	names := []string{"src/deep/er/z.go", "b.go", "src/a.go", ".hidden.go", "a.ts", "src/x.tsx", "日本.go", "we[i]rd.go"}
	files := map[string]string{".git/config.go": "", "src/.git/y.go": "", "dir.go/": "", "link.go": "-> b.go", "gone.go": "-> nowhere"}
	for _, n := range names {
		files[n] = ""
	}
	dir := tree(t, files)
	age(t, dir, names...) // link.go has the time of b.go, and the later name
	w := workspace(t, dir)
	for _, c := range []struct {
		pattern, path string
		want          []string
	}{
		{"**/*.go", "", []string{"src/deep/er/z.go", "b.go", "link.go", "src/a.go", ".hidden.go", "日本.go", "we[i]rd.go"}},
		{"*.go", "", []string{"b.go", "link.go", ".hidden.go", "日本.go", "we[i]rd.go"}},
		{"./*.ts", "", []string{"a.ts"}},
		{"src/**", "", []string{"src/deep/er/z.go", "src/a.go", "src/x.tsx"}},
		{"src/*/*/*", "", []string{"src/deep/er/z.go"}},
		{"**/er/*", "", []string{"src/deep/er/z.go"}},
		{"*.{ts,tsx}", "src", []string{"src/x.tsx"}},
		{"{src,.}/*.{ts,tsx}", "", []string{"src/x.tsx"}},
		{"{a.ts,src/{a.go,x.tsx}}", "", []string{"src/a.go", "a.ts", "src/x.tsx"}},
		{dir + "/src/*.go", "", []string{"src/a.go"}},
		{"../*.go", "src", []string{"b.go", "link.go", ".hidden.go", "日本.go", "we[i]rd.go"}},
		{"b.go", "", []string{"b.go"}},
		{"[!a-z]*.go", "", []string{".hidden.go", "日本.go"}},
		{`we\[i\]rd.go`, "", []string{"we[i]rd.go"}},
		{"??.go", "", []string{"日本.go"}},
	} {
		got := w.call(t, t.Context(), "Glob", args{"pattern": c.pattern, "path": c.path})
		expect(t, c.pattern, got, strings.Join(c.want, "\n")+"\n")
	}
	expect(t, "no match", w.call(t, t.Context(), "Glob", args{"pattern": "*.rb"}), "No file matches.\n")
	expect(t, ".git on demand", w.call(t, t.Context(), "Glob", args{"pattern": ".git/*"}), ".git/config.go\n")
}

func TestGlobSaysWhatIsWrongWithItsArguments(t *testing.T) {
	w := workspace(t, tree(t, map[string]string{"f": "", "source/x": ""}))
	for pattern, want := range map[string]string{
		"[a":                       `error: "[a" is no valid glob pattern: a [ or { is not closed, or a \ ends it`,
		"{a,b":                     `error: "{a,b" is no valid glob pattern: a [ or { is not closed, or a \ ends it`,
		`a*\`:                      `error: "a*\\" is no valid glob pattern: a [ or { is not closed, or a \ ends it`,
		"f/*":                      `error: f is a file, not a directory`,
		"sorce/*":                  `error: sorce does not exist; did you mean source?`,
		strings.Repeat("{a,b}", 7): `error: "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}" stands for more than 100 patterns: use fewer braces`,
	} {
		expect(t, pattern, w.call(t, t.Context(), "Glob", args{"pattern": pattern}), want)
	}
}

// Guarantee 3.
func TestGlobListsTheNewestHundredAndSaysHowManyThereAre(t *testing.T) {
	files := map[string]string{}
	var names []string
	for i := range 1234 {
		name := fmt.Sprintf("d%d/f%04d", i%7, i)
		files[name], names = "", append(names, name)
	}
	dir := tree(t, files)
	age(t, dir, names...)
	got := strings.Split(workspace(t, dir).call(t, t.Context(), "Glob", args{"pattern": "**"}), "\n")
	want := append(slices.Clone(names[:globFiles]), "[the newest 100 of 1234 files are listed: narrow the pattern to see others]", "")
	if !slices.Equal(got, want) {
		t.Errorf("got %d lines, the last %q", len(got), got[len(got)-2:])
	}
}

// Guarantee 3.
func TestGlobHoldsNoMoreThanTheNewestWhileItWalks(t *testing.T) {
	w := workspace(t, tree(t, map[string]string{"f": ""}))
	var n newest
	for range 5000 {
		n.add(w, place{w.dirs[0], "f"})
	}
	if n.total != 5000 || len(n.files) > 10*globFiles {
		t.Errorf("counted %d, held %d", n.total, len(n.files))
	}
}

// Guarantee 4.
func TestAWalkStopsAtTheEntryAfterItsContextEnds(t *testing.T) {
	w := workspace(t, tree(t, map[string]string{"a/1": "", "a/2": "", "b/3": ""}))
	ctx, cancel := context.WithCancelCause(t.Context())
	var seen []string
	v := walker{w: w, enter: func(place) bool { return true }, visit: func(p place, _ fs.DirEntry) error {
		seen = append(seen, w.show(p))
		cancel(errors.New("enough"))
		return nil
	}}
	err := v.walk(ctx, place{w.dirs[0], "."})
	if err == nil || err.Error() != "enough" || !slices.Equal(seen, []string{"a/1"}) {
		t.Errorf("visited %q, error %v", seen, err)
	}
}

// A pattern that would be tried again at each place a star may end, were its braces
// not expanded first: some 2^6 × 60^6 ways.
func TestNastyPatternsEnd(t *testing.T) {
	name := strings.Repeat("a", 250)
	for _, s := range []string{strings.Repeat("*{a,aa}", 6) + "b", strings.Repeat("*a", 100) + "b", strings.Repeat("**/*a", 50) + "b"} {
		p, err := parsePattern(s)
		if err != nil || p.match(name) || p.match(strings.Repeat("a/", 200)+"a") {
			t.Errorf("%q: matched, or %v", s, err)
		}
	}
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"**/*.{go,ts}", "{a,{b,c}d,}e", `[{]\{*`, "{,}{,}{,}", "[!a-c]?", "{{}}", "a{b}c"} {
		f.Add(s, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, s, name string) {
		if len(s) > 1000 || len(name) > 1000 {
			return // the schema's bound, and a path's
		}
		p, err := parsePattern(s)
		if err != nil {
			return
		}
		if len(p.plain) == 0 || len(p.plain) > maxAlternatives {
			t.Errorf("%q stands for %d patterns", s, len(p.plain))
		}
		p.match(name) // comes back
		p.matchFile(name)
	})
}
