package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Guarantee 10.
func TestEditReplacesAPassageAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	w := workspace(t, dir)
	for i, c := range []struct {
		before, old, new string
		all              bool
		after            string
		passages         int
	}{
		{"one two three", "two", "2", false, "one 2 three", 1},
		{"one two three", "two ", "", false, "one three", 1},
		{"a\nb\nc\n", "b\nc", "B", false, "a\nB\n", 1},
		{"x x x", "x", "yy", true, "yy yy yy", 3},
		{"aaaa", "aa", "b", true, "bb", 2},
		{"a\tb\u00a0c", "\tb\u00a0", "<&>", false, "a<&>c", 1},
		{"日本\u2028語", "本\u2028", "é", false, "日é語", 1},
		{"a\r\nb\r\nc\r\n", "a\nb", "1\n2\n3", false, "1\r\n2\r\n3\r\nc\r\n", 1},
		{"a\r\nb\r\n", "b", "b\nc", false, "a\r\nb\r\nc\r\n", 1},
		{"a\r\nb\r\n", "a\r\nb", "a\nb", false, "a\nb\r\n", 1}, // who names CRLF means it
		{"a\nb\n", "a\nb", "a\r\nb", false, "a\r\nb\n", 1},
		{"a\r\nb\nc\nd\n", "a\nb", "x\ny", false, "x\r\ny\nc\nd\n", 1},
		{"a\r\nb\r\nc\nd\r\n", "c\nd", "x\ny", false, "a\r\nb\r\nx\ny\r\n", 1},
		{"a\nb\r\nc\nd\n", "a\nb", "x\ny", false, "x\ny\r\nc\nd\n", 1},
		{"a\rb\rc", "b\r", "B\r", false, "a\rB\rc", 1},
		{"\uFEFFa\nb\n", "a", "A", false, "\uFEFFA\nb\n", 1},
		{"\uFEFFa\nb\n", "\uFEFFa", "A", false, "\uFEFFA\nb\n", 1},
		{"\uFEFFa\r\nb\r\n", "\uFEFFa\nb", "\uFEFFA\n", false, "\uFEFFA\r\n\r\n", 1},
	} {
		name := fmt.Sprint("f", i)
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(c.before), 0o640))
		got := w.call(t, t.Context(), "Edit", args{"file_path": name, "old_string": c.old, "new_string": c.new, "replace_all": c.all})
		expect(t, fmt.Sprintf("%q", c.before), got, fmt.Sprintf("Edited %s: %s replaced.", name, plural(c.passages, "passage")))
		expect(t, fmt.Sprintf("%q, %q to %q", c.before, c.old, c.new), content(t, dir, name), c.after)
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("mode of %s is %v, %v", name, info.Mode(), err)
		}
	}
	noLeftovers(t, dir)
}

