//go:build unix

package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hitchpost/turn/event"
)

// piece is a piece of a tool call as a server may send it; "" leaves a member out.
func piece(index, id, name, args string) string {
	var members []string
	if index != "" {
		members = append(members, `"index":`+index)
	}
	if id != "" {
		members = append(members, fmt.Sprintf(`"id":%q`, id))
	}
	function := map[string]string{"arguments": args}
	if name != "" {
		function["name"] = name
	}
	b, _ := json.Marshal(function)
	members = append(members, `"type":"function","function":`+string(b))
	return `{"choices":[{"index":0,"delta":{"tool_calls":[{` + strings.Join(members, ",") + `}]}}]}`
}

// answersOnce answers the first request with this stream and the others with a text.
func answersOnce(t *testing.T, stream func(a *answer)) *stand {
	return newStand(t, func(a *answer) {
		if a.n == 0 && a.last == "go" {
			stream(a)
			return
		}
		a.say("done")
	})
}

// TestA17CallsWithoutIndexOrIdRunOnceEachUnderOneIdEverywhere: in the log, for the tool
// and in the next request.
func TestA17CallsWithoutIndexOrIdRunOnceEachUnderOneIdEverywhere(t *testing.T) {
	one, two := `{"file_path":"one.txt"}`, `{"file_path":"two.txt"}`
	for name, chunks := range map[string][]string{
		"no index":      {piece("", "a", "Read", one), piece("", "b", "Read", two)},
		"the id later":  {piece("0", "", "Read", one[:5]), piece("0", "a", "", one[5:]), piece("1", "", "Read", ""), piece("1", "b", "", two)},
		"the id always": {piece("0", "a", "Read", one[:5]), piece("0", "a", "", one[5:]), piece("1", "b", "Read", two)},
		"no id at all":  {piece("0", "", "Read", one), piece("1", "", "Read", two)},
		"one id twice":  {piece("0", "a", "Read", one), piece("1", "a", "Read", two)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := answersOnce(t, func(a *answer) { a.send(append(chunks, finish, "[DONE]")...) })
			p := reported(t, model, "")
			for _, file := range []string{"one", "two"} {
				if err := os.WriteFile(filepath.Join(p.dir, file+".txt"), []byte("text of "+file+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p.serve().wake("go")
			if status := p.ended(1); status != "completed" {
				t.Fatalf("the turn ended %s: %s", status, types(p.log("main")))
			}
			var logged, sent []string
			for _, l := range p.log("main") {
				if l.Type == event.ToolCallType {
					logged = append(logged, l.Payload.ID)
				}
			}
			next := model.asked()[1]
			for _, c := range next[2].ToolCalls {
				sent = append(sent, c.ID)
			}
			if len(logged) != 2 || logged[0] == logged[1] || !slices.Equal(logged, sent) || !slices.Equal(logged, p.results()) {
				t.Errorf("ids in the log %q, of results %q, in the request %q", logged, p.results(), sent)
			}
			for i, file := range []string{"one", "two"} {
				if !strings.Contains(fmt.Sprint(next[3+i].Content), "text of "+file) {
					t.Errorf("result %d is %v", i, next[3+i].Content)
				}
			}
		})
	}
}

// TestA18ArgumentsThatAreNoObjectNeverWedgeTheSession: the model is told, what goes back
// to it is an object, and big numbers keep their digits.
func TestA18ArgumentsThatAreNoObjectNeverWedgeTheSession(t *testing.T) {
	for args, want := range map[string]string{
		"": "file_path", "null": "file_path", "[]": "no JSON object", `"x"`: "no JSON object", "{": "no JSON object",
		strings.Repeat(`{"a":`, 10000) + "1" + strings.Repeat("}", 10000): "",
		`{"file_path":"missing","offset":9007199254740993}`:               "missing",
	} {
		t.Run(fmt.Sprintf("%d bytes", len(args)), func(t *testing.T) {
			t.Parallel()
			model := answersOnce(t, func(a *answer) { a.send(call(0, "c1", "Read", args), finish, "[DONE]") })
			p := reported(t, model, "")
			s := p.serve()
			s.wake("go")
			s.wake("again")
			if status := p.ended(p.count(event.TurnStartType)); status != "completed" {
				t.Errorf("ended %s: %s", status, types(p.log("main")))
			}
			if got := p.results(); len(got) != 1 || !strings.Contains(got[0], want) || !strings.HasPrefix(got[0], "c1: ") {
				t.Errorf("results %q, want an error with %q", got, want)
			}
			for _, request := range model.asked()[1:] {
				sent := request[2].ToolCalls[0].Function.Arguments
				if object := map[string]json.RawMessage{}; json.Unmarshal([]byte(sent), &object) != nil {
					t.Errorf("sent back: %.100s", sent)
				}
				if strings.Contains(args, "9007199254740993") && !strings.Contains(sent, "9007199254740993") {
					t.Errorf("sent back: %s", sent)
				}
			}
		})
	}
}

// TestA19ACutAnswerRunsNothingAndKeepsItsText: only what came to its end counts.
func TestA19ACutAnswerRunsNothingAndKeepsItsText(t *testing.T) {
	half := call(0, "c1", "Write", `{"file_path":"made","content":"half`)
	length := `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`
	stop := `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	cases := map[string]struct {
		chunks []string
		status string
	}{
		"in mid argument":              {[]string{text("well "), half}, "failed"},
		"after text":                   {[]string{text("well ")}, "failed"},
		"a reason but no DONE":         {[]string{text("well "), stop}, "completed"},
		"DONE but no reason":           {[]string{text("well "), "[DONE]"}, "completed"},
		"length inside arguments":      {[]string{text("well "), half, length, "[DONE]"}, ""},
		"tool_calls, half an argument": {[]string{text("well "), half, finish, "[DONE]"}, ""},
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := answersOnce(t, func(a *answer) {
				a.send(c.chunks...)
				if c.chunks[len(c.chunks)-1] != "[DONE]" && c.status == "failed" {
					panic(http.ErrAbortHandler) // the connection breaks
				}
			})
			p := reported(t, model, asksNobody)
			s := p.serve()
			s.wake("go")
			if status := p.ended(1); c.status != "" && status != c.status {
				t.Errorf("the turn ended %s, want %s", status, c.status)
			}
			if _, err := os.Stat(filepath.Join(p.dir, "made")); err == nil {
				t.Error("half a call ran")
			}
			kept := 0
			for _, l := range p.log("main") {
				if (l.Type == event.AssistantMessageType || l.Type == event.InterruptedType) && strings.Contains(l.raw, "well ") {
					kept++
				}
			}
			if kept != 1 {
				t.Errorf("the text is kept %d times: %s", kept, types(p.log("main")))
			}
			s.wake("again")
			if status := p.ended(2); status != "completed" {
				t.Errorf("the next turn ended %s", status)
			}
		})
	}
}
