package project_test

import (
	"strings"
	"testing"

	"hitchpost/server/project"
	"hitchpost/turn/event"
)

func TestATurnStartMakesRunStarted(t *testing.T) {
	s := begin()
	s.add(event.TurnStart{Agent: "default"})
	like(t, s.last(), `{"type":"run.started","seq":1,"payload":{"run_id":"0000000000000001","session_id":"s1"}}`)
}

func TestTheFirstStepOfARunNamesItsAgent(t *testing.T) {
	s := begin()
	s.add(event.TurnStart{Agent: "scout"})
	s.add(event.StepStart{N: 1, Model: "demo/guide"})
	like(t, s.last(), `{"type":"run.agent_start","seq":2,"payload":{"run_id":"0000000000000001","agent_name":"scout"}}`)
}

func TestALaterStepMakesNoFrame(t *testing.T) {
	s := begin()
	s.open()
	s.add(event.StepStart{N: 2, Model: "demo/guide"})
	like(t, s.last())
}

// guarantee 7
func TestATextChunkNamesTheMessageToCome(t *testing.T) {
	s := begin()
	_, step := s.open()
	s.add(event.AssistantChunk{Text: "<22°C> & \"fine\""})
	like(t, s.last(), `{"type":"run.delta","seq":3,"payload":{"run_id":"0000000000000001","entry_id":"`+
		event.MessageID(step)+`","field":"text","delta":"<22°C> & \"fine\""}}`)
}

// guarantee 7
func TestAReasoningChunkNamesTheReasoningToCome(t *testing.T) {
	s := begin()
	_, step := s.open()
	s.add(event.ReasoningChunk{Text: "hm"})
	like(t, s.last(), `{"type":"run.delta","seq":3,"payload":{"run_id":"0000000000000001","entry_id":"`+
		event.ReasoningID(step)+`","field":"reasoning","delta":"hm"}}`)
}

// guarantee 7
func TestProgressNamesTheEntryOfItsCall(t *testing.T) {
	s := begin()
	_, step := s.open()
	s.reply(step, "", event.ToolCall{ID: "c1", Name: "Bash", Args: args(`{}`)})
	call := s.add(event.ToolCall{ID: "c1", Name: "Bash", Args: args(`{}`)})
	s.add(event.ToolProgress{ID: "c1", Text: "line\n"})
	like(t, s.last(), `{"type":"run.delta","seq":5,"payload":{"run_id":"0000000000000001","entry_id":"`+
		call+`","field":"tool_output","delta":"line\n"}}`)
}

func TestACallIDOfAnEarlierRunIsNotTakenForThisRunsCall(t *testing.T) {
	s := begin()
	s.open()
	s.add(event.ToolCall{ID: "c1", Name: "Bash", Args: args(`{}`)})
	s.add(event.TurnEnd{Status: event.Completed})
	s.open()
	s.add(event.ToolProgress{ID: "c1", Text: "whose?"})
	like(t, s.last())
	call := s.add(event.ToolCall{ID: "c1", Name: "Bash", Args: args(`{}`)})
	s.add(event.ToolProgress{ID: "c1", Text: "mine"})
	like(t, s.last(), `{"type":"run.delta",…"entry_id":"`+call+`","field":"tool_output","delta":"mine"}}`)
}

func TestAChunkWithoutAStepMakesNoDelta(t *testing.T) {
	s := begin()
	s.add(event.TurnStart{Agent: "default"})
	s.add(event.AssistantChunk{Text: "early"})
	like(t, s.last())
	s.add(event.StepStart{N: 1, Model: "demo/guide"})
	s.add(event.StepEnd{N: 1})
	s.add(event.AssistantChunk{Text: "late"})
	like(t, s.last())
}

// guarantee 5
func TestAnEntryInARunIsNumberedWithItsEvent(t *testing.T) {
	s := begin()
	s.open()
	s.add(event.UserMessage{Text: "hello"})
	like(t, s.last(), `{"type":"run.entry","seq":3,"payload":{"run_id":"0000000000000001","session_id":"s1","entry":{"id":"0000000000000003","seq":3,…,"on_path":true,"compacted":false}}}`)
}

