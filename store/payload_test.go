package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// guarantee 6
func TestAPayloadIsStoredByteForByte(t *testing.T) {
	l := session(t, open(t, Options{}), "s1")
	for _, p := range []string{
		`{}`,
		`{"text":"<b>&amp;</b> \u003c"}`,
		"{\"text\":\"\u2028\u2029 \U0001F40E é\"}",
		`{"text":"\u0000 \ud83d\udc0e \/ \\ud800"}`,
		`{"z":1,"a":2,"z":3}`,
		`{"n":12345678901234567890.10,"e":1E+400,"m":-0}`,
		`{ "spaced" :  [ 1 , 2 ] }`,
	} {
		e := add(t, l, event("x", p))[0]
		if string(e.Payload) != p {
			t.Errorf("answered %s, want %s", e.Payload, p)
		}
		got, ok, err := l.ByID(context.Background(), e.ID)
		if err != nil || !ok || string(got.Payload) != p {
			t.Errorf("stored %s %v, want %s", got.Payload, err, p)
		}
		lines := all(t, l)
		if last := lines[len(lines)-1]; last != string(e.Line) || !strings.HasSuffix(last, `,"payload":`+p+`}`) {
			t.Errorf("paged %s", last)
		}
	}
}

// guarantee 6
func TestOnlyNewlinesBetweenTokensAndHalfSurrogatesAreChanged(t *testing.T) {
	for in, want := range map[string]string{
		"{\n \"a\" : [1,\r\n2], \"b\":\"\\n\"}": `{"a":[1,2],"b":"\n"}`,
		" {\"a\":1}\n":                          `{"a":1}`,
		`{"a":"\ud800"}`:                        `{"a":"\ufffd"}`,
		`{"a":"\uDC00x"}`:                       `{"a":"\ufffdx"}`,
		`{"a":"\ud83d\ud83d\udc0e"}`:            `{"a":"\ufffd\ud83d\udc0e"}`,
		`{"a":"\ud83d\n"}`:                      `{"a":"\ufffd\n"}`,
	} {
		got, err := checkPayload(json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%q becomes %s %v, want %s", in, got, err, want)
		}
	}
}

// guarantee 5
func TestABadMemberIsRefusedByName(t *testing.T) {
	l := session(t, open(t, Options{}), "s1")
	deep := strings.Repeat(`{"a":`, MaxNesting) + `{}` + strings.Repeat(`}`, MaxNesting)
	for want, e := range map[string]NewEvent{
		"payload of x is not valid JSON":          event("x", `{"a":}`),
		"event 1 of 1":                            event("x", ``),
		"payload of x is not a JSON object":       event("x", `"text"`),
		"payload of x is not valid UTF-8":         event("x", "{\"a\":\"\xff\"}"),
		"is nested deeper than 500 levels":        event("x", deep),
		`type "" is not 1 to 64 printable ASCII`:  event("", `{}`),
		`type "a\"b" is not 1 to 64`:              event(`a"b`, `{}`),
		`id "5F2C9A01D4E7B386" of x is not 16 lo`: {ID: "5F2C9A01D4E7B386", Type: "x", Payload: []byte(`{}`)},
		`id "12" of x is not 16 lowercase hex`:    {ID: "12", Type: "x", Payload: []byte(`{}`)},
	} {
		_, err := l.Append(context.Background(), Batch{From: 1, Events: []NewEvent{e}})
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("append = %v, want ErrInvalid with %q", err, want)
		}
	}
	if tip, _ := l.Tip(); tip != 0 {
		t.Errorf("tip %d, want 0", tip)
	}
}

func TestAnIDIsTakenOnceInItsSessionAndFreeInAnother(t *testing.T) {
	s := open(t, Options{})
	a, b := session(t, s, "a"), session(t, s, "b")
	e := NewEvent{ID: "00000000000000aa", Type: "turn/start", Payload: []byte(`{}`)}
	add(t, a, e)
	if _, err := a.Append(context.Background(), Batch{From: 2, Events: []NewEvent{e}}); !errors.Is(err, ErrConflict) {
		t.Errorf("second use = %v, want ErrConflict", err)
	}
	add(t, b, e)
}

// guarantee 7
func TestTimesNeverDecreaseWithinASessionWhateverTheClockDoes(t *testing.T) {
	s := open(t, Options{})
	l := session(t, s, "s1")
	future := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	l.submit.Lock()
	l.lastAt = future // as if the clock had then been set back
	l.submit.Unlock()
	if e := add(t, l, chunk("x"))[0]; !e.At.Equal(future) {
		t.Errorf("at = %v, want %v", e.At, future)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l = hold(t, openAt(t, s.path, Options{}), "s1")
	if e := add(t, l, chunk("y"))[0]; !e.At.Equal(future) {
		t.Errorf("at after a restart = %v, want %v", e.At, future)
	}
}

func FuzzPayload(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":"\ud800"}`, "{\n}", `{"a":"\\u"}`, `{"a":{"b":["\udc00\ud800"]}}`, `[`, `{"":"\u12"}`} {
		f.Add(seed)
	}
	for _, seed := range []string{`[1,-0.5e+3,true,false,null,"\"\\\/\b\f\n\r\t"]`, `01`, `-`, `1.`, `1e`, `{"a" : 1 , "b":[]}`, `{"a":1,}`, `[,]`, `]`, ` `, `tru`, `{} {}`, `"\x"`, "\"\x01\"", `{"a"}`, `[1 2]`, `{1:2}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if s := scanJSON([]byte(in)); !s.deep && s.valid != json.Valid([]byte(in)) {
			t.Fatalf("%q: valid is %v, encoding/json says otherwise", in, s.valid)
		}
		p, err := checkPayload(json.RawMessage(in))
		if err != nil {
			if json.Valid([]byte(in)) && utf8.ValidString(in) && strings.HasPrefix(strings.TrimSpace(in), "{") && len(in) < MaxNesting {
				t.Fatalf("refused %q: %v", in, err)
			}
			return
		}
		if !json.Valid(p) || strings.ContainsAny(string(p), "\n\r") {
			t.Fatalf("%q became %q", in, p)
		}
		again, err := checkPayload(p)
		if err != nil || string(again) != string(p) {
			t.Fatalf("%q became %q and then %q, %v", in, p, again, err)
		}
		var before, after any // Go reads half a surrogate as U+FFFD too
		json.Unmarshal([]byte(in), &before)
		json.Unmarshal(p, &after)
		x, _ := json.Marshal(before)
		y, _ := json.Marshal(after)
		if string(x) != string(y) {
			t.Fatalf("%q means %s, stored it means %s", in, x, y)
		}
	})
}
