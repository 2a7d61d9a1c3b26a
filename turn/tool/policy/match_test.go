package policy

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

type row struct {
	line          int
	pattern, name string
	matches       bool
}

// rows reads a table of measured answers: pattern and name as quoted strings, then
// true, false or error, which means no match here (rule 10).
func rows(t testing.TB, file string) []row {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []row
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		if strings.HasPrefix(line, "#") || line == "pattern\tname\tmatches" {
			continue
		}
		col := strings.Split(line, "\t")
		if len(col) != 3 {
			t.Fatalf("%s:%d: %d columns, want 3", file, n, len(col))
		}
		pattern, err1 := strconv.Unquote(col[0])
		name, err2 := strconv.Unquote(col[1])
		if err1 != nil || err2 != nil {
			t.Fatalf("%s:%d: not quoted strings", file, n)
		}
		all = append(all, row{n, pattern, name, col[2] == "true"})
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// Rules 1 to 11.
func TestMatchAnswersAsTheOriginalOnEveryMeasuredRow(t *testing.T) {
	for file, want := range map[string]int{"fnmatch-cases.tsv": 520, "fnmatch-fuzz.tsv": 3000} {
		all := rows(t, file)
		if len(all) < want {
			t.Errorf("%s: read %d rows, want at least %d", file, len(all), want)
		}
		for _, r := range all {
			if got := Match(r.pattern, r.name); got != r.matches {
				t.Errorf("%s:%d: Match(%q, %q) = %v, want %v", file, r.line, r.pattern, r.name, got, r.matches)
			}
		}
	}
}

// Guarantee 3.
func TestAnEmptyListAdmitsNothing(t *testing.T) {
	for _, list := range [][]string{nil, {}} {
		if Allows(list, "Read") || Allows(list, "") {
			t.Errorf("Allows(%#v) admits something", list)
		}
	}
}

func TestOnePatternOfTheListIsEnough(t *testing.T) {
	list := []string{"Read", "mcp__files__*"}
	for name, want := range map[string]bool{"Read": true, "mcp__files__list": true, "Reader": false, "Bash": false} {
		if got := Allows(list, name); got != want {
			t.Errorf("Allows(%q) = %v, want %v", name, got, want)
		}
	}
}

// nasty are the shapes on which a matcher that tries every split never ends.
var nasty = map[string]string{
	"stars between equal letters": strings.Repeat("*a", 128),
	"stars, then another letter":  strings.Repeat("*a", 127) + "*b",
	"stars and classes":           strings.Repeat("*[!b]", 51),
	"stars and question marks":    strings.Repeat("*?", 128),
	"one long class behind stars": "*a*[" + strings.Repeat("c-d", 83) + "]",
}

// Guarantee 2. Trying every split of this name would take more than 2^128 steps, so
// that the test ends at all is the proof; the benchmark shows the constant.
func TestNastyPatternsEnd(t *testing.T) {
	name := strings.Repeat("a", 4096)
	want := map[string]bool{"stars between equal letters": true, "stars and classes": true, "stars and question marks": true}
	for what, pattern := range nasty {
		if got := Match(pattern, name); got != want[what] {
			t.Errorf("%s: %v, want %v", what, got, want[what])
		}
	}
}

// Guarantee 1.
func TestMatchAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Match(`*[!a-\z]*é\*`, "mcp__files__é*") }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func FuzzMatch(f *testing.F) {
	for _, r := range rows(f, "fnmatch-cases.tsv") {
		f.Add(r.pattern, r.name)
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		got := Match(pattern, name) // guarantee 1: comes back
		if strings.ContainsRune(pattern, 0) || strings.ContainsRune(name, 0) {
			if got {
				t.Errorf("Match(%q, %q): a NUL matched", pattern, name)
			}
			return
		}
		if again := Match(strings.ReplaceAll(pattern, "*", "***"), name); again != got && !strings.ContainsAny(pattern, `[\`) {
			t.Errorf("Match(%q, %q) = %v, with its stars tripled %v", pattern, name, got, again)
		}
		// Escaped in full, a name matches itself and is matched by nothing shorter.
		if utf8.ValidString(name) {
			var literal strings.Builder
			for _, r := range name {
				literal.WriteString(`\` + string(r))
			}
			if !Match(literal.String(), name) {
				t.Errorf("Match(%q, %q) = false", literal.String(), name)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	name := strings.Repeat("a", 256)
	shapes := map[string]string{"plain": "mcp__files__*"}
	for what, pattern := range nasty {
		shapes[strings.ReplaceAll(what, " ", "-")] = pattern
	}
	for what, pattern := range shapes {
		b.Run(what, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Match(pattern, name)
			}
		})
	}
}
