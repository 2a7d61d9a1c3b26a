package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGrepListsFilesShowsLinesOrCounts(t *testing.T) {
	w := workspace(t, tree(t, map[string]string{
		"b.txt": "alpha\nbeta\nALPHA beta\n", "a/x.go": "package alpha\n\nfunc beta() {}\n", "a/y.md": "nothing\n",
		".git/z": "alpha\n", "bin": "alpha\x00\n", "late": strings.Repeat("alpha\n", 2000) + "\x00\nalpha\n", "link": "-> b.txt",
		"dos.txt": "gamma\r\ndelta\r\n", "latin": "caf\xe9 gamma\n", "ü/名.ts": "delta\n",
	}))
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"pattern": "alpha"}, "a/x.go\nb.txt\nlate\n"},
		{args{"pattern": "alpha", "glob": "*.{go,txt}"}, "a/x.go\nb.txt\n"},
		{args{"pattern": "alpha", "glob": "a/*"}, "a/x.go\n"},
		{args{"pattern": "alpha", "glob": "**/*.go"}, "a/x.go\n"},
		{args{"pattern": "x|a", "path": "a", "glob": "x.go"}, "a/x.go\n"},
		{args{"pattern": "alpha|delta", "type": "go"}, "a/x.go\n"},
		{args{"pattern": "alpha|delta", "type": "ts"}, "ü/名.ts\n"},
		{args{"pattern": "alpha", "type": "go", "glob": "*.txt"}, "No match.\n"},
		{args{"pattern": "alpha", "output_mode": "content", "path": "b.txt"}, "b.txt:1:alpha\n"},
		{args{"pattern": "alpha", "output_mode": "content", "path": "b.txt", "-i": true}, "b.txt:1:alpha\nb.txt:3:ALPHA beta\n"},
		{args{"pattern": "alpha", "output_mode": "content", "path": "b.txt", "-n": false}, "b.txt:alpha\n"},
		{args{"pattern": "^gamma$|delta$", "output_mode": "content"}, "dos.txt:1:gamma\ndos.txt:2:delta\nü/名.ts:1:delta\n"},
		{args{"pattern": "caf.", "output_mode": "content"}, "latin:1:caf\uFFFD gamma\n"},
		{args{"pattern": "alpha", "output_mode": "count"}, "a/x.go:1\nb.txt:1\nlate:2000\n"},
		{args{"pattern": "alpha", "output_mode": "count", "-i": true, "head_limit": 2}, "a/x.go:1\nb.txt:2\n[there may be more than is shown: narrow the search, or raise head_limit]\n"},
		{args{"pattern": "alpha", "path": "link"}, "link\n"},
		{args{"pattern": "alpha", "path": ".git"}, ".git/z\n"},
		{args{"pattern": "alpha", "path": "bin"}, "error: bin is binary: Grep searches text files only"},
		{args{"pattern": "alpha\nbeta", "multiline": true}, "b.txt\n"},
		{args{"pattern": "alpha.beta", "multiline": true, "output_mode": "content"}, "b.txt:1:alpha\nb.txt:2:beta\n"},
		{args{"pattern": "alpha.beta", "output_mode": "content"}, "No match.\n"},
		{args{"pattern": "^beta$", "multiline": true, "output_mode": "count"}, "b.txt:1\n"},
		{args{"pattern": "^gamma$", "multiline": true}, "No match.\n"}, // CR is a character where lines are not taken apart
		{args{"pattern": "("}, "error: pattern: error parsing regexp: missing closing ): `(` (Go syntax: no look-around, no back-references)"},
		{args{"pattern": "(?=x)"}, "error: pattern: error parsing regexp: invalid or unsupported Perl syntax: `(?=` (Go syntax: no look-around, no back-references)"},
		{args{"pattern": "x", "glob": "[a"}, `error: "[a" is no valid glob pattern: a [ or { is not closed, or a \ ends it`},
		{args{"pattern": "x", "path": "aa"}, "error: aa does not exist; did you mean a?"},
		{args{"pattern": "x", "output_mode": "lines"}, `error: Grep did not run, its arguments do not fit: output_mode: must be one of "files_with_matches", "content", "count", not "lines"`},
	} {
		expect(t, fmt.Sprint(c.args), w.call(t, t.Context(), "Grep", c.args), c.want)
	}
	if got := w.call(t, t.Context(), "Grep", args{"pattern": "x", "type": "cobol"}); !strings.HasPrefix(got, `error: type "cobol" is not known, use glob instead; the known ones are c, cpp,`) {
		t.Errorf("unknown type: %s", got)
	}
}

