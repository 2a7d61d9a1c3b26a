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

// guarantee 5: an imported log may hold anything.
func TestArgumentsThatAreNoObjectAreSentAsAnEmptyOne(t *testing.T) {
	for args, want := range map[string]string{
		`null`: `{}`, `[]`: `{}`, `"x"`: `{}`, `7`: `{}`, `{"n": 9007199254740993}`: `{"n": 9007199254740993}`,
	} {
		imported := store.Event{
			Type:    string(event.AssistantMessageType),
			Payload: json.RawMessage(`{"parts":[{"type":"tool_call","id":"a","name":"Read","args":` + args + `}]}`),
		}
		messages, err := Project([]store.Event{imported}, "a/b")
		if err != nil {
			t.Fatal(err)
		}
		if sent := string(messages[0].Calls[0].Args); sent != want {
			t.Errorf("%s is sent as %s", args, sent)
		}
	}
}

// guarantees 2 and 4, of any log.
func TestAnyLogMakesAValidRequestAndTheSameOneEachTime(t *testing.T) {
	ids := rapid.SampledFrom([]string{"a", "b", "c"})
	one := rapid.Custom(func(r *rapid.T) event.Payload {
		switch rapid.IntRange(0, 2).Draw(r, "kind") {
		case 0:
			return event.UserMessage{Text: "t"}
		case 1:
			parts := []event.Part{text("looking")}
			for _, id := range rapid.SliceOfNDistinct(ids, 0, 3, rapid.ID[string]).Draw(r, "ids") {
				parts = append(parts, call(id))
			}
			return event.AssistantMessage{Parts: parts}
		}
		return done(ids.Draw(r, "id"), `"r"`)
	})
	rapid.Check(t, func(r *rapid.T) {
		payloads := rapid.SliceOfN(one, 0, 12).Draw(r, "log")
		messages := project(t, "a/b", payloads...)
		if err := answeredInOrder(messages); err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(messages, project(t, "a/b", payloads...)); diff != "" {
			r.Fatalf("twice the same log: %s", diff)
		}
	})
}

func answeredInOrder(messages []model.Message) error {
	var owed []string
	for _, m := range messages {
		switch {
		case m.Role == model.ToolRole && (len(owed) == 0 || owed[0] != m.CallID):
			return fmt.Errorf("%s is answered, owed %v", m.CallID, owed)
		case m.Role == model.ToolRole:
			owed = owed[1:]
		case len(owed) > 0:
			return fmt.Errorf("%v are not answered", owed)
		}
		for _, c := range m.Calls {
			owed = append(owed, c.ID)
		}
	}
	if len(owed) > 0 {
		return fmt.Errorf("%v are not answered", owed)
	}
	return nil
}