// guarantee 3
func TestAnEntryOutsideARunHasNoRunAndNoSeq(t *testing.T) {
	s := begin()
	s.add(event.SessionCompacted{UptoSeq: 0, Summary: "so far"})
	like(t, s.last(), `{"type":"run.entry","payload":{"run_id":"","session_id":"s1","entry":{…,"run_id":"",…}}}`)
}

// guarantee 3
func TestACompactionInAnOpenRunIsAnEntryOfThatRun(t *testing.T) {
	s := begin()
	s.open()
	s.add(event.SessionCompacted{UptoSeq: 0, Summary: "so far"})
	like(t, s.last(), `{"type":"run.entry","seq":3,"payload":{"run_id":"0000000000000001","session_id":"s1","entry":{…}}}`)
}

func TestStandingCallsAreListedInOrderOfAskingWithTheirArgumentsAsJSONText(t *testing.T) {
	s := parked("c2", "c1")
	like(t, s.last(), `{"type":"run.interrupted","seq":6,"payload":{"run_id":"0000000000000001","pending":[`+
		`{"tool_call_id":"c2","tool_name":"Bash","arguments":"{\"n\":1.0,\"big\":12345678901234567890}"},`+
		`{"tool_call_id":"c1","tool_name":"Bash","arguments":"{\"n\":1.0,\"big\":12345678901234567890}"}]}}`)
}

// parked is a run whose calls all wait for a verdict, asked for in the order given.
func parked(calls ...string) *script {
	s := begin()
	s.open()
	for _, c := range calls {
		s.add(event.ToolCall{ID: c, Name: "Bash", Args: args(`{"n":1.0,"big":12345678901234567890}`)})
	}
	for _, c := range calls {
		s.add(event.ApprovalRequested{CallID: c, Name: "Bash", Args: args(`{"n":1.0,"big":12345678901234567890}`)})
	}
	return s
}

func TestAVerdictWithOthersStandingListsTheOthers(t *testing.T) {
	s := parked("c1", "c2")
	s.add(event.ApprovalResolved{CallID: "c1", Verdict: event.Approved})
	like(t, s.last(), `{"type":"run.interrupted","seq":7,"payload":{"run_id":"0000000000000001","pending":[{"tool_call_id":"c2",…}]}}`)
}

func TestTheLastVerdictResumesTheRunWhateverItSays(t *testing.T) {
	for _, verdict := range []event.ApprovalResolved{
		{CallID: "c1", Verdict: event.Approved},
		{CallID: "c1", Verdict: event.Denied, Reason: ptr("no")},
		{CallID: "c1", Verdict: event.Denied, Cause: event.CauseExpired},
	} {
		s := parked("c1")
		s.add(verdict)
		like(t, s.last(), `{"type":"run.started","seq":5,"payload":{"run_id":"0000000000000001","session_id":"s1","resumed":true}}`)
	}
}

func TestADenialThatACancelMadeSaysNothing(t *testing.T) {
	for _, cause := range []string{event.CauseCancelled, event.CauseSuperseded} {
		s := parked("c1", "c2")
		s.add(event.ApprovalResolved{CallID: "c1", Verdict: event.Denied, Cause: cause})
		like(t, s.last())
		s.add(event.ApprovalResolved{CallID: "c2", Verdict: event.Denied, Cause: cause})
		like(t, s.last())
		s.add(event.ToolResult{ID: "c1", Error: ptr("Bash denied: cancelled")})
		like(t, s.last(), `{"type":"run.entry","seq":9,…}`)
	}
}

func TestAVerdictOnNothingSaysNothing(t *testing.T) {
	s := parked("c1")
	s.add(event.ApprovalResolved{CallID: "c9", Verdict: event.Approved})
	like(t, s.last())
}

