package history

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// log makes events of payloads, as they stand in a log.
func log(t *testing.T, payloads ...event.Payload) []store.Event {
	t.Helper()
	var out []store.Event
	for i, p := range payloads {
		body, err := event.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, store.Event{Seq: int64(i), ID: fmt.Sprintf("%016x", i), Type: string(p.EventType()), Payload: body})
	}
	return out
}

func project(t *testing.T, spec string, payloads ...event.Payload) []model.Message {
	t.Helper()
	messages, err := Project(log(t, payloads...), spec)
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

func same(t *testing.T, got []model.Message, want ...model.Message) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages differ (-want +got):\n%s", diff)
	}
}

func text(s string) event.Part { return event.Part{Type: event.PartText, Text: s} }

func call(id string) event.Part {
	return event.Part{Type: event.PartToolCall, ID: id, Name: "Read", Args: json.RawMessage(`{"n":1.0}`)}
}

func done(id, content string) event.ToolResult {
	return event.ToolResult{ID: id, Content: json.RawMessage(content)}
}

func asked(ids ...string) model.Message {
	m := model.Message{Role: model.Assistant}
	for _, id := range ids {
		m.Calls = append(m.Calls, model.Call{ID: id, Name: "Read", Args: json.RawMessage(`{"n":1.0}`)})
	}
	return m
}

func user(s string) model.Message { return model.Message{Role: model.User, Text: s} }

func answered(id, s string) model.Message {
	return model.Message{Role: model.ToolRole, CallID: id, Text: s}
}

func unanswered(id string) model.Message {
	return model.Message{Role: model.ToolRole, CallID: id, Text: noResult, IsError: true}
}

// guarantee 1
func TestOnlyWhatWasSaidAndFoundOutIsSeen(t *testing.T) {
	failed, reason := "it broke", "why not"
	same(t, project(t, "a/b",
		event.SessionCreated{}, event.TurnStart{Agent: "x"}, event.StepStart{N: 1, Model: "a/b"},
		event.UserMessage{Text: "hi"}, event.ContextInjected{Text: "and"}, event.AssistantChunk{Text: "no"},
		event.AssistantMessage{Parts: []event.Part{text("look"), call("c1"), call("c2")}},
		event.ToolCall{ID: "c1", Args: json.RawMessage("{}")}, event.ApprovalRequested{CallID: "c1", Args: json.RawMessage("{}")},
		event.ApprovalResolved{CallID: "c1", Verdict: event.Denied, Reason: &reason}, event.ToolProgress{ID: "c1", Text: "no"},
		done("c1", `{"k":[1,2.50]}`), event.ToolResult{ID: "c2", Error: &failed},
		event.PolicyUpdated{Patterns: []string{"*"}}, event.Interrupted{Text: "no"}, event.StepEnd{N: 1},
		event.TurnEnd{Status: event.Completed}, event.SessionTitled{Title: "no"},
	),
		user("hi"), user("and"),
		model.Message{Role: model.Assistant, Text: "look", Calls: asked("c1", "c2").Calls},
		answered("c1", `{"k":[1,2.50]}`),
		model.Message{Role: model.ToolRole, CallID: "c2", Text: "Error: it broke", IsError: true},
	)
}

// guarantee 1: thoughts go back to the model that had them, and to no other.
func TestReasoningGoesBackToTheModelThatMadeItAlone(t *testing.T) {
	events := []event.Payload{
		event.StepStart{N: 1, Model: "a/b"}, event.UserMessage{Text: "hi"},
		event.Reasoning{Text: "hm", Opaque: json.RawMessage(`{"s":1}`)}, event.AssistantMessage{Parts: []event.Part{text("yes")}},
		event.StepStart{N: 2, Model: "a/b"}, event.AssistantMessage{Parts: []event.Part{text("no thought")}},
	}
	thought := &model.Reasoning{Text: "hm", Opaque: json.RawMessage(`{"s":1}`)}
	same(t, project(t, "a/b", events...), user("hi"),
		model.Message{Role: model.Assistant, Text: "yes", Reasoning: thought}, model.Message{Role: model.Assistant, Text: "no thought"})
	same(t, project(t, "a/other", events...), user("hi"),
		model.Message{Role: model.Assistant, Text: "yes"}, model.Message{Role: model.Assistant, Text: "no thought"})
}

