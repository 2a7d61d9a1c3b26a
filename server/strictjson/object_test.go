package strictjson

import (
	"strings"
	"testing"
)

// guarantee 1
func TestOnlyWhatIsDecodedToWhatWasWrittenPasses(t *testing.T) {
	nested := func(n int) string { return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}` }
	for _, c := range []struct{ text, wrong string }{
		{`{}`, ""},
		{` {"a":1} `, ""},
		{`{"a":"<&> \u2028 \ud83d\ude00 😀"}`, ""},
		{`{"a":"\\ud800"}`, ""},
		{nested(MaxDepth), ""},
		{nested(MaxDepth + 1), "nests deeper than 100"},
		{"{\"a\":\"\xff\"}", "not valid UTF-8"},
		{`{"a":"\ud800"}`, "half of a surrogate pair"},
		{`{"a":"\ude00\ud83d"}`, "half of a surrogate pair"},
		{`{"\ud800":1}`, "half of a surrogate pair"},
		{``, "not JSON"},
		{`  `, "not JSON"},
		{`{"a":1} {}`, "not JSON"},
		{`{"a":1,}`, "not JSON"},
		{`null`, "not a JSON object"},
		{`[]`, "not a JSON object"},
		{`"{}"`, "not a JSON object"},
	} {
		_, err := Object("the body", []byte(c.text))
		switch {
		case c.wrong == "" && err != nil:
			t.Errorf("%.60s: %v", c.text, err)
		case c.wrong != "" && (err == nil || !strings.HasPrefix(err.Error(), "the body ") || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%.60s: %v, want %q", c.text, err, c.wrong)
		}
	}
}

func TestNamesAreExactAndTheLastOfARepeatedOneCounts(t *testing.T) {
	all, err := Object("the body", []byte(`{"a":1,"A":2,"a":3}`))
	if err != nil || string(all["a"]) != "3" || string(all["A"]) != "2" {
		t.Errorf("%s, %v", all, err)
	}
}
