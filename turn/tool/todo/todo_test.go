package todo

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hitchpost/turn/tool"
)

func call(t *testing.T, args string) tool.Result {
	t.Helper()
	todo := Tool()
	if _, err := tool.NewSet([]tool.Tool{todo}); err != nil {
		t.Fatal(err)
	}
	var r tool.Runner
	return r.Run(t.Context(), &todo, tool.Call{Args: json.RawMessage(args)}, tool.Limits{})
}

// Guarantees 1 and 3.
func TestTheListIsAnsweredInShortAndShownWhole(t *testing.T) {
	res := call(t, `{"todos":[{"content":"Read <a> & b","status":"completed"},{"content":"Run the tests","status":"in_progress","activeForm":"Running the tests"},{"content":"日本","status":"pending"}]}`)
	if want := `"The list has 3 items: 1 completed, 1 in progress, 1 pending."`; string(res.Content) != want {
		t.Errorf("answered %s %s, want %s", res.Content, res.Error, want)
	}
	want := `{"kind":"tool","renderer":"todo","title":"To do","summary":"1 of 3 done","extra":{"todos":[` +
		`{"content":"Read \u003ca\u003e \u0026 b","status":"completed"},{"content":"Run the tests","status":"in_progress","activeForm":"Running the tests"},{"content":"日本","status":"pending"}]}}`
	if string(res.Display) != want {
		t.Errorf("hint\n got %s\nwant %s", res.Display, want)
	}
	if res = call(t, `{"todos":[]}`); string(res.Content) != `"The list is empty."` || !strings.HasSuffix(string(res.Display), `"summary":"0 of 0 done","extra":{"todos":[]}}`) {
		t.Errorf("an empty list: %s, %s", res.Content, res.Display)
	}
}

func TestAListThatIsNoneIsRefusedByName(t *testing.T) {
	for args, want := range map[string]string{
		`{}`: "todos", `{"todos":"x"}`: "todos", `{"todos":[{"status":"pending"}]}`: "content", `{"todos":[{"content":"","status":"pending"}]}`: "content",
		`{"todos":[{"content":"x","status":"done"}]}`:                                                                           `"pending", "in_progress", "completed"`,
		`{"todos":[{"content":"x","status":"pending"},{"content":" ","status":"pending"}]}`:                                     "todos[1].content is blank",
		`{"todos":[` + strings.Repeat(`{"content":"x","status":"pending"},`, maxItems) + `{"content":"x","status":"pending"}]}`: "200",
	} {
		if res := call(t, args); !strings.Contains(res.Error, want) {
			t.Errorf("%.80s: error %q, want it to name %s", args, res.Error, want)
		}
	}
}

// Guarantee 3.
func TestALongListKeepsItsHint(t *testing.T) {
	var items []string
	for i := range maxItems {
		items = append(items, fmt.Sprintf(`{"content":%q,"status":"pending"}`, strings.Repeat("é", i)+strings.Repeat("<", 100)))
	}
	res := call(t, `{"todos":[`+strings.Join(items, ",")+`]}`)
	var hint display
	if err := json.Unmarshal(res.Display, &hint); err != nil {
		t.Fatalf("no hint: %v", err)
	}
	if n := len(hint.Extra.Todos); n < 10 || n+hint.Extra.More != maxItems {
		t.Errorf("%d items shown, %d more", n, hint.Extra.More)
	}
	if got := cut(strings.Repeat("é", 301)); got != strings.Repeat("é", 300)+"…" {
		t.Errorf("cut to %q", got)
	}
}

// Guarantee 2.
func TestTodoWriteNeverAsksAndRunsAlone(t *testing.T) {
	if todo := Tool(); todo.Asks() || todo.Mutating || todo.Parallel || !todo.Repeatable {
		t.Errorf("%+v", todo)
	}
}
