package agentsocket

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func nested(depth int) string {
	return `{"type":"cancel","x":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`
}

func ptr(s string) *string { return &s }

// badFrames are refused; each message must name what was wrong.
var badFrames = []struct{ name, text, message string }{
	{"nothing", ``, "not JSON"},
	{"blanks", "  ", "not JSON"},
	{"no JSON", `hello`, "not JSON"},
	{"half an object", `{"type":"cancel"`, "not JSON"},
	{"two objects", `{"type":"cancel"}{"type":"cancel"}`, "not JSON"},
	{"a trailing comma", `{"type":"cancel",}`, "not JSON"},
	{"NaN", `{"type":"subscribe","from_seq":NaN}`, "not JSON"},
	{"a byte order mark", "\ufeff" + `{"type":"cancel"}`, "not JSON"},
	{"a raw control character", "{\"type\":\"inject\",\"text\":\"a\nb\"}", "not JSON"},
	{"null", `null`, "not a JSON object"},
	{"a number", `7`, "not a JSON object"},
	{"a string", `"cancel"`, "not a JSON object"},
	{"an array", `[{"type":"cancel"}]`, "not a JSON object"},
	{"invalid UTF-8", "{\"type\":\"inject\",\"text\":\"\xff\"}", "UTF-8"},
	{"invalid UTF-8 in a member that is ignored", "{\"type\":\"cancel\",\"x\":\"\xc3\"}", "UTF-8"},
	{"an encoded surrogate", "{\"type\":\"inject\",\"text\":\"\xed\xa0\x80\"}", "UTF-8"},
	{"a lone first surrogate", `{"type":"inject","text":"\ud800"}`, "surrogate"},
	{"a lone second surrogate", `{"type":"inject","text":"\udc00 "}`, "surrogate"},
	{"a first surrogate before another escape", `{"type":"inject","text":"\ud800\u0041"}`, "surrogate"},
	{"a first surrogate at the end", `{"type":"inject","text":"a\uD83D`, "surrogate"},
	{"a lone surrogate in a name", `{"type":"cancel","\ud800":1}`, "surrogate"},
	{"nesting over 100", nested(101), "deeper than 100"},
	{"nesting without an end", strings.Repeat("[", 200_000), "deeper than 100"},

	{"no type", `{"from_seq":0}`, "type is missing"},
	{"type in another case", `{"Type":"cancel"}`, "type is missing"},
	{"a type that is no string", `{"type":7}`, "type must be a string"},
	{"type null", `{"type":null}`, "type must be a string"},
	{"an unknown type", `{"type":"subscribed","from_seq":0}`, `"subscribed"`},
	{"a type in another case", `{"type":"Cancel"}`, `"Cancel"`},
	{"an empty type", `{"type":""}`, `unknown frame type ""`},
	{"the last type of two", `{"type":"cancel","type":"nonsense"}`, `"nonsense"`},

	{"subscribe without from_seq", `{"type":"subscribe"}`, "from_seq is missing"},
	{"from_seq in another case", `{"type":"subscribe","From_Seq":0}`, "from_seq is missing"},
	{"from_seq -1", `{"type":"subscribe","from_seq":-1}`, "from_seq must be an integer"},
	{"from_seq 7.0", `{"type":"subscribe","from_seq":7.0}`, "from_seq must be an integer"},
	{"from_seq 1.5", `{"type":"subscribe","from_seq":1.5}`, "from_seq must be an integer"},
	{"from_seq 1e2", `{"type":"subscribe","from_seq":1e2}`, "from_seq must be an integer"},
	{"from_seq a string", `{"type":"subscribe","from_seq":"7"}`, "from_seq must be an integer"},
	{"from_seq null", `{"type":"subscribe","from_seq":null}`, "from_seq must be an integer"},
	{"from_seq an array", `{"type":"subscribe","from_seq":[0]}`, "from_seq must be an integer"},

	{"inject without text", `{"type":"inject"}`, "text is missing"},
	{"text null", `{"type":"inject","text":null}`, "text must be a string"},
	{"text an array", `{"type":"inject","text":["a"]}`, "text must be a string"},
	{"wake null", `{"type":"inject","text":"a","wake":null}`, "wake must be true or false"},
	{"wake 1", `{"type":"inject","text":"a","wake":1}`, "wake must be true or false"},
	{"wake yes", `{"type":"inject","text":"a","wake":"yes"}`, "wake must be true or false"},
	{"id a number", `{"type":"inject","text":"a","id":7}`, "id must be a string"},
	{"id null", `{"type":"inject","text":"a","id":null}`, "id must be a string"},
	{"id empty", `{"type":"inject","text":"a","id":""}`, "1 to 128"},
	{"id too long", `{"type":"inject","text":"a","id":"` + strings.Repeat("i", 129) + `"}`, "1 to 128"},

	{"reason null", `{"type":"cancel","reason":null}`, "reason must be a string"},
	{"reason 42", `{"type":"cancel","reason":42}`, "reason must be a string"},
	{"approve without call_id", `{"type":"approve"}`, "call_id is missing"},
	{"approve with call_id 7", `{"type":"approve","call_id":7}`, "call_id must be a string"},
	{"deny without call_id", `{"type":"deny","reason":"no"}`, "call_id is missing"},
	{"deny with reason null", `{"type":"deny","call_id":"c","reason":null}`, "reason must be a string"},
	{"deny with reason 9", `{"type":"deny","call_id":"c","reason":9}`, "reason must be a string"},
	{"set_model without role", `{"type":"set_model","model":"a/b"}`, "role is missing"},
	{"set_model with role 123", `{"type":"set_model","role":123,"model":"a/b"}`, "role must be a string"},
	{"set_model without model", `{"type":"set_model","role":"main"}`, "model is missing"},
	{"set_policy without patterns", `{"type":"set_policy"}`, "patterns must be an array"},
	{"patterns null", `{"type":"set_policy","patterns":null}`, "patterns must be an array"},
	{"patterns a string", `{"type":"set_policy","patterns":"*"}`, "patterns must be an array"},
	{"patterns an object", `{"type":"set_policy","patterns":{}}`, "patterns must be an array"},
	{"a pattern that is no string", `{"type":"set_policy","patterns":["a",1]}`, "patterns[1] must be a string"},
	{"129 patterns", `{"type":"set_policy","patterns":["a"` + strings.Repeat(`,"a"`, 128) + `]}`, "129 entries"},
	{"a pattern of 257", `{"type":"set_policy","patterns":["` + strings.Repeat("é", 257) + `"]}`, "257 characters"},
	{"a pattern with NUL", `{"type":"set_policy","patterns":["a\u0000"]}`, "NUL"},
}