// guarantee 2, bug reports A01 and A02: holes at the end and in the middle.
func TestEveryCallIsAnsweredOnceDirectlyBehindItsMessageInCallOrder(t *testing.T) {
	for name, c := range map[string]struct {
		events []event.Payload
		want   []model.Message
	}{
		"no result at all": {
			[]event.Payload{event.UserMessage{Text: "hi"}, event.AssistantMessage{Parts: []event.Part{call("c1"), call("c2")}}},
			[]model.Message{user("hi"), asked("c1", "c2"), unanswered("c1"), unanswered("c2")},
		},
		"a hole followed by newer messages": {
			[]event.Payload{
				event.AssistantMessage{Parts: []event.Part{call("c1"), call("c2")}}, done("c2", `"two"`),
				event.UserMessage{Text: "and now?"}, event.AssistantMessage{Parts: []event.Part{text("well")}},
			},
			[]model.Message{asked("c1", "c2"), unanswered("c1"), answered("c2", "two"), user("and now?"), {Role: model.Assistant, Text: "well"}},
		},
		"results in another order, and one behind a text": {
			[]event.Payload{
				event.AssistantMessage{Parts: []event.Part{call("c1"), call("c2")}}, done("c2", `"two"`),
				event.ContextInjected{Text: "hurry"}, done("c1", `"one"`),
			},
			[]model.Message{asked("c1", "c2"), answered("c1", "one"), answered("c2", "two"), user("hurry")},
		},
		"a result without a call, and a second one": {
			[]event.Payload{done("ghost", `"boo"`), event.AssistantMessage{Parts: []event.Part{call("c1")}}, done("c1", `"one"`), done("c1", `"again"`)},
			[]model.Message{asked("c1"), answered("c1", "one")},
		},
		"an id that comes again in a later message": {
			[]event.Payload{
				event.AssistantMessage{Parts: []event.Part{call("c1")}}, done("c1", `"old"`),
				event.AssistantMessage{Parts: []event.Part{call("c1")}}, done("c1", `"new"`),
			},
			[]model.Message{asked("c1"), answered("c1", "old"), asked("c1"), answered("c1", "new")},
		},
	} {
		t.Run(name, func(t *testing.T) { same(t, project(t, "a/b", c.events...), c.want...) })
	}
}

// guarantee 3
func TestAMessageWithNothingInItIsLeftOut(t *testing.T) {
	same(t, project(t, "a/b",
		event.UserMessage{}, event.AssistantMessage{Parts: []event.Part{}}, event.ContextInjected{}, event.UserMessage{Text: "hi"},
	), user("hi"))
}

// guarantee 2: null is an empty text, a string is as it is, anything else its JSON.
func TestAResultIsReadAsTextWhateverItIs(t *testing.T) {
	for content, want := range map[string]string{
		"null": "", `"a<b \u2028 &"`: "a<b \u2028 &", "12345678901234567890": "12345678901234567890", `[1,{"a":null}]`: `[1,{"a":null}]`, "false": "false",
	} {
		same(t, project(t, "a/b", event.AssistantMessage{Parts: []event.Part{call("c1")}}, done("c1", content)), asked("c1"), answered("c1", want))
	}
}

// guarantee 4
func TestTheMessagesOfAPrefixAreAPrefixOfTheMessages(t *testing.T) {
	events := log(t,
		event.UserMessage{Text: "hi"}, event.AssistantMessage{Parts: []event.Part{text("a"), call("c1")}}, done("c1", `"one"`),
		event.ContextInjected{Text: "more"}, event.AssistantMessage{Parts: []event.Part{text("b")}}, event.UserMessage{Text: "bye"},
	)
	whole, err := Project(events, "a/b")
	if err != nil {
		t.Fatal(err)
	}
	for n := range events {
		part, err := Project(events[:n], "a/b")
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range part {
			if m.Text != noResult && cmp.Diff(m, whole[i]) != "" {
				t.Errorf("of %d events, message %d is %+v, of all %+v", n, i, m, whole[i])
			}
		}
	}
}

// An event that cannot be read is named; nothing is made of the rest.
func TestAPayloadThatCannotBeReadIsNamed(t *testing.T) {
	broken := []store.Event{{Seq: 7, Type: string(event.UserMessageType), Payload: json.RawMessage(`{"text":7}`)}}
	if _, err := Project(broken, "a/b"); err == nil || err.Error()[:6] != "seq 7:" {
		t.Errorf("error %v", err)
	}
}
