package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestReadNumbersTheLines(t *testing.T) {
	w := workspace(t, tree(t, map[string]string{
		"plain.txt": "one\ntwo\n", "open.txt": "one\ntwo", "blank.txt": "\n\n", "empty.txt": "", "dos.txt": "one\r\ntwo\r\nlone\rcr\n",
		"名前/é ü.txt": "日本\u2028語\n", "late.txt": strings.Repeat("a", headSize+10) + "\xff\n",
	}))
	for name, want := range map[string]string{
		"plain.txt":   "     1\tone\n     2\ttwo\n",
		"./plain.txt": "     1\tone\n     2\ttwo\n",
		"open.txt":    "     1\tone\n     2\ttwo\n",
		"blank.txt":   "     1\t\n     2\t\n",
		"empty.txt":   "(the file is empty)",
		"dos.txt":     "     1\tone\n     2\ttwo\n     3\tlone\rcr\n[lines of this file end with CRLF]\n",
		"名前/é ü.txt":  "     1\t日本\u2028語\n",
		"late.txt":    "     1\t" + strings.Repeat("a", readLineLength) + "… [line cut: it has 8203 bytes]\n",
	} {
		expect(t, name, w.call(t, t.Context(), "Read", args{"file_path": name}), want)
	}
}

func TestReadShowsTheLinesAskedForAndSaysHowToGoOn(t *testing.T) {
	var b strings.Builder
	for n := range 2001 {
		fmt.Fprintf(&b, "%d\n", n+1)
	}
	w := workspace(t, tree(t, map[string]string{"f": b.String(), "three": "a\nb\nc\n"}))
	whole := w.call(t, t.Context(), "Read", args{"file_path": "f"})
	if !strings.HasSuffix(whole, "  2000\t2000\n[lines 1 to 2000 are shown and there are more: go on with offset 2001]\n") {
		t.Errorf("ends with %q", whole[len(whole)-120:])
	}
	for _, c := range []struct {
		offset, limit any
		want          string
	}{
		{2001, 1, "  2001\t2001\n"},
		{2001, 5, "  2001\t2001\n"},
		{2e3, 1.0, "  2000\t2000\n[lines 2000 to 2000 are shown and there are more: go on with offset 2001]\n"},
		{0, 1, "     1\t1\n[lines 1 to 1 are shown and there are more: go on with offset 2]\n"},
		{2002, 1, "error: f cannot be read: offset 2002 is behind the end, it has 2001 lines"},
		{1e300, 1, "error: f cannot be read: offset 2147483647 is behind the end, it has 2001 lines"},
		{-1, 1, "error: Read did not run, its arguments do not fit: offset: must be at least 0, is -1"},
		{1, 0, "error: Read did not run, its arguments do not fit: limit: must be at least 1, is 0"},
		{"1", 1, "error: Read did not run, its arguments do not fit: offset: must be an integer, not a string"},
	} {
		got := w.call(t, t.Context(), "Read", args{"file_path": "f", "offset": c.offset, "limit": c.limit})
		expect(t, fmt.Sprint(c.offset, c.limit), got, c.want)
	}
	expect(t, "all of it", w.call(t, t.Context(), "Read", args{"file_path": "three", "limit": 3}), "     1\ta\n     2\tb\n     3\tc\n")
}

func TestReadRefusesWhatIsNoTextAndSaysWhatItIs(t *testing.T) {
	w := workspace(t, tree(t, map[string]string{
		"bin": "\x7fELF\x00\x01", "latin1": "caf\xe9 au lait", "utf16": "\xff\xfeh\x00i\x00", "dir/": "", "torn.log": "one\ntwo\n\x00\x00\x00",
		"split": strings.Repeat("a", headSize-1) + "é\n", "torn2": strings.Repeat("x\n", headSize) + "\x00",
	}))
	for name, want := range map[string]string{
		"bin":      "error: bin is a binary file",
		"latin1":   "error: latin1 is not UTF-8 text",
		"utf16":    "error: utf16 is UTF-16 text, and only UTF-8 can be read",
		"dir":      "error: dir is a directory: list it with Glob",
		".":        "error: . is a directory: list it with Glob",
		"torn.log": "error: torn.log is a binary file",
		"split":    "     1\t" + strings.Repeat("a", readLineLength) + "… [line cut: it has 8193 bytes]\n",
	} {
		expect(t, name, w.call(t, t.Context(), "Read", args{"file_path": name}), want)
	}
	expect(t, "text before the NUL", w.call(t, t.Context(), "Read", args{"file_path": "torn2", "offset": headSize}),
		"  8192\tx\n[line 8193 holds a NUL byte; the file is not read beyond it]\n")
	expect(t, "nothing before the NUL", w.call(t, t.Context(), "Read", args{"file_path": "torn2", "offset": headSize + 1}),
		"error: torn2 cannot be read: line 8193 holds a NUL byte, and the file is not read beyond it")
}