// Agent Socket v1: anything else is answered with bad_frame.
func TestABadFrameIsRefusedAndItsMessageNamesWhatWasWrong(t *testing.T) {
	for _, c := range badFrames {
		f, err := decode([]byte(c.text))
		if err == nil {
			t.Errorf("%s: %.60q was accepted as %#v", c.name, c.text, f)
			continue
		}
		if _, ok := err.(*badFrame); !ok || f != nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %.60q: error %T %q, want a bad frame about %q", c.name, c.text, err, err, c.message)
		}
		if len(err.Error()) > 300 {
			t.Errorf("%s: a message of %d bytes", c.name, len(err.Error()))
		}
	}
}

// The original checks these members by their names, whatever the frame is.
func TestMembersAreCheckedByNameOnEveryFrame(t *testing.T) {
	frames := map[string]string{
		"subscribe":  `"from_seq":0`,
		"inject":     `"text":"a"`,
		"cancel":     `"x":0`,
		"approve":    `"call_id":"c"`,
		"deny":       `"call_id":"c"`,
		"set_model":  `"role":"main","model":"a/b"`,
		"set_policy": `"patterns":[]`,
	}
	if len(frames) != len(decoders) {
		t.Fatalf("%d frames here, %d decoders", len(frames), len(decoders))
	}
	for name, rest := range frames {
		if !strings.Contains(typeNames, name) {
			t.Errorf("typeNames lacks %s", name)
		}
		if _, err := decode([]byte(`{"type":"` + name + `",` + rest + `}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, member := range []string{"text", "call_id", "role", "model", "reason", "wake"} {
			for _, value := range []string{`null`, `7`, `["a"]`, `{}`} {
				text := `{"type":"` + name + `",` + rest + `,"` + member + `":` + value + `}`
				if _, err := decode([]byte(text)); err == nil || !strings.Contains(err.Error(), member) {
					t.Errorf("%s: error %v, want one about %s", text, err, member)
				}
			}
		}
	}
}

func TestAGoodFrameIsDecodedWhole(t *testing.T) {
	for _, c := range []struct {
		text string
		want frame
	}{
		{`{"type":"subscribe","from_seq":0}`, subscribe{0}},
		{` {"from_seq" : 7 , "type":"subscribe"} `, subscribe{7}},
		{`{"type":"subscribe","from_seq":-0}`, subscribe{0}},
		{`{"type":"subscribe","from_seq":9007199254740993}`, subscribe{9007199254740993}},
		{`{"type":"subscribe","from_seq":99999999999999999999999999}`, subscribe{math.MaxInt64}},
		{`{"type":"subscribe","from_seq":1,"from_seq":2}`, subscribe{2}},
		{`{"type":"nonsense","type":"cancel"}`, cancel{}},
		{`{"type":"subscribe","from_seq":1,"FROM_SEQ":"x","seq":4,"extra":{"a":[1]}}`, subscribe{1}},
		{`{"type":"inject","text":""}`, inject{}},
		{`{"type":"inject","text":"hi","wake":true,"id":"i-1"}`, inject{"hi", true, "i-1"}},
		{`{"type":"inject","text":"\u0000\u2028\ud83d\ude00\"\\ <&>","wake":false}`, inject{"\x00\u2028😀\"\\ <&>", false, ""}},
		{`{"type":"inject","text":"\\ud800"}`, inject{Text: `\ud800`}},
		{`{"type":"inject","text":"a","id":"` + strings.Repeat("é", 128) + `"}`, inject{Text: "a", ID: strings.Repeat("é", 128)}},
		{`{"type":"cancel"}`, cancel{}},
		{`{"type":"cancel","reason":""}`, cancel{ptr("")}},
		{`{"type":"cancel","id":7}`, cancel{}},
		{`{"type":"approve","call_id":"c1","reason":"not kept"}`, decide{CallID: "c1", Approve: true}},
		{`{"type":"deny","call_id":"c1"}`, decide{CallID: "c1"}},
		{`{"type":"deny","call_id":"c1","reason":"no"}`, decide{CallID: "c1", Reason: ptr("no")}},
		{`{"type":"set_model","role":"main","model":"a/b/c"}`, setModel{"main", "a/b/c"}},
		{`{"type":"set_policy","patterns":[]}`, setPolicy{[]string{}}},
		{`{"type":"set_policy","patterns":["a*","` + strings.Repeat("é", 256) + `"]}`, setPolicy{[]string{"a*", strings.Repeat("é", 256)}}},
		{nested(100), cancel{}},
	} {
		got, err := decode([]byte(c.text))
		if err != nil {
			t.Errorf("%.60q: %v", c.text, err)
		} else if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%.60q: %s", c.text, diff)
		}
	}
	if _, err := decode([]byte(`{"type":"set_policy","patterns":["a"` + strings.Repeat(`,"a"`, 127) + `]}`)); err != nil {
		t.Errorf("128 patterns: %v", err)
	}
}

// encodeFrame writes a frame as a client would.
func encodeFrame(f frame) []byte {
	m := map[string]any{}
	switch f := f.(type) {
	case subscribe:
		m["type"], m["from_seq"] = "subscribe", f.FromSeq
	case inject:
		m["type"], m["text"], m["wake"] = "inject", f.Text, f.Wake
		if f.ID != "" {
			m["id"] = f.ID
		}
	case cancel:
		m["type"] = "cancel"
		if f.Reason != nil {
			m["reason"] = *f.Reason
		}
	case decide:
		m["type"], m["call_id"] = "deny", f.CallID
		if f.Approve {
			m["type"] = "approve"
		}
		if f.Reason != nil {
			m["reason"] = *f.Reason
		}
	case setModel:
		m["type"], m["role"], m["model"] = "set_model", f.Role, f.Model
	case setPolicy:
		m["type"], m["patterns"] = "set_policy", f.Patterns
	}
	text, _ := json.Marshal(m)
	return text
}

// guarantee 3
func FuzzARejectedFrameIsABadFrameAndAnAcceptedOneSurvivesEncoding(f *testing.F) {
	for _, c := range badFrames {
		if len(c.text) < 1000 {
			f.Add([]byte(c.text))
		}
	}
	for _, good := range []frame{subscribe{41}, inject{"hi 😀", true, "i"}, cancel{ptr("why")}, decide{"c", true, nil}, decide{"c", false, ptr("no")}, setModel{"main", "a/b"}, setPolicy{[]string{"a*"}}} {
		f.Add(encodeFrame(good))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := decode(text)
		if err != nil {
			if _, ok := err.(*badFrame); !ok || got != nil || err.Error() == "" {
				t.Fatalf("decode(%q) = %v, %v", text, got, err)
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is not JSON and was accepted", text)
		}
		again, err := decode(encodeFrame(got))
		if err != nil {
			t.Fatalf("%#v of %q, encoded, is refused: %v", got, text, err)
		}
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatalf("%q: %s", text, diff)
		}
	})
}
