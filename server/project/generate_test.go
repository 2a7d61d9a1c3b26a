package project_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"hitchpost/turn/event"
)

// life writes random logs of the shapes that our loop writes: parallel calls, approvals,
// crashes and resumes, cancels, compactions, branches, forks.
type life struct {
	*script
	t       *rapid.T
	foreign bool // ids of messages as another program made them
	entries []string
}

func (l *life) chance(percent int, of string) bool { return l.upto(99, of) < percent }

func (l *life) upto(n int, of string) int { return rapid.IntRange(0, n).Draw(l.t, of) }

func (l *life) text() string {
	return rapid.SampledFrom([]string{"a", "b<c", "ü", "\n", "\u2028", "\x00", "long long text"}).Draw(l.t, "text")
}

// add notes what could be branched to.
func (l *life) add(p event.Payload) string {
	id := l.script.add(p)
	switch p.(type) {
	case event.UserMessage, event.ContextInjected, event.ToolResult, event.SessionCompacted:
		l.entries = append(l.entries, id)
	}
	return id
}

func (l *life) message(id string, p event.Payload) {
	if l.foreign {
		id = l.next()
	}
	l.entries = append(l.entries, l.addAs(id, p))
}

// lived is a whole log; its last turn may be open.
func lived(t *rapid.T) *script {
	l := &life{script: begin(), t: t, foreign: rapid.Bool().Draw(t, "imported")}
	turns := l.upto(4, "turns")
	for i := range turns {
		l.between()
		l.turn(i == turns-1)
		l.foreign = false // what comes later is ours
	}
	if l.chance(30, "fork") {
		l.fork()
	}
	l.between()
	return l.script
}

// between is what happens while no turn is open.
func (l *life) between() {
	if l.open() {
		return
	}
	if l.chance(30, "compaction") {
		l.add(event.SessionCompacted{UptoSeq: int64(len(l.events) - 1), Summary: l.text()})
	}
	if len(l.entries) > 0 && l.chance(40, "branch") {
		to := rapid.SampledFrom(append([]string{""}, l.entries...)).Draw(l.t, "to")
		l.add(event.SessionBranched{To: to, Previous: l.entries[len(l.entries)-1]})
	}
	l.aside()
}

func (l *life) open() bool {
	for _, e := range slices.Backward(l.events) {
		switch event.Type(e.Type) {
		case event.TurnEndType:
			return false
		case event.TurnStartType:
			return true
		}
	}
	return false
}

// aside is what can happen anywhere.
func (l *life) aside() {
	switch l.upto(12, "aside") {
	case 0:
		l.add(event.SessionTitled{Title: l.text()})
	case 1:
		l.add(event.PolicyUpdated{Patterns: []string{"*"}})
	case 2:
		l.add(event.Diagnostic{Type: "retry", Message: l.text()})
	case 3:
		l.raw(l.next(), "future/thing", `{"text":"?"}`)
	case 4:
		if l.open() {
			l.add(event.SessionCompacted{Summary: l.text()})
		}
	}
}

func (l *life) turn(last bool) {
	l.add(event.TurnStart{Agent: "default"})
	steps := l.upto(3, "steps")
	for n := 1; n <= steps; n++ {
		step := l.add(event.StepStart{N: n, Model: "demo/guide"})
		for range l.upto(2, "texts") {
			l.add(event.ContextInjected{Text: l.text()})
		}
		if n == 1 {
			l.add(event.UserMessage{Text: l.text()})
		}
		if !l.step(step) {
			break
		}
		l.add(event.StepEnd{N: n})
	}
	if last && l.chance(40, "left open") {
		return
	}
	l.add(event.TurnEnd{
		Status: rapid.SampledFrom([]event.Status{event.Completed, event.Completed, event.Failed, event.Cancelled, event.Rejected, event.Empty}).Draw(l.t, "status"),
		Cause:  rapid.SampledFrom([]string{"", event.CauseSuperseded}).Draw(l.t, "cause"),
	})
}

// step streams an answer and runs its calls; it returns false when the turn cannot go on.
func (l *life) step(step string) bool {
	var text, thought string
	for range l.upto(5, "chunks") {
		piece := l.text()
		if l.chance(30, "reasoning") {
			thought += piece
			l.add(event.ReasoningChunk{Text: piece})
		} else {
			text += piece
			l.add(event.AssistantChunk{Text: piece})
		}
		l.aside()
	}
	if l.chance(20, "crash") {
		if thought != "" {
			l.message(event.ReasoningID(step), event.Interrupted{Text: thought, Field: event.FieldReasoning})
		}
		if text != "" {
			l.message(event.MessageID(step), event.Interrupted{Text: text})
		}
		return l.chance(70, "resumed")
	}
	if thought != "" {
		l.message(event.ReasoningID(step), event.Reasoning{Text: thought})
	}
	var calls []event.ToolCall
	for i := range l.upto(3, "calls") {
		calls = append(calls, event.ToolCall{ID: fmt.Sprintf("c%d", i), Name: "Bash", Args: args(`{"n":1.0}`)})
	}
	parts := []event.Part{{Type: event.PartText, Text: text}}
	for _, c := range calls {
		parts = append(parts, event.Part{Type: event.PartToolCall, ID: c.ID, Name: c.Name, Args: c.Args})
	}
	l.message(event.MessageID(step), event.AssistantMessage{Parts: parts, Partial: l.chance(10, "cut")})
	return l.calls(calls)
}