func TestAResultThatEndsAStandingCallTellsWhatStands(t *testing.T) {
	s := parked("c1", "c2")
	s.add(event.ToolResult{ID: "c1", Content: args(`"ran"`)})
	like(t, s.last(),
		`{"type":"run.entry","payload":{"run_id":"0000000000000001",…}}`,
		`{"type":"run.interrupted","seq":7,"payload":{"run_id":"0000000000000001","pending":[{"tool_call_id":"c2",…}]}}`)
	s.add(event.ToolResult{ID: "c2", Content: args(`"ran"`)})
	like(t, s.last(),
		`{"type":"run.entry","payload":{"run_id":"0000000000000001",…}}`,
		`{"type":"run.started","seq":8,"payload":{"run_id":"0000000000000001","session_id":"s1","resumed":true}}`)
}

func TestAListThatWasSentIsNotChangedByALaterVerdict(t *testing.T) {
	p, log := project.New(session), parked("c1", "c2", "c3").log()
	frames := fold(p, log)
	sent := string(frames[len(frames)-1].Line)
	s := parked("c1", "c2", "c3")
	s.add(event.ApprovalResolved{CallID: "c1", Verdict: event.Approved})
	p.Next(s.log()[len(log)])
	if got := string(frames[len(frames)-1].Line); got != sent || !strings.Contains(got, `"c1"`) {
		t.Errorf("was %s, is %s", sent, got)
	}
}

func TestADiagnosticOfARunPassesThrough(t *testing.T) {
	s := begin()
	s.open()
	s.add(event.Diagnostic{Type: "retry", Code: event.CodeProvider, Message: "503", Details: args(`{"attempt":2}`)})
	like(t, s.last(), `{"type":"run.diagnostic","seq":3,"payload":{"run_id":"0000000000000001","type":"retry","code":"provider_error","message":"503","details":{"attempt":2}}}`)
	s.add(event.Diagnostic{Type: "fallback"})
	like(t, s.last(), `{"type":"run.diagnostic","seq":4,"payload":{"run_id":"0000000000000001","type":"fallback"}}`)
}

func TestARunThatEndsByItselfPutsOutItsLastAnswer(t *testing.T) {
	s := begin()
	_, step := s.open()
	s.reply(step, "first", event.ToolCall{ID: "c1", Name: "Read", Args: args(`{}`)})
	step = s.add(event.StepStart{N: 2, Model: "demo/guide"})
	s.reply(step, "second")
	s.add(event.TurnEnd{Status: event.Completed})
	like(t, s.last(), `{"type":"run.output","seq":6,"payload":{"run_id":"0000000000000001","final_output":"second"}}`)
}

func TestARunWithoutAnAnswerPutsOutNothing(t *testing.T) {
	for _, status := range []event.Status{event.Completed, event.Empty} {
		s := begin()
		_, step := s.open()
		s.reply(step, "of an earlier run")
		s.add(event.TurnEnd{Status: event.Completed})
		s.add(event.TurnStart{Agent: "default"})
		s.add(event.TurnEnd{Status: status})
		like(t, s.last(), `{"type":"run.output","seq":6,"payload":{"run_id":"0000000000000005","final_output":""}}`)
	}
}

func TestARunThatFailsOrIsRejectedEndsWithItsAnnotationAndItsError(t *testing.T) {
	for _, status := range []event.Status{event.Failed, event.Rejected} {
		s := begin()
		s.add(event.TurnStart{Agent: "default"})
		s.add(event.TurnEnd{Status: status, Error: &event.Error{Code: event.CodeProvider, Message: "HTTP 500"}})
		like(t, s.last(),
			`{"type":"run.entry","payload":{"run_id":"0000000000000001",…"payload":{"code":"provider_error","message":"HTTP 500"},…}}`,
			`{"type":"run.error","seq":2,"payload":{"run_id":"0000000000000001","code":"provider_error","message":"HTTP 500"}}`)
	}
}

