package redact

import (
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

const key = "sk-live-0123456789abcdef"

func masks(values []string, patterns ...string) *Redactor {
	var res []*regexp.Regexp
	for _, p := range patterns {
		res = append(res, regexp.MustCompile(p))
	}
	return New(values, res)
}

// Guarantee 1.
func TestEveryOccurrenceOfAValueIsMasked(t *testing.T) {
	r := masks([]string{key, "  padded-value\n", "abcdefgh", "defghijk", "xyxyxyxy", `quote"back\slash<&`, "plus+slash/equal=", "鍵は秘密です"})
	for in, want := range map[string]string{
		"":                                       "",
		"nothing here":                           "nothing here",
		key:                                      Mark,
		"a " + key + " b":                        "a " + Mark + " b",
		key + key:                                Mark,
		key + " " + key:                          Mark + " " + Mark,
		"padded-value":                           Mark,
		"-abcdefghijk-":                          "-" + Mark + "-", // two values that overlap
		"xyxyxyxyxy!":                            Mark + "!",       // one that overlaps itself
		"abcdefg":                                "abcdefg",
		`{"v":"quote\"back\\slash<&"}`:           `{"v":"` + Mark + `"}`,
		`quote\"back\\slash\u003c\u0026`:         Mark,
		"https://h/?t=plus%2Bslash%2Fequal%3D&x": "https://h/?t=" + Mark + "&x",
		"die 鍵は秘密です!":                            "die " + Mark + "!",
		"sk-live-\xff":                           "sk-live-\xff",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

// Guarantee 5.
func TestATextThatBreaksOffInsideAValueDoesNotGiveItAway(t *testing.T) {
	r := masks([]string{key})
	for n := range key {
		want := "is " + key[:n]
		if n >= len(key)/2 {
			want = "is " + Mark
		}
		if got := r.Text("is " + key[:n]); got != want {
			t.Errorf("the first %d bytes: %q, want %q", n, got, want)
		}
	}
	if got := r.Text(key[:20] + " "); got != key[:20]+" " {
		t.Errorf("a part that more follows on: %q", got)
	}
}

func TestAShortValueIsNotMasked(t *testing.T) {
	if r := masks([]string{"seven77", "", "   ", "secret", "masked secret"}); r != nil {
		t.Errorf("values under %d bytes, and a part of the mark, made a redactor", MinValue)
	}
	if r := masks([]string{"eight888"}); r.Text("eight888") != Mark {
		t.Error("a value of 8 bytes is not masked")
	}
}

// Guarantee 8.
func TestNilMasksNothing(t *testing.T) {
	var r *Redactor
	s := r.Stream()
	if r.Text(key) != key || string(r.JSON([]byte(`"x"`))) != `"x"` || s.Write(key) != key || s.Flush() != "" {
		t.Error("a nil Redactor changed something")
	}
	if a := r.Attr(nil, slog.String("k", key)); a.Value.String() != key {
		t.Error("a nil Redactor changed an attribute")
	}
	if n := testing.AllocsPerRun(100, func() { r.Text(key); r.Stream().Write(key) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var expressions = []string{
	`sk-[a-c]{3,}`, `a+b`, `a.*b`, `a.*?b`, `(?i)AB`, `\bab\b`, `^a`, `b$`, `(?m)^ab$`, `(?s)a.b`, `[^a]b`, `a|ab|abc`, `(?:a|ab)(?:c|bcd)?`, `a*`, `a*?`, `(|a)+`, `é+`, `\Bb`, `x*$`, `(a(.*b)?)`, `[ab]{4,6}`, `a{2}|a{5}`,
}

// texts are full of beginnings of what the expressions and values want.
func texts() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune("aaabbbcd sk-é\nAB01")), 0, 60, -1)
}

// Guarantee 2.
func TestAPatternMasksWhatPackageRegexpFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		expr := rapid.SampledFrom(expressions).Draw(t, "expr")
		text := texts().Draw(t, "text")
		var b strings.Builder
		from, marked := 0, -1
		for _, loc := range regexp.MustCompile(expr).FindAllStringIndex(text, -1) {
			if loc[0] == loc[1] {
				continue
			}
			if loc[0] > marked {
				b.WriteString(text[from:loc[0]] + Mark)
			}
			from, marked = loc[1], loc[1]
		}
		if got, want := masks(nil, expr).Text(text), b.String()+text[from:]; got != want {
			t.Fatalf("%s on %q: %q, want %q", expr, text, got, want)
		}
	})
}

func streamed(r *Redactor, pieces ...string) string {
	var b strings.Builder
	s := r.Stream()
	for _, p := range pieces {
		b.WriteString(s.Write(p))
	}
	return b.String() + s.Flush()
}

// Guarantee 3.
func TestAStreamPutsOutTheTextOfTheWholeHoweverItIsSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := masks(rapid.SliceOfN(rapid.SampledFrom([]string{"abababab", "babbabab", "aaaaaaaa", "sk-abcab", "éééé", key}), 0, 3).Draw(t, "values"),
			rapid.SliceOfN(rapid.SampledFrom(expressions), 0, 3).Draw(t, "patterns")...)
		text := texts().Draw(t, "text") + rapid.SampledFrom([]string{"", "abababab", "aaaaaaaaaa", key, Mark}).Draw(t, "secret") + texts().Draw(t, "tail")
		want := r.Text(text)
		var pieces []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "size")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if got := streamed(r, pieces...); got != want {
			t.Fatalf("in pieces %q, as a whole %q", got, want)
		}
	})
}

