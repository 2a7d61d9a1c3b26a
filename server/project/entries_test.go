package project_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"hitchpost/server/project"
	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn/event"
)

// entry encodes the entry of a lone event with the id 00000000000000aa.
func entry(t *testing.T, p event.Payload) string {
	t.Helper()
	s := &script{}
	s.addAs("00000000000000aa", p)
	line, ok := project.Entry(s.log()[0], project.Place{Parent: "00000000000000a9", Run: "00000000000000a1"}, protocol.View{OnPath: true})
	if !ok {
		t.Fatalf("%s makes no entry", p.EventType())
	}
	return string(line)
}

// wrapped is an entry around the members that differ.
func wrapped(kind, source, display, usage, payload string) string {
	return `{"id":"00000000000000aa","seq":0,"kind":"` + kind + `","parent_id":"00000000000000a9","source":{"type":"` + source +
		`"},"display":` + display + `,"usage":` + usage + `,"payload":` + payload +
		`,"run_id":"00000000000000a1","created_at":"2026-08-18T04:10:00.123456Z","on_path":true,"compacted":false}`
}

// guarantee 5: every row of the table of entries, byte for byte.
func TestEachEntryHasItsKindItsSourceAndItsPayload(t *testing.T) {
	text := func(text string) []event.Part { return []event.Part{{Type: event.PartText, Text: text}} }
	for _, c := range []struct {
		name string
		p    event.Payload
		want string
	}{
		{"user/message", event.UserMessage{Text: "a<b"}, wrapped("item", "user", `{"kind":"message","text":"a<b"}`, "null",
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"a<b"}]}`)},
		{"context/injected", event.ContextInjected{Text: "also"}, wrapped("item", "user", `{"kind":"message","text":"also"}`, "null",
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"also"}]}`)},
		{"assistant/message", event.AssistantMessage{Parts: text("22 °C")}, wrapped("item", "model", `{"kind":"message","text":"22 °C"}`, "null",
			`{"id":"00000000000000aa","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"22 °C","annotations":[]}]}`)},
		{"assistant/message that was cut", event.AssistantMessage{Parts: text("22"), Partial: true}, wrapped("item", "model", `{"kind":"message","text":"22"}`, "null",
			`{"id":"00000000000000aa","type":"message","role":"assistant","status":"incomplete","content":[{"type":"output_text","text":"22","annotations":[]}]}`)},
		{"assistant/message of calls only", event.AssistantMessage{Parts: []event.Part{{Type: event.PartToolCall, ID: "c1", Name: "Read", Args: args(`{}`)}}},
			wrapped("item", "model", `{"kind":"message"}`, "null",
				`{"id":"00000000000000aa","type":"message","role":"assistant","status":"completed","content":[]}`)},
		{"assistant/reasoning", event.Reasoning{Text: "hm"}, wrapped("item", "model", `{"kind":"reasoning","text":"hm"}`, "null",
			`{"id":"00000000000000aa","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}`)},
		{"assistant/reasoning with a summary of its own", event.Reasoning{Text: "hm", Summary: args(`[{"type":"summary_text","text":"short"}]`)},
			wrapped("item", "model", `{"kind":"reasoning","text":"hm"}`, "null",
				`{"id":"00000000000000aa","type":"reasoning","summary":[{"type":"summary_text","text":"short"}]}`)},
		{"assistant/reasoning without a word", event.Reasoning{Opaque: args(`"secret"`)}, wrapped("item", "model", `{"kind":"reasoning"}`, "null",
			`{"id":"00000000000000aa","type":"reasoning","summary":[]}`)},
		{"tool/call", event.ToolCall{ID: "c1", Name: "Read", Args: args(`{"n":1.0,"path":"a<b"}`)},
			wrapped("item", "model", `{"kind":"tool_call","call_id":"c1","tool_name":"Read","arguments":"{\"n\":1.0,\"path\":\"a<b\"}"}`, "null",
				`{"id":"00000000000000aa","type":"function_call","status":"completed","call_id":"c1","name":"Read","arguments":"{\"n\":1.0,\"path\":\"a<b\"}"}`)},
		{"tool/result with a string", event.ToolResult{ID: "c1", Content: args(`"line\nline"`)},
			wrapped("item", "tool", `{"kind":"tool","call_id":"c1","output":"line\nline"}`, "null",
				`{"type":"function_call_output","call_id":"c1","output":"line\nline"}`)},
		{"tool/result with other JSON", event.ToolResult{ID: "c1", Content: args(`{"rows":[1.0,null]}`)},
			wrapped("item", "tool", `{"kind":"tool","call_id":"c1","output":"{\"rows\":[1.0,null]}"}`, "null",
				`{"type":"function_call_output","call_id":"c1","output":"{\"rows\":[1.0,null]}"}`)},
		{"tool/result with an error", event.ToolResult{ID: "c1", Error: ptr("no such file")},
			wrapped("item", "tool", `{"kind":"tool","call_id":"c1","output":"no such file","is_error":true}`, "null",
				`{"type":"function_call_output","call_id":"c1","output":"no such file"}`)},
		{"session/compacted", event.SessionCompacted{UptoSeq: 7, Summary: "so far", TokensBefore: ptr(int64(900)), TokensAfter: ptr(int64(90))},
			wrapped("compaction", "compaction", `{"kind":"compaction","text":"so far"}`, "null",
				`{"summary":"so far","upto_seq":7,"tokens_before":900,"tokens_after":90}`)},
		{"assistant/interrupted", event.Interrupted{Text: "22"}, wrapped("annotation", "model", `{"kind":"message","text":"22"}`, "null",
			`{"partial":true,"field":"text","text":"22"}`)},
		{"assistant/interrupted reasoning", event.Interrupted{Text: "hm", Field: event.FieldReasoning}, wrapped("annotation", "model", `{"kind":"reasoning","text":"hm"}`, "null",
			`{"partial":true,"field":"reasoning","text":"hm"}`)},
		{"turn/end failed", event.TurnEnd{Status: event.Failed, Error: &event.Error{Code: event.CodeProvider, Message: "HTTP 500"}},
			wrapped("annotation", "error_handler", `{"kind":"error","title":"provider_error","text":"HTTP 500","is_error":true}`, "null",
				`{"code":"provider_error","message":"HTTP 500"}`)},
		{"turn/end rejected", event.TurnEnd{Status: event.Rejected, Error: &event.Error{Code: event.CodeConfig, Message: "no model"}},
			wrapped("annotation", "error_handler", `{"kind":"error","title":"config_error","text":"no model","is_error":true}`, "null",
				`{"code":"config_error","message":"no model"}`)},
		{"turn/end cancelled", event.TurnEnd{Status: event.Cancelled, Reason: ptr("enough")},
			wrapped("annotation", "error_handler", `{"kind":"cancelled","title":"stopped","text":"enough"}`, "null",
				`{"reason":"stopped","message":"enough"}`)},
	} {
		t.Run(c.name, func(t *testing.T) { like(t, []string{entry(t, c.p)}, c.want) })
	}
}