func TestARunThatIsCancelledSaysWhy(t *testing.T) {
	for _, c := range []struct {
		end  event.TurnEnd
		says string
	}{
		{event.TurnEnd{Status: event.Cancelled}, `"reason":"stopped"`},
		{event.TurnEnd{Status: event.Cancelled, Reason: ptr("enough")}, `"reason":"stopped","message":"enough"`},
		{event.TurnEnd{Status: event.Cancelled, Reason: ptr("")}, `"reason":"stopped","message":""`},
		{event.TurnEnd{Status: event.Cancelled, Cause: event.CauseSuperseded}, `"reason":"superseded"`},
		{event.TurnEnd{Status: event.Cancelled, Cause: "of a later version"}, `"reason":"stopped"`},
	} {
		s := begin()
		s.add(event.TurnStart{Agent: "default"})
		s.add(c.end)
		like(t, s.last(),
			`{"type":"run.entry","payload":{"run_id":"0000000000000001",…"payload":{`+c.says+`},"run_id":"0000000000000001","created_at":"2026-08-18T04:10:02.123456Z","on_path":true,"compacted":false}}}`,
			`{"type":"run.cancelled","seq":2,"payload":{"run_id":"0000000000000001",`+c.says+`}}`)
	}
}

// guarantee 4
func TestAnEndOfAnUnknownKindStillEndsTheRun(t *testing.T) {
	s := begin()
	s.add(event.TurnStart{Agent: "default"})
	s.raw(s.next(), "turn/end", `{"status":"evaporated"}`)
	like(t, s.last(), `{"type":"run.entry",…}`,
		`{"type":"run.error","seq":2,"payload":{"run_id":"0000000000000001","code":"unknown","message":"the log gives no reason"}}`)
}

// guarantee 9
func TestAnUnknownEventTypeMakesNoFrame(t *testing.T) {
	s := begin()
	s.open()
	s.raw(s.next(), "weather/changed", `{"text":"rain"}`)
	like(t, s.last())
}

func TestBookkeepingMakesNoFrame(t *testing.T) {
	s := begin()
	s.open()
	for _, p := range []event.Payload{
		event.PolicyUpdated{Patterns: []string{"*"}}, event.ModelUpdated{Role: "main", Model: "demo/guide"},
		event.SessionTitled{Title: "t"}, event.StepEnd{N: 1},
	} {
		s.add(p)
		like(t, s.last())
	}
}

func TestTitlesAndBranchesAreBroadcastUnnumbered(t *testing.T) {
	s := begin()
	s.add(event.SessionTitled{Title: "Trip"})
	s.add(event.SessionBranched{To: "0000000000000003", Previous: "0000000000000007"})
	s.add(event.PolicyUpdated{})
	var got []project.Frame
	for _, ev := range s.log() {
		if f, ok := project.Broadcast(session, ev); ok {
			got = append(got, f)
		}
	}
	like(t, lines(got),
		`{"type":"session.title_updated","payload":{"session_id":"s1","title":"Trip"}}`,
		`{"type":"session.branched","payload":{"session_id":"s1","leaf":"0000000000000003","previous":"0000000000000007"}}`)
}

// guarantee 4
func TestAConnectionThatBeginsBehindTheStartGetsTheStartAsItWas(t *testing.T) {
	s := parked("c1")
	p := project.New(session)
	if f, ok := p.Started(); ok {
		t.Errorf("no run is open: %s", f.Line)
	}
	if f, ok := p.Resumed(); ok {
		t.Errorf("no run is open: %s", f.Line)
	}
	frames := fold(p, s.log())
	started, _ := p.Started()
	resumed, _ := p.Resumed()
	like(t, lines([]project.Frame{started, resumed}), string(frames[0].Line),
		`{"type":"run.started","payload":{"run_id":"0000000000000001","session_id":"s1","resumed":true}}`)
	if run, first, ok := p.Run(); run != frames[0].Run || first != started.Seq || !ok {
		t.Errorf("open run %q from seq %d, %v", run, first, ok)
	}
}
