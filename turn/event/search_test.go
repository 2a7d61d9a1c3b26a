package event

import "testing"

func TestOnlyWhatWasSaidIsFoundByASearch(t *testing.T) {
	for _, c := range []struct{ typ, payload, want string }{
		{"user/message", `{"text":"a <é>","input_id":"secret"}`, "a <é>"},
		{"context/injected", `{"text":"b","queue":"steer"}`, "b"},
		{"assistant/message", `{"parts":[{"type":"text","text":"c"},{"type":"tool_call","id":"c1","name":"Read","args":{"path":"x"}},{"type":"text","text":"d"}]}`, "c\nd"},
		{"assistant/message", `{"parts":[]}`, ""},
		{"assistant/chunk", `{"text":"piece"}`, ""},
		{"tool/result", `{"content":"long"}`, ""},
		{"user/message", `{"text":7}`, ""},
		{"user/message", `[]`, ""},
		{"future/thing", `{"text":"x"}`, ""},
	} {
		if got := SearchText(c.typ, []byte(c.payload)); got != c.want {
			t.Errorf("SearchText(%s, %s) = %q, want %q", c.typ, c.payload, got, c.want)
		}
	}
}
