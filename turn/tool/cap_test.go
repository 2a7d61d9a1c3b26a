package tool

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// Guarantee 7.
func TestAResultOverTheLimitIsCutBetweenCharactersAndSaysSo(t *testing.T) {
	for _, c := range []struct {
		content string
		limit   int
		want    string
	}{
		{`"hello"`, 5, `"hello"`},
		{`"hello!"`, 5, `"hello\n[cut: the first 5 of 6 bytes are shown]"`},
		{`"ab😀"`, 5, `"ab\n[cut: the first 2 of 6 bytes are shown]"`},
		{`"😀"`, 3, `"\n[cut: the first 0 of 4 bytes are shown]"`},
		{`{"a":[1,2]}`, 11, `{"a":[1,2]}`},
		{`{"a":[1,2]}`, 10, `"{\"a\":[1,2]\n[cut: the first 10 of 11 bytes are shown]"`},
		{`123456789012345678901`, 0, `123456789012345678901`},
		{`null`, 2, `"nu\n[cut: the first 2 of 4 bytes are shown]"`},
		{`null`, 4, `null`},
		{`"no limit"`, 0, `"no limit"`},
	} {
		got := Cap(Result{Content: json.RawMessage(c.content)}, c.limit)
		if string(got.Content) != c.want || got.Error != "" {
			t.Errorf("Cap(%s, %d) = %s %s, want %s", c.content, c.limit, got.Content, got.Error, c.want)
		}
	}
}

func TestAnErrorOverTheLimitIsCutToo(t *testing.T) {
	got := Cap(Result{Error: "\xff" + strings.Repeat("é", 10), Content: json.RawMessage(`1`)}, 4)
	if want := "\uFFFD\n[cut: the first 3 of 23 bytes are shown]"; got.Error != want || got.Content != nil {
		t.Errorf("error %q, content %s, want %q and none", got.Error, got.Content, want)
	}
}

// Guarantee 7.
func TestBytesThatAreNoUTF8BecomeTheReplacementCharacter(t *testing.T) {
	for in, want := range map[string]string{
		"\"a\xffb\"":               `"a` + "\uFFFD" + `b"`,
		`"a\ud800b"`:               `"a` + "\uFFFD" + `b"`,
		"{\"k\xc3\":\"\xe6\x97\"}": "{\"k\uFFFD\":\"\uFFFD\"}",
	} {
		if got := Cap(Result{Content: json.RawMessage(in)}, 0).Content; string(got) != want {
			t.Errorf("Cap(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTextComesBackCharForChar(t *testing.T) {
	for _, text := range []string{"a<b && c>d", "\u2028\u2029\u0085", "nul \x00", "cr \r lf \n", "\x7f\u202e", "👩‍👩‍👧 e\u0301", ""} {
		res := Cap(Text(text), 1000)
		var back string
		if err := json.Unmarshal(res.Content, &back); err != nil || back != text {
			t.Errorf("%q came back as %q (%v)", text, back, err)
		}
		if strings.ContainsAny(text, "<&>") && strings.Contains(string(res.Content), `\u00`) {
			t.Errorf("%s is escaped for HTML", res.Content)
		}
	}
}

// Guarantee 7: what no reader of the log could decode is not put there.
func TestAResultTooDeepOrNoJSONNeverReachesTheLogAsItIs(t *testing.T) {
	deep := strings.Repeat("[", 9999) + `"]["` + strings.Repeat("]", 9999)
	var text string
	if got := Cap(Result{Content: json.RawMessage(deep)}, 0); json.Unmarshal(got.Content, &text) != nil || text != deep {
		t.Errorf("deep content is %.40s…, want it as text", got.Content)
	}
	level := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	if got := Cap(Result{Content: json.RawMessage(level)}, 0); string(got.Content) != level {
		t.Errorf("content of %d levels did not stay JSON", maxDepth)
	}
	for _, bad := range []string{"", "{", "nope", "1 2"} {
		if got := Cap(Result{Content: json.RawMessage(bad)}, 0); got.Error != noJSON || got.Content != nil {
			t.Errorf("Cap(%q) = %s, error %q", bad, got.Content, got.Error)
		}
	}
	if got := Cap(Result{}, 0); string(got.Content) != `""` {
		t.Errorf("no content and no error = %s, want an empty string", got.Content)
	}
}

func TestADisplayHintThatIsBrokenOrHugeIsDropped(t *testing.T) {
	for hint, kept := range map[string]bool{
		`{"kind":"tool"}`: true, `{`: false, "\"\xff\"": false, `"` + strings.Repeat("x", maxDisplay) + `"`: false,
	} {
		if got := Cap(Result{Display: json.RawMessage(hint)}, 0).Display; (got != nil) != kept {
			t.Errorf("hint %.20q kept = %v, want %v", hint, got != nil, kept)
		}
	}
}

// Guarantee 8. A hint stands in the place of what clients would derive from the error, so
// it is the only thing that tells them.
func TestTheHintOfAFailureSaysThatItFailed(t *testing.T) {
	for _, c := range []struct{ fault, hint, want string }{
		{"gone", `{"kind":"tool","renderer":"terminal"}`, `{"kind":"tool","renderer":"terminal","is_error":true}`},
		{"gone", ` { "kind" : "tool" } `, `{ "kind" : "tool","is_error":true}`},
		{"gone", `{}`, `{"is_error":true}`},
		{"gone", `{"is_error":false,"kind":"tool"}`, `{"is_error":false,"kind":"tool"}`}, // its tool decides
		{"gone", `{"is_error":true}`, `{"is_error":true}`},
		{"gone", `["no object"]`, `["no object"]`},
		{"", `{"kind":"tool"}`, `{"kind":"tool"}`},
	} {
		if got := Cap(Result{Error: c.fault, Display: json.RawMessage(c.hint)}, 0).Display; string(got) != c.want {
			t.Errorf("error %q with hint %s: %s, want %s", c.fault, c.hint, got, c.want)
		}
	}
	if got := Cap(Fail("gone"), 0).Display; got != nil {
		t.Errorf("no hint became %s", got)
	}
}

func FuzzCap(f *testing.F) {
	f.Add([]byte(`"ab😀"`), "", 3)
	f.Add([]byte(`{"a":"\ud800"}`), "", 4)
	f.Add([]byte(nil), "\xffé", 2)
	f.Fuzz(func(t *testing.T, content []byte, fault string, limit int) {
		got := Cap(Result{Content: content, Error: fault}, limit)
		switch {
		case (got.Error == "") == (got.Content == nil):
			t.Errorf("content %q and error %q", got.Content, got.Error)
		case got.Error == "" && (!json.Valid(got.Content) || !utf8.Valid(got.Content)):
			t.Errorf("content %q is no JSON in UTF-8", got.Content)
		case !utf8.ValidString(got.Error):
			t.Errorf("error %q is no UTF-8", got.Error)
		}
	})
}
