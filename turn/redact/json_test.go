package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Guarantee 7.
func TestJSONIsMaskedInEveryStringAndKeepsItsForm(t *testing.T) {
	r := masks([]string{key, "12345678901", "tab\there-x"}, `tok_\w+`)
	for in, want := range map[string]string{
		`"` + key + `"`: `"` + Mark + `"`,
		`{"a": 1.50, "b":[null,true,"x ` + key + `",{"` + key + `":1e400}] , "c":12345678901234567890.0}`: `{"a": 1.50, "b":[null,true,"x ` + Mark + `",{"` + Mark + `":1e400}] , "c":"` + Mark + `234567890.0"}`,
		`"sk\u002dlive-0123456789ab\u0063def"`: `"` + Mark + `"`,
		`"tab\there-x tab\u0009here-x"`:        `"` + Mark + ` ` + Mark + `"`,
		`"{\"k\":\"tab\\there-x\"}"`:           `"{\"k\":\"` + Mark + `\"}"`,
		`{"tok_a":1,"tok_b":2,"tok_c":3}`:      `{"` + Mark + `":1,"` + Mark + ` (2)":2,"` + Mark + ` (3)":3}`,
		`{"<&>":"é \u00e9 <tok_1>"}`:           `{"<&>":"é é <` + Mark + `>"}`,
		`[12345678901,-12345678901.5e3]`:       `["` + Mark + `","-` + Mark + `.5e3"]`,
		`"nothing \u0041"`:                     `"nothing \u0041"`,
		`[]`:                                   `[]`, ` { } `: ` { } `, `[ "` + key + `" ]`: `[ "` + Mark + `" ]`,
		`broken ` + key: `"broken ` + Mark + `"`,
	} {
		if got := string(r.JSON(json.RawMessage(in))); got != want {
			t.Errorf("JSON(%s)\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestMembersOfAKnownShapeAreKept(t *testing.T) {
	r := masks([]string{key}, `id|text|parts|n`, `\d{4}`)
	in := `{"id":"` + key + `","n":4444,"list":["` + key + `",{"id":"id"}],"parts":[{"id":"id","text":"id"},{"args":{"id":"id","text":1}}],"text":{"id":"x"}}`
	want := `{"id":"` + key + `","n":4444,"list":["` + key + `",{"id":"id"}],"parts":[{"id":"id","text":"M"},{"args":{"M":"M","M (2)":1}}],"text":{"M":"x"}}`
	got := string(r.Object(json.RawMessage(in), []string{"id", "n", "list"}, []string{"parts"}))
	if want = strings.ReplaceAll(want, `"M`, `"`+Mark); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// Guarantee 7.
func TestMaskedJSONIsJSONAndHoldsNoSecret(t *testing.T) {
	r := masks([]string{key}, `a+`)
	value := rapid.Custom(func(t *rapid.T) any {
		word := rapid.SampledFrom([]string{"", "a", "b", key, "x" + key + "é", "\"\\\n", "<a>", "\u2028"})
		m := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			m[word.Draw(t, "name")] = []any{word.Draw(t, "text"), rapid.Float64().Draw(t, "number"), nil, true}
		}
		return []any{m, word.Draw(t, "text")}
	})
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(value.Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		got := r.JSON(raw)
		var back any
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%s became %s: %v", raw, got, err)
		}
		again, _ := json.Marshal(back)
		if strings.Contains(string(again), key) {
			t.Fatalf("%s became %s", raw, got)
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,"sk-live-0123456789abcdef",{"b":null}]}`))
	f.Add([]byte(`{"a"`))
	r := masks([]string{key}, `\d+`)
	f.Fuzz(func(t *testing.T, in []byte) {
		if got := r.JSON(in); len(in) > 0 && !json.Valid(got) {
			t.Errorf("%q became %q", in, got)
		}
	})
}
