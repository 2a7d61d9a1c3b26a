package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/model/modeltest"
)

// history has one of everything that a request can hold.
var history = model.Request{
	Model:  "m",
	System: "Be <careful> & brief.",
	Messages: []model.Message{
		{Role: model.User, Text: "a<b && c>d \u2028 \x00 日本"},
		{Role: model.Assistant, Calls: []model.Call{
			{ID: "toolu_1", Name: "Read", Args: json.RawMessage(`{"z":12345678901234567890,"a":1.10,"s":"<\u003c","half":"\ud83d"}`)},
			{ID: "call:2/é", Name: "Glob"},
			{ID: "", Name: "no such tool"},
		}},
		{Role: model.ToolRole, CallID: "toolu_1", Text: "no such file", IsError: true},
		{Role: model.ToolRole, CallID: "call:2/é", Text: ""},
		{Role: model.ToolRole, CallID: "", Text: " ", IsError: true},
		{Role: model.User, Text: "and now?"},
		{Role: model.User, Text: " \n"},
		{Role: model.Assistant, Text: "Hm. Yes.", Calls: []model.Call{{ID: "toolu_1", Name: "Read", Args: json.RawMessage(`{}`)}},
			Reasoning: &model.Reasoning{Text: "One.\n\nTwo.", Opaque: json.RawMessage(`[{"type":"thinking","thinking":"One.","signature":"S1=="},{"type":"text","bytes":4},{"type":"redacted_thinking","data":"AA=="},{"type":"tool_use"},{"type":"thinking","thinking":"","signature":"S2"}]`)}},
		{Role: model.ToolRole, CallID: "toolu_1", Text: `{"k":1}`},
		{Role: model.Assistant, Text: "  "},
		{Role: model.User, Text: "go on"},
		{Role: model.Assistant, Text: "Done.", Reasoning: &model.Reasoning{Text: "more", Opaque: json.RawMessage(`{"member":"reasoning_content"}`)}},
		{Role: model.User, Text: "\t"},
		{Role: model.Assistant, Text: "Well?"},
		{Role: model.User, Text: "one"},
		{Role: model.User, Text: "two"},
	},
	Tools: []model.Tool{
		{Name: "Read", Description: "Reads & shows.", Schema: json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"number","maximum":1.0}}}`)},
		{Name: "Glob"},
		{Name: "files.list"},
	},
}

func encoded(t testing.TB, req model.Request) []byte {
	t.Helper()
	body, err := New(Config{BaseURL: "http://model.test"}).encode(req)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// guarantee 4, H-01 to H-04
func TestARequestHasExactlyTheseBytes(t *testing.T) {
	got := encoded(t, history)
	file := filepath.Join("testdata", "request.json")
	if *modeltest.Update {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(bytes.TrimSpace(want)), string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	turned := history
	turned.Tools = []model.Tool{history.Tools[2], history.Tools[1], history.Tools[0]}
	if !bytes.Equal(got, encoded(t, turned)) {
		t.Error("the order of the tools shows in the request")
	}
}

// guarantee 5
func TestAnyHistoryIsSentInTheFormTheWireAsksFor(t *testing.T) {
	wellFormedRequest(t, encoded(t, history))
	repeated := model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Text: "go"}}}
	for range 3 { // as some servers number their calls anew in each answer
		repeated.Messages = append(repeated.Messages,
			model.Message{Role: model.Assistant, Calls: []model.Call{{ID: "call_0", Name: "Read"}, {ID: "call_0_2", Name: "Read"}}},
			model.Message{Role: model.ToolRole, CallID: "call_0", Text: "a"}, model.Message{Role: model.ToolRole, CallID: "call_0_2", Text: "b"})
	}
	wellFormedRequest(t, encoded(t, repeated))
	between := model.Request{Model: "m", Messages: []model.Message{
		{Role: model.User, Text: "go"},
		{Role: model.Assistant, Calls: []model.Call{{ID: "a", Name: "Read"}, {ID: "b", Name: "Read"}}},
		{Role: model.User, Text: "quick"},
		{Role: model.ToolRole, CallID: "a", Text: "1"},
		{Role: model.User, Text: "quicker"},
		{Role: model.ToolRole, CallID: "b", Text: "2"},
	}}
	body := encoded(t, between)
	wellFormedRequest(t, body)
	if want := `{"type":"tool_result","tool_use_id":"b","content":"2"},{"type":"text","text":"quick"},{"type":"text","text":"quicker"}]`; !bytes.Contains(body, []byte(want)) {
		t.Errorf("%s is not in %s", want, body)
	}
}

// sentRequest is a request as the wire reads it.
type sentRequest struct {
	Messages []struct {
		Role    string
		Content []struct {
			Type, Text, ID, Name string
			Input                map[string]any
			Content              *string
			ToolUseID            string `json:"tool_use_id"`
			IsError              bool   `json:"is_error"`
		}
	}
	Tools []struct{ Name string }
}

var form = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

// wellFormedRequest checks what the wire asks of a request.
func wellFormedRequest(t *testing.T, body []byte) {
	t.Helper()
	var r sentRequest
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	seen, role := map[string]bool{}, "assistant"
	var owed map[string]bool
	for i, m := range r.Messages {
		if m.Role == role || len(m.Content) == 0 {
			t.Errorf("message %d of %s has %d blocks and follows one of %s", i, m.Role, len(m.Content), role)
		}
		role = m.Role
		next, texts := map[string]bool{}, false
		for j, c := range m.Content {
			switch c.Type {
			case "text":
				texts = true
				if strings.TrimSpace(c.Text) == "" {
					t.Errorf("message %d, block %d is a blank text", i, j)
				}
			case "tool_use":
				if seen[c.ID] || !form.MatchString(c.ID) || !form.MatchString(c.Name) || c.Input == nil {
					t.Errorf("message %d, block %d: call %q of %q with %v", i, j, c.ID, c.Name, c.Input)
				}
				seen[c.ID], next[c.ID] = true, true
			case "tool_result":
				if texts || !owed[c.ToolUseID] || c.IsError && (c.Content == nil || strings.TrimSpace(*c.Content) == "") {
					t.Errorf("message %d, block %d: a result of %q that does not belong there", i, j, c.ToolUseID)
				}
				delete(owed, c.ToolUseID)
			}
		}
		if len(owed) > 0 {
			t.Errorf("message %d: %d calls have no result", i, len(owed))
		}
		owed = next
	}
	for _, tool := range r.Tools {
		if !form.MatchString(tool.Name) {
			t.Errorf("tool %q", tool.Name)
		}
	}
}

// A24: what the provider reads is what the log holds.
func TestA24TheProviderReadsTheTextsAndDigitsOfTheRequest(t *testing.T) {
	var r sentRequest
	body := encoded(t, history)
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	if got := r.Messages[0].Content[0].Text; got != history.Messages[0].Text {
		t.Errorf("text %q", got)
	}
	if want := `"input":{"z":12345678901234567890,"a":1.10,"s":"<\u003c","half":"\ufffd"}`; !bytes.Contains(body, []byte(want)) {
		t.Errorf("%s is not in %s", want, body)
	}
}

// The wire's parser refuses a whole request for half of a pair.
func TestHalvesOfSurrogatePairsAreReplacedInInputs(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"\ud83d\ude00"}`:             `{"a":"\ud83d\ude00"}`,
		`{"a":"\uD83D\uDE00\u00e9"}`:       `{"a":"\uD83D\uDE00\u00e9"}`,
		`{"a":"\ud83d"}`:                   `{"a":"\ufffd"}`,
		`{"a":"\ude00\ud83d"}`:             `{"a":"\ufffd\ufffd"}`,
		`{"a":"\ud83d\ud83d\ude00\uDabc"}`: `{"a":"\ufffd\ud83d\ude00\ufffd"}`,
		`{"a":"\\ud83d\\\ud83dx"}`:         `{"a":"\\ud83d\\\ufffdx"}`,
		`{"a":"\ud83d\n\u00e9"}`:           `{"a":"\ufffd\n\u00e9"}`,
		`{"\udfff":1}`:                     `{"\ufffd":1}`,
		`{"a":`:                            `{}`,
		`[1]`:                              `{}`,
		``:                                 `{}`,
	} {
		if got := string(input(json.RawMessage(in))); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

func TestAnIdOrNameIsMappedTheSameWayEachTimeAndToOneOfItsOwn(t *testing.T) {
	long := strings.Repeat("x", maxName+1)
	seen := map[string]string{}
	for _, name := range []string{"toolu_01-A", strings.Repeat("x", maxName), "", " ", "a.b", "a/b", "a_b", "日本", "日 本", long, long + "y", "\xff"} {
		got := wellFormed(name)
		if !form.MatchString(got) || len(got) > maxName || got != wellFormed(name) {
			t.Errorf("%q became %q", name, got)
		}
		if other, taken := seen[got]; taken {
			t.Errorf("%q and %q both became %q", name, other, got)
		}
		seen[got] = name
		if form.MatchString(name) && len(name) <= maxName && got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
}

func TestACallOfAToolWhoseNameWasMappedComesBackUnderItsOwn(t *testing.T) {
	body := start0 + begins(0, `"type":"tool_use","id":"a","name":"`+wellFormed("files.list")+`","input":{}`) + finish
	p := newProvider(t, scripted{Status: 200, Body: body})
	reply, err := client(t, p, nil).Stream(context.Background(), history, func(model.Delta) {})
	if err != nil || len(reply.Calls) != 1 || reply.Calls[0].Name != "files.list" {
		t.Errorf("%+v, %v", reply.Calls, err)
	}
}

// guarantee 6: what an answer thought stands in the next request where it stood.
func TestThinkingGoesBackBlockForBlockAtItsPlace(t *testing.T) {
	for name, want := range map[string]string{
		"thinking_signed":   `[{"type":"thinking","thinking":"Let me see.","signature":"EqQBCgIY=="},{"type":"text","text":"42"}]`,
		"thinking_redacted": `[{"type":"redacted_thinking","data":"EmwK+/=="},{"type":"text","text":"42"}]`,
		"thinking_hidden":   `[{"type":"thinking","thinking":"","signature":"EqQB"},{"type":"text","text":"42"}]`,
		"thinking_between":  `[{"type":"thinking","thinking":"One.","signature":"S1"},{"type":"text","text":"日本"},{"type":"thinking","thinking":"Two.","signature":"S2"},{"type":"tool_use","id":"a","name":"Read","input":{}},{"type":"redacted_thinking","data":"D"},{"type":"tool_use","id":"b","name":"Glob","input":{}}]`,
		"thinking_unsigned": `[{"type":"text","text":"42"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, modeltest.ReadScenario(t, "testdata/"+name+".txt").Answers...)
			c := client(t, p, nil)
			reply, err := c.Stream(context.Background(), question, func(model.Delta) {})
			if err != nil {
				t.Fatal(err)
			}
			next := question
			next.Messages = append(next.Messages[:1:1], model.Message{Role: model.Assistant, Text: reply.Text, Calls: reply.Calls, Reasoning: reply.Reasoning})
			if body := encoded(t, next); !bytes.Contains(body, []byte(`{"role":"assistant","content":`+want+`}`)) {
				t.Errorf("want %s in %s", want, body)
			}
		})
	}
}

func TestThinkingWhosePlacesDoNotFitTheMessageStandsFirst(t *testing.T) {
	thinking := `{"type":"thinking","thinking":"Hm.","signature":"S"}`
	for _, opaque := range []string{
		`[{"type":"text","bytes":99},` + thinking + `]`,
		`[{"type":"text","bytes":1},` + thinking + `]`, // inside a character
		`[{"type":"text","bytes":-1},` + thinking + `]`,
		`[{"type":"tool_use"},` + thinking + `]`,
		`[{"type":"new"},` + thinking + `]`,
	} {
		m := model.Message{Role: model.Assistant, Text: "日本", Reasoning: &model.Reasoning{Opaque: json.RawMessage(opaque)}}
		got, _ := json.Marshal(said(&m, newCallIDs()))
		if want := `[` + thinking + `,{"type":"text","text":"日本"}]`; string(got) != want {
			t.Errorf("%s: %s, want %s", opaque, got, want)
		}
	}
}

func TestTheAnswerLimitIs8192UnlessConfigured(t *testing.T) {
	if body := encoded(t, question); !bytes.Contains(body, []byte(`"max_tokens":8192`)) {
		t.Errorf("%s", body)
	}
	body, _ := New(Config{BaseURL: "http://model.test", MaxTokens: 7}).encode(question)
	if !bytes.Contains(body, []byte(`"max_tokens":7,`)) {
		t.Errorf("%s", body)
	}
}

func TestASchemaThatIsNoJSONIsAConfigErrorAndNothingIsSent(t *testing.T) {
	p := newProvider(t)
	req := question
	req.Tools = []model.Tool{{Name: "Read", Schema: json.RawMessage("{")}}
	_, err := client(t, p, nil).Stream(context.Background(), req, func(model.Delta) {})
	isFailure(t, err, event.CodeConfig, false, "the schema of tool Read is no JSON")
	if len(p.Seen()) != 0 {
		t.Error("something was sent")
	}
}
