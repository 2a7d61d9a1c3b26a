package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/model/modeltest"
)

// history has one of everything that a request can hold.
var history = model.Request{
	Model:  "acme/model-1",
	System: "Be <careful> & brief.",
	Messages: []model.Message{
		{Role: model.User, Text: "a<b && c>d \u2028 \x00 日本"},
		{Role: model.Assistant, Calls: []model.Call{
			{ID: "c1", Name: "Read", Args: json.RawMessage(`{"z":12345678901234567890,"a":1.10,"s":"<\u003c"}`)},
			{ID: "c2", Name: "Glob"},
		}},
		{Role: model.ToolRole, CallID: "c1", Text: "Error: no such file", IsError: true},
		{Role: model.ToolRole, CallID: "c2", Text: ""},
		{Role: model.Assistant, Text: "Hm.", Calls: []model.Call{{ID: "c3", Name: "Read", Args: json.RawMessage(`{}`)}},
			Reasoning: &model.Reasoning{Text: "thinking", Opaque: json.RawMessage(`{"member":"reasoning_content"}`)}},
		{Role: model.ToolRole, CallID: "c3", Text: `{"k":1}`},
		{Role: model.Assistant, Text: "Done.", Reasoning: &model.Reasoning{Text: "more", Opaque: json.RawMessage(`{"member":"reasoning","details":[{"type":"x","data":"AA=="}]}`)}},
		{Role: model.User, Text: "one"},
		{Role: model.User, Text: "two"},
	},
	Tools: []model.Tool{
		{Name: "Read", Description: "Reads & shows.", Schema: json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"number","maximum":1.0}}}`)},
		{Name: "Glob"},
	},
}

// guarantee 4, H-01 to H-04
func TestARequestHasExactlyTheseBytes(t *testing.T) {
	c := New(Config{BaseURL: "http://model.test/v1", MaxTokens: 100})
	got, err := c.encode(history)
	if err != nil {
		t.Fatal(err)
	}
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
	again, _ := c.encode(history)
	if !bytes.Equal(got, again) {
		t.Error("the same request has other bytes the second time")
	}
}

// A24: what the provider reads is what the log holds.
func TestA24TheProviderReadsTheTextsAndDigitsOfTheRequest(t *testing.T) {
	p := newProvider(t, scripted{Status: 200, Body: word("ok") + finish})
	if _, _, err := ask(context.Background(), client(t, p, nil), nil); err != nil {
		t.Fatal(err)
	}
	body, _ := New(Config{BaseURL: p.URL}).encode(history)
	var sent struct {
		Messages []struct {
			Content   *string
			ToolCalls []struct{ Function struct{ Arguments string } } `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatal(err)
	}
	if got := *sent.Messages[1].Content; got != history.Messages[0].Text {
		t.Errorf("text %q", got)
	}
	if got := sent.Messages[2].ToolCalls[0].Function.Arguments; got != string(history.Messages[1].Calls[0].Args) {
		t.Errorf("arguments %s", got)
	}
	if sent.Messages[2].Content != nil {
		t.Error("an assistant that only calls has a content")
	}
}

func TestToolsAreSentSortedByName(t *testing.T) {
	c := New(Config{BaseURL: "http://model.test"})
	one, _ := c.encode(history)
	turned := history
	turned.Tools = []model.Tool{history.Tools[1], history.Tools[0]}
	other, _ := c.encode(turned)
	if !bytes.Equal(one, other) {
		t.Error("the order of the tools shows in the request")
	}
	if turned.Tools[0].Name != "Glob" || history.Tools[0].Name != "Read" {
		t.Error("the caller's tools were moved")
	}
}

func TestTheAnswerLimitIsSentUnderTheNameTheHostKnows(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.openai.com/v1":    `"max_completion_tokens":7`,
		"https://openrouter.ai/api/v1": `"max_tokens":7`,
	} {
		body, _ := New(Config{BaseURL: base, MaxTokens: 7}).encode(question)
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("%s: %s", base, body)
		}
	}
	body, _ := New(Config{BaseURL: "https://openrouter.ai/api/v1"}).encode(question)
	if bytes.Contains(body, []byte("max_")) {
		t.Errorf("no limit: %s", body)
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

// FuzzRequest holds guarantee 4: whatever the texts, the body is valid JSON, the same
// each time, and what is valid UTF-8 is read back as it was.
func FuzzRequest(f *testing.F) {
	f.Add("sys", "a<b && c>d\u2028", `{"n":1.10}`)
	f.Add("", "\xff\x00", `{"a":"\ud83d"}`)
	f.Fuzz(func(t *testing.T, system, text, args string) {
		req := model.Request{Model: "m", System: system, Messages: []model.Message{{Role: model.User, Text: text},
			{Role: model.Assistant, Calls: []model.Call{{ID: "a", Name: "Read", Args: json.RawMessage(args)}}}}}
		c := New(Config{BaseURL: "http://model.test"})
		body, err := c.encode(req)
		if err != nil || !json.Valid(body) {
			t.Fatalf("%s, %v", body, err)
		}
		again, _ := c.encode(req)
		var sent struct{ Messages []struct{ Content *string } }
		json.Unmarshal(body, &sent)
		back := *sent.Messages[len(sent.Messages)-2].Content
		if !bytes.Equal(body, again) || back != string([]rune(text)) {
			t.Errorf("%q was read back as %q", text, back)
		}
	})
}