// calls runs a batch: all at once, some after a verdict, results in call order.
func (l *life) calls(calls []event.ToolCall) bool {
	var standing []string
	for _, c := range calls {
		l.entries = append(l.entries, l.add(c))
		if l.chance(40, "asks") {
			l.add(event.ApprovalRequested{CallID: c.ID, Name: c.Name, Args: c.Args})
			standing = append(standing, c.ID)
		}
		if l.chance(40, "progress") {
			l.add(event.ToolProgress{ID: c.ID, Text: l.text()})
		}
	}
	cancelled := l.chance(20, "cancelled")
	for len(standing) > 0 {
		i := l.upto(len(standing)-1, "which")
		verdict := event.ApprovalResolved{CallID: standing[i], Verdict: event.Approved}
		if cancelled {
			verdict.Verdict, verdict.Cause = event.Denied, event.CauseCancelled
		}
		if !l.chance(10, "approvals off") {
			l.add(verdict)
		}
		standing = slices.Delete(standing, i, i+1)
		if l.chance(10, "left parked") {
			return false
		}
	}
	for _, c := range calls {
		l.add(event.ToolResult{ID: c.ID, Content: args(`"ok"`)})
	}
	return !cancelled
}

// fork makes of the log so far the fork of a prefix of it, its cut turn closed.
func (l *life) fork() {
	l.events = l.events[:1+l.upto(len(l.events)-1, "boundary")]
	cut := l.open()
	l.entries = nil
	l.add(event.SessionForked{From: session, Boundary: int64(len(l.events))})
	if cut {
		l.add(event.ToolResult{ID: "c0", Error: ptr("not run: the session was forked")})
		l.add(event.TurnEnd{Status: event.Cancelled, Cause: event.CauseForked})
	}
	l.turn(true)
}

// broken is a log of known and unknown events in any order, with payloads that may be
// another program's, or nobody's.
func broken(t *rapid.T) *script {
	s := begin()
	types := []event.Type{
		event.TurnStartType, event.StepStartType, event.UserMessageType, event.ContextInjectedType,
		event.AssistantChunkType, event.AssistantMessageType, event.ToolCallType, event.ToolResultType,
		event.StepEndType, event.TurnEndType, event.ApprovalRequestedType, event.ApprovalResolvedType,
		event.SessionCompactedType, event.SessionForkedType, event.ReasoningChunkType, event.ReasoningType,
		event.InterruptedType, event.ToolProgressType, event.SessionBranchedType, event.DiagnosticType,
		"future/thing",
	}
	payloads := []string{
		`{}`, `{"text":"a"}`, `{"text":7}`, `{"n":1,"model":null}`, `{"n":"1"}`, `{"id":"c1","name":"Bash","args":{}}`,
		`{"id":"c1","content":"x","error":null}`, `{"id":"c1","content":null,"error":null}`, `{"id":["c1"]}`,
		`{"call_id":"c1","name":"Bash","args":[1.0]}`, `{"call_id":"c1","verdict":"approved"}`, `{"call_id":"c1","cause":"cancelled"}`,
		`{"status":"completed"}`, `{"status":"failed"}`, `{"status":"cancelled","reason":7}`, `{"status":"?"}`, `{"status":null}`,
		`{"parts":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"image"}]}`, `{"parts":null}`, `{"parts":7}`,
		`{"to":"0000000000000001","previous":""}`, `{"to":7}`, `{"field":"reasoning","text":"a"}`, `{"summary":{"a":1}}`,
		`{"type":"x","code":7,"details":[1]}`, `{"display":7,"id":"c1"}`,
	}
	for range rapid.IntRange(0, 40).Draw(t, "events") {
		s.raw(s.next(), string(rapid.SampledFrom(types).Draw(t, "type")), rapid.SampledFrom(payloads).Draw(t, "payload"))
	}
	return s
}

// anyLog is a valid log or a broken one.
func anyLog(t *rapid.T) *script {
	if rapid.Bool().Draw(t, "broken") {
		return broken(t)
	}
	return lived(t)
}