// Guarantee 7.
func TestAPathThatDoesNotExistIsAnsweredWithSimilarNames(t *testing.T) {
	w := workspace(t, tree(t, map[string]string{"README.md": "", "src/config.go": "", "src/config.toml": "", "src/confug.go": "", "zebra": ""}))
	for name, want := range map[string]string{
		"readme.md":    "error: readme.md does not exist; did you mean README.md?",
		"readme":       "error: readme does not exist; did you mean README.md?",
		"src/confg.go": "error: src/confg.go does not exist; did you mean src/config.go or src/confug.go?",
		"src/config":   "error: src/config does not exist; did you mean src/config.go or src/config.toml?",
		"quite else":   "error: quite else does not exist",
		"lib/x.go":     "error: lib/x.go does not exist, nor can its directory lib be opened",
		"a\x00b":       `error: "a\x00b" is no path: it holds a NUL`,
	} {
		expect(t, name, w.call(t, t.Context(), "Read", args{"file_path": name}), want)
	}
	if got := w.call(t, t.Context(), "Read", args{"file_path": "zebra/x"}); !strings.HasPrefix(got, "error: zebra/x ") {
		t.Errorf("below a file: %s", got)
	}
	if got := w.call(t, t.Context(), "Read", args{"file_path": strings.Repeat("x", 1<<20)}); !strings.HasPrefix(got, "error: ") {
		t.Errorf("a name of 1 MiB: %.80s", got)
	}
}

// Guarantee 3.
func TestAHugeFileIsReadWithinBoundedMemory(t *testing.T) {
	dir := tree(t, map[string]string{"log": "first\nsecond\n", "line": ""})
	must(t, os.Truncate(filepath.Join(dir, "log"), 10<<30)) // sparse: zeros behind the text
	f, err := os.OpenFile(filepath.Join(dir, "line"), os.O_WRONLY, 0)
	must(t, err)
	long := strings.Repeat("é", 1<<20)
	for range 16 { // one line of 32 MiB
		_, err := f.WriteString(long)
		must(t, err)
	}
	_, err = f.WriteString("\nnext\n")
	must(t, err)
	must(t, f.Close())
	w := workspace(t, dir)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	expect(t, "sparse", w.call(t, t.Context(), "Read", args{"file_path": "log"}), "error: log is a binary file")
	expect(t, "long line", w.call(t, t.Context(), "Read", args{"file_path": "line"}),
		"     1\t"+strings.Repeat("é", readLineLength)+"… [line cut: it has 33554432 bytes]\n     2\tnext\n")
	expect(t, "search", w.call(t, t.Context(), "Grep", args{"pattern": "next|second"}), "line\n")
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("allocated %d bytes for files of 10 GiB and 32 MiB", used)
	}
}

// Guarantee 3.
func TestAPageIsBoundedInBytesAsWell(t *testing.T) {
	w := workspace(t, tree(t, map[string]string{"f": strings.Repeat(strings.Repeat("x", 1999)+"\n", 1000)}))
	got := w.call(t, t.Context(), "Read", args{"file_path": "f"})
	if len(got) > maxOutput+4096 || !strings.Contains(got, "go on with offset 67]") {
		t.Errorf("%d bytes, ends with %q", len(got), got[len(got)-90:])
	}
}

// Guarantee 4.
func TestReadStopsWhenItsContextEnds(t *testing.T) {
	w := workspace(t, tree(t, map[string]string{"f": "x\n"}))
	ctx, cancel := context.WithCancelCause(t.Context())
	l := newLines(ctx, endless{}, 10)
	if _, _, err := l.next(); err != nil {
		t.Fatal(err)
	}
	cancel(errors.New("enough"))
	if _, _, err := l.next(); err == nil || err.Error() != "enough" {
		t.Errorf("after the end of the context: %v", err)
	}
	expect(t, "a call", w.call(t, ctx, "Read", args{"file_path": "f"}), "error: cancelled")
}

// endless is text without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, "a line\n"), nil }

func TestEveryLengthAroundTheBuffersComesBackWhole(t *testing.T) {
	for _, size := range []int{0, 1, headSize - 1, headSize, bufferSize - 1, bufferSize, bufferSize + 1, 2*bufferSize + 1} {
		for _, end := range []string{"\n", "\r\n"} {
			text := strings.Repeat("x", size) + end + "tail"
			l := newLines(t.Context(), strings.NewReader(text), 3*bufferSize)
			line, n, err := l.next()
			if err != nil || n != size || len(line) != size {
				t.Errorf("size %d, end %q: a line of %d kept %d (%v)", size, end, n, len(line), err)
			}
			if line, _, _ = l.next(); string(line) != "tail" || l.crlf != (end == "\r\n") {
				t.Errorf("size %d, end %q: then %q", size, end, line)
			}
		}
	}
}