// guarantee 5
func TestTypesOutsideTheTableMakeNoEntry(t *testing.T) {
	for _, p := range []event.Payload{
		event.SessionCreated{}, event.TurnStart{}, event.StepStart{}, event.AssistantChunk{}, event.StepEnd{},
		event.TurnEnd{Status: event.Completed}, event.TurnEnd{Status: event.Empty}, event.ApprovalRequested{Args: args(`{}`)},
		event.ApprovalResolved{}, event.PolicyUpdated{}, event.SessionTitled{}, event.SessionForked{},
		event.ReasoningChunk{}, event.ToolProgress{}, event.ModelUpdated{}, event.SessionBranched{}, event.Diagnostic{},
	} {
		s := &script{}
		s.add(p)
		if line, ok := project.Entry(s.log()[0], project.Place{}, protocol.View{}); ok {
			t.Errorf("%s makes %s", p.EventType(), line)
		}
	}
}

// What the provider cut at its limit of length ends in the middle of a sentence, as what an
// abort cut does.
func TestAnAnswerThatWasCutIsIncomplete(t *testing.T) {
	for _, c := range []struct {
		reply  event.AssistantMessage
		status string
	}{
		{event.AssistantMessage{}, "completed"},
		{event.AssistantMessage{Stop: "stop_sequence"}, "completed"},
		{event.AssistantMessage{Partial: true}, "incomplete"},
		{event.AssistantMessage{Stop: "length"}, "incomplete"},     // OpenAI's word
		{event.AssistantMessage{Stop: "max_tokens"}, "incomplete"}, // Anthropic's
	} {
		if got := entry(t, c.reply); !strings.Contains(got, `"role":"assistant","status":"`+c.status+`"`) {
			t.Errorf("%+v makes %s", c.reply, got)
		}
	}
}