func TestEditThatCannotBeDoneChangesNothingAndSaysWhatToDo(t *testing.T) {
	dir := tree(t, map[string]string{
		"f.go": "func A() {\n\treturn 1\n}\n\nfunc B() {\n\treturn 2\n}\n", "many": strings.Repeat("x\n", 7), "over": "ababa", "bin": "a\x00b", "d/": "",
		"lf": "a\nb\n", "large": strings.Repeat("x", maxFile/2), "README.md": "x",
	})
	w := workspace(t, dir)
	const as = " is as it was: "
	const not = as + "old_string does not stand in it"
	for _, c := range []struct{ path, old, new, want string }{
		{"f.go", "return 3", "x", "f.go" + not + ": read the file again"},
		{"f.go", "x\ny", "x", "f.go" + not + ": read the file again"},
		{"f.go", "    return 1\n}", "x", "f.go" + not + `; line 2 differs from it in white space only, and reads "\treturn 1\n}"`},
		{"f.go", "func  B()", "x", "f.go" + not + `; line 5 differs from it in white space only, and reads "func B() {"`},
		{"f.go", "\n\nfunc A() {\n  return 1\n}\n", "x", "f.go" + not + `; line 1 differs from it in white space only, and reads "func A() {\n\treturn 1\n}"`},
		{"f.go", "Func b() {\n\treturn 2", "x", "f.go" + not + `; line 5 differs from it in upper and lower case, and reads "func B() {\n\treturn 2"`},
		{"f.go", "func B() {\n\treturn 3\n}", "x", "f.go" + not + `; its first line stands at line 5, and what follows reads "\treturn 2"`},
		{"f.go", "func A() {\n\treturn 1\n}\nfunc", "x", "f.go" + not + `; its first 3 lines stand at line 1, and what follows reads ""`},
		{"f.go", "     2\t\treturn 1", "x", "f.go" + not + ": leave out the line numbers and the tabs behind them, which only Read shows"},
		{"f.go", "return", "x", "f.go" + as + "old_string stands in it 2 times (lines 2, 6): add what is around the one you mean, or set replace_all"},
		{"many", "x", "y", "many" + as + "old_string stands in it 7 times (lines 1, 2, 3, 4, 5, …): add what is around the one you mean, or set replace_all"},
		{"over", "aba", "y", "over" + as + "old_string stands in it 2 times (lines 1, 1): add what is around the one you mean, or set replace_all"},
		{"lf", "a\r\nb", "x", "lf" + not + `; line 1 differs from it in white space only, and reads "a\nb"`},
		{"f.go", "return 1", "return 1", "f.go" + as + "old_string and new_string are the same"},
		{"f.go", "\uFEFF", "x", "f.go" + as + "old_string is nothing but a byte order mark"},
		{"f.go", "return 1", "\x00", "f.go" + as + "new_string holds a NUL: only text can be written"},
		{"f.go", "", "x", "Edit did not run, its arguments do not fit: old_string: must have at least 1 characters, has 0"},
		{"large", "x", strings.Repeat("y", 10), "large" + as + "it would have 41943040 bytes: a file may have 8 MiB"},
		{"bin", "a", "x", "bin is a binary file: only UTF-8 text can be changed"},
		{"d", "a", "x", "d is a directory"},
		{"readme.md", "a", "x", "readme.md does not exist; did you mean README.md?"},
		{"no/where", "a", "x", "no/where does not exist, nor can its directory no be opened"},
		{"../f", "a", "x", "../f is outside the workspace (" + dir + ")"},
	} {
		var before string
		if info, err := os.Stat(filepath.Join(dir, c.path)); err == nil && info.Mode().IsRegular() {
			before = content(t, dir, c.path)
		}
		got := w.call(t, t.Context(), "Edit", args{"file_path": c.path, "old_string": c.old, "new_string": c.new, "replace_all": c.path == "large"})
		expect(t, c.path+" "+c.old, got, "error: "+c.want)
		if before != "" && content(t, dir, c.path) != before {
			t.Errorf("%s was changed", c.path)
		}
	}
	noLeftovers(t, dir)
}

// Guarantee 10.
func TestEditOfAnyTextIsAReplacementInIt(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n é")), 0, 30, -1)
	rapid.Check(t, func(t *rapid.T) {
		a := editArgs{Old: text.Draw(t, "old"), New: text.Draw(t, "new"), All: rapid.Bool().Draw(t, "all")}
		before := text.Draw(t, "before") + a.Old + text.Draw(t, "after")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		got, n, err := a.apply(strings.ReplaceAll(before, "\n", end))
		if err != nil || !strings.Contains(before, "\n") { // a text of one line has no line ends to keep
			return
		}
		if want := strings.ReplaceAll(strings.Replace(before, a.Old, a.New, n), "\n", end); got != want {
			t.Fatalf("%q became %q, want %q", before, got, want)
		}
	})
}

func FuzzNearMiss(f *testing.F) {
	f.Add("a\n b\nc", "a\nb")
	f.Add("", "\n")
	f.Fuzz(func(t *testing.T, text, passage string) { nearMiss(text, passage) })
}