// Guarantee 3.
func TestASecretSplitAtEveryBytePositionNeverShows(t *testing.T) {
	text := "The key is " + key + ", the token é tok_ÄÖÜ123456, that is all."
	r := masks([]string{key}, `tok_\S{9,}`)
	want := "The key is " + Mark + ", the token é " + Mark + " that is all."
	if got := r.Text(text); got != want {
		t.Fatalf("whole: %q", got)
	}
	for i := range len(text) + 1 {
		for j := i; j <= len(text); j++ {
			if got := streamed(r, text[:i], text[i:j], text[j:]); got != want {
				t.Fatalf("split at %d and %d: %q", i, j, got)
			}
		}
	}
	if got := streamed(r, strings.Split(text, "")...); got != want {
		t.Errorf("by character: %q", got)
	}
}

// Guarantee 4.
func TestTextInWhichNothingBeginsComesOutAtOnce(t *testing.T) {
	r := masks([]string{key}, `AKIA[A-Z0-9]{16}`, `(?i)password[:=]\S+`)
	s := r.Stream()
	for _, piece := range []string{"Hello", ", wörld", "! 日本", "\n", "1 "} {
		if got := s.Write(piece); got != piece {
			t.Errorf("Write(%q) = %q", piece, got)
		}
	}
	only := masks([]string{key}).Stream()
	if got := only.Write("\xe6") + only.Write("\x97"); got != "" {
		t.Errorf("half a character came out: %q", got)
	}
	for _, c := range []struct{ piece, want string }{
		{"sk", ""}, {"in", "skin"}, {"sk-live-01", ""}, {"x", "sk-live-01x"}, {" AKI", " "}, {"A", ""}, {"a", "AKIAa"},
		{"\xe6", ""}, {"\x97\xa5", "日"}, {" ", " "}, {key[:10], ""}, {key[10:], Mark}, {".", "."},
	} {
		if got := s.Write(c.piece); got != c.want {
			t.Errorf("Write(%q) = %q, want %q", c.piece, got, c.want)
		}
	}
}

// Guarantees 2 and 4: a pattern without end neither holds the stream for ever nor lets
// all of its match through.
func TestAMatchWithoutEndHoldsBackNoMoreThanItsBound(t *testing.T) {
	for _, c := range []struct{ expr, begin string }{{`open.*shut`, "open"}, {`open\w+`, "open"}, {`(?s)open(.*shut)?`, "open"}} {
		s := masks(nil, c.expr).Stream()
		in, out := len(c.begin), len(s.Write(c.begin))
		for range 3 * MaxMatch / 10 {
			out += len(s.Write("éabcdefgh")) // 10 bytes
			in += 10
			if held := cap(s.text); held > 4*MaxMatch {
				t.Fatalf("%s holds %d bytes", c.expr, held)
			}
		}
		if c.expr != `open\w+` && in-out > MaxMatch+MaxMatch {
			t.Errorf("%s: of %d bytes %d came out", c.expr, in, out)
		}
		if rest := s.Write("shut."); !utf8.ValidString(rest) {
			t.Errorf("%s: broken characters", c.expr)
		}
	}
	long := "open" + strings.Repeat("x", MaxMatch) + key + "shut, and on"
	if got := masks(nil, `open.*shut`).Text(long); strings.Contains(got, key) || !strings.HasSuffix(got, Mark+", and on") {
		t.Errorf("the end of a match over the bound shows: …%.80s", got[len(got)-60:])
	}
}

// Guarantee 6.
func TestWhatIsMaskedIsNotMaskedAgain(t *testing.T) {
	r := masks([]string{key}, `secret\S*`, `\[.*?\]`, `k`)
	once := r.Text("my " + key + " and secret:x")
	if again := r.Text(once); again != once || strings.Count(once, Mark) != 2 {
		t.Errorf("once %q, twice %q", once, again)
	}
}

func TestALogAttributeIsMasked(t *testing.T) {
	r := masks([]string{key})
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: r.Attr}))
	log.With("with", key).WithGroup("g").Error("message "+key, "string", key, "err", errors.New("refused "+key), "group", slog.GroupValue(slog.String("in", key)), "n", 5)
	if strings.Contains(out.String(), key) || strings.Count(out.String(), Mark) != 5 || !strings.Contains(out.String(), "g.n=5") {
		t.Errorf("logged %s", out.String())
	}
}

func BenchmarkText(b *testing.B) {
	clean := strings.Repeat("The quick brown fox jumps over the lazy dog. 0123456789\n", 5000)
	dirty := clean + key + clean
	r := masks([]string{key, base64.StdEncoding.EncodeToString([]byte(clean[:30])), "another-value-of-some-length"}, `AKIA[A-Z0-9]{16}`, `ghp_[A-Za-z0-9]{36}`)
	for name, text := range map[string]string{"clean": clean, "dirty": dirty} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Text(text)
			}
		})
	}
	b.Run("stream", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(10)
		s := r.Stream()
		for b.Loop() {
			io.WriteString(io.Discard, s.Write("fox jumps "))
		}
	})
}

func FuzzStream(f *testing.F) {
	f.Add("a sk-live-0123456789abcdef b", 5, 9)
	f.Add("\xff\xe6日AKIA0123456789ABCDEF", 1, 3)
	r := masks([]string{key, "abcabcabc"}, `AKIA[A-Z0-9]{16}`, `a.*b`, `\bx+$`)
	f.Fuzz(func(t *testing.T, text string, i, j int) {
		i = min(max(i, 0), len(text))
		j = min(max(j, i), len(text))
		if got, want := streamed(r, text[:i], text[i:j], text[j:]), r.Text(text); got != want {
			t.Errorf("%q in pieces %q, whole %q", text, got, want)
		}
	})
}