func TestUsageIsRenamedAndStandsOnlyWhereAProviderToldIt(t *testing.T) {
	for _, c := range []struct {
		told *event.Usage
		want string
	}{
		{nil, `"usage":null`},
		{&event.Usage{}, `"usage":null`},
		{&event.Usage{PromptTokens: ptr(int64(31)), CompletionTokens: ptr(int64(6))}, `"usage":{"input_tokens":31,"output_tokens":6}`},
		{&event.Usage{PromptTokens: ptr(int64(31)), CompletionTokens: ptr(int64(6)), Cost: ptr(0.0)}, `"usage":{"input_tokens":31,"output_tokens":6,"cost":0}`},
		{&event.Usage{CompletionTokens: ptr(int64(6))}, `"usage":{"input_tokens":null,"output_tokens":6}`},
	} {
		if got := entry(t, event.AssistantMessage{Parts: []event.Part{}, Usage: c.told}); !strings.Contains(got, c.want) {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestTheDisplayThatAToolChoseIsNeverAmended(t *testing.T) {
	stored := `{"renderer":"diff","kind":"tool","future":[1.0]}`
	got := entry(t, event.ToolResult{ID: "c1", Content: args(`"ok"`), Display: args(stored)})
	if !strings.Contains(got, `"display":`+stored+`,"usage"`) {
		t.Errorf("got %s", got)
	}
}

func TestADisplayThatIsNoObjectGivesWayToTheDerivedOne(t *testing.T) {
	for _, stored := range []string{`null`, `"diff"`, `[1]`} {
		got := entry(t, event.ToolResult{ID: "c1", Content: args(`"ok"`), Display: args(stored)})
		if !strings.Contains(got, `"display":{"kind":"tool","call_id":"c1","output":"ok"}`) {
			t.Errorf("%s: got %s", stored, got)
		}
	}
}

// guarantee 1
func TestTheViewMembersStandLastAndChangeNothingElse(t *testing.T) {
	s := &script{}
	s.add(event.UserMessage{Text: "hi"})
	ev := s.log()[0]
	live, _ := project.Entry(ev, project.Place{}, protocol.View{OnPath: true})
	later, _ := project.Entry(ev, project.Place{}, protocol.View{Compacted: true})
	head, cut := strings.CutSuffix(string(live), `,"on_path":true,"compacted":false}`)
	if !cut || string(later) != head+`,"on_path":false,"compacted":true}` {
		t.Errorf("live  %s\nlater %s", live, later)
	}
}

// guarantee 9
func TestAnIllTypedMemberDoesNotLoseTheEntry(t *testing.T) {
	s := &script{}
	s.raw(s.next(), "tool/call", `{"id":7,"name":"Read","args":{"a":1},"new":[]}`)
	line, ok := project.Entry(s.log()[0], project.Place{}, protocol.View{})
	if !ok || !strings.Contains(string(line), `"name":"Read","arguments":"{\"a\":1}"`) {
		t.Errorf("got %s", line)
	}
}

// guarantee 1
func TestTextThatJSONEscapesSurvivesEveryPath(t *testing.T) {
	hard := "\x00 \u2028\u2029\u0085 \r \x7f \u202e a<b && c>d 👩‍👩‍👧 \ufffd"
	s := begin()
	_, step := s.open()
	s.add(event.AssistantChunk{Text: hard})
	s.reply(step, hard)
	s.add(event.TurnEnd{Status: event.Completed})
	var delta struct{ Payload protocol.RunDelta }
	var whole struct {
		Payload struct {
			Entry struct {
				Payload protocol.AssistantMessage
				Display protocol.Display
			}
		}
	}
	var output struct{ Payload protocol.RunOutput }
	frames := s.frames()
	for i, into := range []any{&delta, &whole, &output} {
		if err := json.Unmarshal(frames[i+2].Line, into); err != nil {
			t.Fatal(err)
		}
	}
	got := []string{
		delta.Payload.Delta, whole.Payload.Entry.Payload.Content[0].Text, whole.Payload.Entry.Display.Text,
		output.Payload.FinalOutput,
	}
	for i, text := range got {
		if text != hard {
			t.Errorf("path %d: got %q, want %q", i, text, hard)
		}
	}
	for _, f := range frames {
		if strings.Contains(string(f.Line), `\u003c`) || strings.ContainsAny(string(f.Line), "\n\r") {
			t.Errorf("escaped markup or a broken line: %s", f.Line)
		}
	}
}

// guarantee 6
func TestTheParentOfAnEntryIsTheOneBeforeItOnItsBranch(t *testing.T) {
	s := begin()
	_, step := s.open()
	question := s.add(event.UserMessage{Text: "q"})
	s.add(event.AssistantChunk{Text: "a"})
	answer := s.reply(step, "a")
	s.add(event.TurnEnd{Status: event.Completed})
	s.add(event.SessionBranched{To: question, Previous: answer})
	s.add(event.TurnStart{Agent: "default", Mode: event.ModeContinue})
	step = s.add(event.StepStart{N: 1})
	second := s.reply(step, "b")
	end := s.add(event.TurnEnd{Status: event.Cancelled})
	s.add(event.SessionBranched{To: "", Previous: end})
	s.add(event.TurnStart{Agent: "default"})
	root := s.add(event.UserMessage{Text: "anew"})
	want := map[string]string{question: "", answer: question, second: question, end: second, root: ""}
	for _, f := range s.frames() {
		if f.Type != protocol.TypeRunEntry {
			continue
		}
		id, parent := identity(t, f.Line)
		if w, ok := want[id]; !ok || parent != w {
			t.Errorf("parent of %s is %q, want %q", id, parent, w)
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Errorf("no entry for %v", want)
	}
}

func identity(t fatal, line []byte) (id, parent string) {
	t.Helper()
	var f struct {
		Payload struct {
			Entry struct {
				ID     string `json:"id"`
				Parent string `json:"parent_id"`
			}
		}
	}
	if err := json.Unmarshal(line, &f); err != nil {
		t.Fatal(err)
	}
	return f.Payload.Entry.ID, f.Payload.Entry.Parent
}

// guarantee 8
func TestAForksEntriesAreThoseOfItsSourceAndItsCopiedTurnsAreNoRuns(t *testing.T) {
	st := library(t)
	source := begin()
	run, step := source.open()
	source.add(event.UserMessage{Text: "q"})
	source.reply(step, "", event.ToolCall{ID: "c1", Name: "Bash", Args: args(`{}`)})
	fork := &script{events: append([]store.NewEvent{}, source.events...)}
	boundary := int64(len(fork.events))
	fork.add(event.SessionForked{From: session, Boundary: boundary})
	fork.add(event.ToolCall{ID: "c1", Name: "Bash", Args: args(`{}`)})
	fork.add(event.ToolResult{ID: "c1", Error: ptr("not run: the session was forked")})
	fork.add(event.StepEnd{N: 1})
	fork.add(event.TurnEnd{Status: event.Cancelled, Cause: event.CauseForked})
	own, _ := fork.open()

	from := source.write(t, st, "source")
	defer from.Close()
	log := fork.write(t, st, "fork")
	defer log.Close()
	frames := fold(behind(t, log, -1), read(t, log, 0))
	like(t, lines(frames),
		`{"type":"run.entry","payload":{"run_id":"",…"kind":"item",…"run_id":"`+run+`",…}`, // tool/call
		`{"type":"run.entry","payload":{"run_id":"",…"kind":"item",…"run_id":"`+run+`",…}`, // tool/result
		`{"type":"run.entry","payload":{"run_id":"",…"kind":"annotation",…"run_id":"`+run+`",…}`,
		`{"type":"run.started","seq":10,"payload":{"run_id":"`+own+`","session_id":"fork"}}`,
		`{"type":"run.agent_start","seq":11,…}`)
	if _, err := project.Find(context.Background(), log, run); err == nil {
		t.Errorf("the fork has the copied run %s", run)
	}
	if r, err := project.Find(context.Background(), from, run); err != nil || r.First != 1 || r.Last != 4 || r.End != "" {
		t.Errorf("the source's run: %+v, %v", r, err)
	}
	copied, original := history(t, log), history(t, from)
	for i := range original { // created_at is the store's; what differs must be no more
		if cut(copied[i]) != cut(original[i]) {
			t.Errorf("copy     %s\noriginal %s", copied[i], original[i])
		}
	}
}

// cut leaves the time out of an entry.
func cut(entry string) string {
	head, rest, _ := strings.Cut(entry, `"created_at":"`)
	return head + rest[len(`2026-08-18T04:10:00.123456Z`):]
}

// history is every entry of a log, made as a page of history is: from the structural
// events alone.
func history(t fatal, log *store.Log) (out []string) {
	t.Helper()
	tip, _ := log.Tip()
	events, err := log.Structural(context.Background(), 0, tip)
	if err != nil {
		t.Fatal(err)
	}
	var trail project.Trail
	for _, ev := range events {
		if at, ok := trail.Next(ev); ok {
			line, _ := project.Entry(ev, at, protocol.View{OnPath: true})
			out = append(out, string(line))
		}
	}
	return out
}