func TestGrepShowsContextOnceAndMarksWhatIsLeftOut(t *testing.T) {
	w := workspace(t, tree(t, map[string]string{
		"f": "1\nx2\n3\n4\n5\n6\nx7\nx8\n9\n", "g": "x1\n2\n",
	}))
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"-A": 1}, "f:2:x2\nf-3-3\n--\nf:7:x7\nf:8:x8\nf-9-9\n--\ng:1:x1\ng-2-2\n"},
		{args{"-B": 1}, "f-1-1\nf:2:x2\n--\nf-6-6\nf:7:x7\nf:8:x8\n--\ng:1:x1\n"},
		{args{"-C": 2}, "f-1-1\nf:2:x2\nf-3-3\nf-4-4\nf-5-5\nf-6-6\nf:7:x7\nf:8:x8\nf-9-9\n--\ng:1:x1\ng-2-2\n"},
		{args{"-A": 1, "-B": 2}, "f-1-1\nf:2:x2\nf-3-3\n--\nf-5-5\nf-6-6\nf:7:x7\nf:8:x8\nf-9-9\n--\ng:1:x1\ng-2-2\n"},
		{args{"-C": 1, "-n": false}, "f-1\nf:x2\nf-3\n--\nf-6\nf:x7\nf:x8\nf-9\n--\ng:x1\ng-2\n"},
		{args{}, "f:2:x2\nf:7:x7\nf:8:x8\ng:1:x1\n"},
		{args{"head_limit": 2}, "f:2:x2\nf:7:x7\n[there may be more than is shown: narrow the search, or raise head_limit]\n"},
		{args{"head_limit": 4}, "f:2:x2\nf:7:x7\nf:8:x8\ng:1:x1\n"},
	} {
		c.args["pattern"], c.args["output_mode"] = "x", "content"
		expect(t, fmt.Sprint(c.args), w.call(t, t.Context(), "Grep", c.args), c.want)
		c.args["multiline"] = true
		expect(t, fmt.Sprint(c.args), w.call(t, t.Context(), "Grep", c.args), c.want)
	}
}

// Guarantee 3.
func TestGrepsOutputIsBoundedAndSaysSo(t *testing.T) {
	var b strings.Builder
	for range 5000 {
		b.WriteString("needle " + strings.Repeat("é", 400) + "\n")
	}
	w := workspace(t, tree(t, map[string]string{
		"many": b.String(), "min.js": strings.Repeat("é", 5000) + "NEEDLE" + strings.Repeat("x", 5000),
	}))
	got := w.call(t, t.Context(), "Grep", args{"pattern": "needle", "output_mode": "content"})
	if n := strings.Count(got, "\n"); n > 251 || !strings.HasSuffix(got, "raise head_limit]\n") {
		t.Errorf("%d lines without head_limit", n)
	}
	got = w.call(t, t.Context(), "Grep", args{"pattern": "needle", "output_mode": "content", "head_limit": 0})
	if len(got) > maxOutput+100 || !strings.HasSuffix(got, "raise head_limit]\n") {
		t.Errorf("%d bytes with head_limit 0", len(got))
	}
	got = w.call(t, t.Context(), "Grep", args{"pattern": "NEEDLE", "output_mode": "content"})
	want := "min.js:1:…" + strings.Repeat("é", sinkLead/2) + "NEEDLE" + strings.Repeat("x", sinkLine-sinkLead/2-6) + "… [line cut]\n"
	expect(t, "a match far into a long line", got, want)
}

// Guarantee 3.
func TestMultilinePassesOverFilesItCannotHoldAndSaysSo(t *testing.T) {
	dir := tree(t, map[string]string{"small": "a\nb\n", "large": "", "empties": strings.Repeat("y", searchSpans+10)})
	must(t, os.WriteFile(filepath.Join(dir, "large"), []byte(strings.Repeat("a\nb\n", searchMultiline/4+1)), 0o644))
	w := workspace(t, dir)
	expect(t, "too large", w.call(t, t.Context(), "Grep", args{"pattern": "a.b", "multiline": true}),
		"small\n[1 file over 8 MiB not searched, which multiline cannot hold]\n")
	expect(t, "by line", w.call(t, t.Context(), "Grep", args{"pattern": "^b"}), "large\nsmall\n")
	expect(t, "too many matches", w.call(t, t.Context(), "Grep", args{"pattern": "z*", "multiline": true, "path": "empties"}),
		"empties\n[there may be more than is shown: narrow the search, or raise head_limit]\n")
}

// Guarantee 5.
func TestGrepAnswersTheSameEachTime(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("d%d/f%d", i%9, i)] = "x\n"
	}
	w := workspace(t, tree(t, files))
	first := w.call(t, t.Context(), "Grep", args{"pattern": "x", "output_mode": "content"})
	for range 5 {
		expect(t, "again", w.call(t, t.Context(), "Grep", args{"pattern": "x", "output_mode": "content"}), first)
	}
}

func BenchmarkGrep(b *testing.B) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("d%d/f%d.go", i%9, i)] = strings.Repeat("func name(of int) error { return nil }\n", 500)
	}
	w := workspace(b, tree(b, files))
	for _, multiline := range []bool{false, true} {
		b.Run(fmt.Sprintf("multiline=%v", multiline), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(200 * 500 * 39)
			for b.Loop() {
				w.call(b, b.Context(), "Grep", args{"pattern": "absent[0-9]+", "multiline": multiline})
			}
		})
	}
}
