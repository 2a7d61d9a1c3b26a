package history

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// log is events of the given types and payloads, in turns.
func log(typesAndPayloads ...string) []store.Event {
	var events []store.Event
	for i := 0; i < len(typesAndPayloads); i += 2 {
		events = append(events, store.Event{Seq: int64(i / 2), Type: typesAndPayloads[i], Payload: []byte(typesAndPayloads[i+1])})
	}
	return events
}

const (
	said    = string(event.UserMessageType)
	replied = string(event.AssistantMessageType)
	result  = string(event.ToolResultType)
	begun   = string(event.StepStartType)
	thought = string(event.ReasoningType)
)

func project(t *testing.T, events []store.Event) []model.Message {
	t.Helper()
	messages, err := Project(events, "p/m")
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

func calls(ids ...string) string {
	parts := ""
	for _, id := range ids {
		parts += fmt.Sprintf(`,{"type":"tool_call","id":%q,"name":"Read","args":{}}`, id)
	}
	return `{"parts":[{"type":"text","text":"looking"}` + parts + `]}`
}

// Guarantee 2: logs that were imported, or whose writer died, have holes anywhere.
func TestEveryCallIsAnsweredDirectlyAndInOrderWhateverTheLogLacks(t *testing.T) {
	looking := func(ids ...string) model.Message {
		m := model.Message{Role: model.Assistant, Text: "looking"}
		for _, id := range ids {
			m.Calls = append(m.Calls, model.Call{ID: id, Name: "Read", Args: json.RawMessage(`{}`)})
		}
		return m
	}
	answer := func(id, text string) model.Message {
		return model.Message{Role: model.ToolRole, CallID: id, Text: text}
	}
	lost := func(id string) model.Message {
		return model.Message{Role: model.ToolRole, CallID: id, Text: noResult, IsError: true}
	}
	user := model.Message{Role: model.User, Text: "go on"}
	for name, c := range map[string]struct {
		log  []store.Event
		want []model.Message
	}{
		"in the middle of history": {
			log(replied, calls("a", "b"), result, `{"id":"a","content":"one","error":null}`, said, `{"text":"go on"}`),
			[]model.Message{looking("a", "b"), answer("a", "one"), lost("b"), user},
		},
		"late and out of order": {
			log(replied, calls("a", "b"), said, `{"text":"go on"}`, result, `{"id":"b","content":"two","error":null}`, result, `{"id":"a","content":"one","error":null}`),
			[]model.Message{looking("a", "b"), answer("a", "one"), answer("b", "two"), user},
		},
		"a result without a call, and a second one": {
			log(result, `{"id":"x","content":"?","error":null}`, replied, calls("a"), result, `{"id":"a","content":"one","error":null}`, result, `{"id":"a","content":"again","error":null}`),
			[]model.Message{looking("a"), answer("a", "one")},
		},
		"an id that a later turn uses again": {
			log(replied, calls("a"), replied, calls("a"), result, `{"id":"a","content":"one","error":null}`),
			[]model.Message{looking("a"), lost("a"), looking("a"), answer("a", "one")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, project(t, c.log)); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

// Guarantee 5.
func TestArgumentsThatAreNoObjectAreSentAsAnEmptyOne(t *testing.T) {
	for _, args := range []string{`null`, `[]`, `"x"`, `7`} {
		got := project(t, log(replied, `{"parts":[{"type":"tool_call","id":"a","name":"Read","args":`+args+`}]}`))
		if sent := string(got[0].Calls[0].Args); sent != "{}" {
			t.Errorf("%s is sent as %s", args, sent)
		}
	}
	got := project(t, log(replied, `{"parts":[{"type":"tool_call","id":"a","name":"Read"},{"type":"tool_call","id":"b","name":"Read","args":{"n": 9007199254740993}}]}`))
	if sent := fmt.Sprintf("%s %s", got[0].Calls[0].Args, got[0].Calls[1].Args); sent != `{} {"n": 9007199254740993}` {
		t.Errorf("sent: %s", sent)
	}
}

// Guarantees 1 and 3.
func TestReasoningGoesBackToWhoseItIsAndNothingEmptyIsSent(t *testing.T) {
	events := log(begun, `{"n":1,"model":"p/m"}`, thought, `{"text":"mine"}`, replied, `{"parts":[{"type":"text","text":"a"}]}`,
		begun, `{"n":2,"model":"q/m"}`, thought, `{"text":"another's"}`, replied, `{"parts":[{"type":"text","text":"b"}]}`,
		said, `{"text":""}`, replied, `{"parts":[]}`, string(event.InterruptedType), `{"text":"lost"}`)
	want := []model.Message{
		{Role: model.Assistant, Text: "a", Reasoning: &model.Reasoning{Text: "mine"}},
		{Role: model.Assistant, Text: "b"},
	}
	if diff := cmp.Diff(want, project(t, events)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// Guarantees 2 and 4, of any log.
func TestAnyLogMakesAValidRequestAndTheSameOneEachTime(t *testing.T) {
	ids := rapid.SampledFrom([]string{"a", "b", "c"})
	one := rapid.Custom(func(t *rapid.T) store.Event {
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return store.Event{Type: said, Payload: []byte(`{"text":"t"}`)}
		case 1:
			return store.Event{Type: replied, Payload: []byte(calls(rapid.SliceOfNDistinct(ids, 0, 3, rapid.ID[string]).Draw(t, "ids")...))}
		}
		return store.Event{Type: result, Payload: fmt.Appendf(nil, `{"id":%q,"content":"r","error":null}`, ids.Draw(t, "id"))}
	})
	rapid.Check(t, func(r *rapid.T) {
		events := rapid.SliceOfN(one, 0, 12).Draw(r, "log")
		messages := project(t, events)
		var owed []string
		for _, m := range messages {
			if m.Role == model.ToolRole {
				if len(owed) == 0 || owed[0] != m.CallID {
					r.Fatalf("%s is answered, owed %v", m.CallID, owed)
				}
				owed = owed[1:]
				continue
			}
			if len(owed) > 0 {
				r.Fatalf("%v are not answered", owed)
			}
			for _, c := range m.Calls {
				owed = append(owed, c.ID)
			}
		}
		if len(owed) > 0 {
			r.Fatalf("%v are not answered", owed)
		}
		if diff := cmp.Diff(messages, project(t, events)); diff != "" {
			r.Fatalf("twice the same log: %s", diff)
		}
	})
}
