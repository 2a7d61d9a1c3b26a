package project

import (
	"bytes"
	"slices"

	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn/event"
)

// Frame is one frame of the run wire.
type Frame struct {
	Type protocol.ServerType
	Run  string // the run it belongs to; "" outside a run
	Seq  int64  // the cursor it carries; 0 when it is unnumbered
	Line []byte // the frame as it is sent: one line of JSON
}

// Terminal tells whether the frame ends its run.
func (f Frame) Terminal() bool { return f.Seq != 0 && f.Type.Terminal() }

// Projector folds the events of one session, in the order of the log, into frames.
type Projector struct {
	session string
	base    base
	trail   Trail
	run     run // zero between runs, and in a turn that a fork copied

	// Share is asked for the frames of an event that are large, and may return those that
	// another projector of the log has made; nil: each makes its own. The frames are a
	// function of the log, so they are the same.
	Share func(seq int64, build func() []Frame) []Frame
}

// large is how many bytes an event, or an answer, has at least for its frames to be shared.
const large = 64 << 10

// base is what a projector must know of the log and does not fold: none of it changes
// once anybody can read the log.
type base struct {
	copied  int64           // events below this seq are a fork's copies
	foreign map[string]bool // ids of the steps whose message is not under the id of the step
}

// run is the open run.
type run struct {
	id        string
	seq       int64
	agent     string
	message   string                 // id of the message that streams; "" when deltas have no entry
	reasoning string                 // id of its reasoning, likewise
	calls     map[string]string      // call id → id of its newest tool/call
	pending   []protocol.PendingCall // standing calls, in order of asking
	answer    []byte                 // payload of the last answer: a large one is the log's, so it is shared
}

// New returns a projector at the beginning of a session that is no fork.
func New(session string) *Projector { return &Projector{session: session} }

// Next folds an event and returns the frames it makes, in order.
func (p *Projector) Next(ev store.Event) []Frame {
	at, isEntry := p.trail.Next(ev)
	if ev.Seq < p.base.copied {
		return nil
	}
	var more protocol.ServerPayload
	size, ends := len(ev.Line), event.Type(ev.Type) == event.TurnEndType
	switch {
	case event.Type(ev.Type) == event.TurnStartType:
		p.run = run{id: ev.ID, seq: ev.Seq, agent: body[event.TurnStart](ev).Agent, calls: map[string]string{}}
		more = p.started(false)
	case ends: // below: its frame has the answer, which is expensive when large
		size += len(p.run.answer)
	case p.run.id != "":
		more = p.lifecycle(ev)
	}
	frames := p.sized(size, ev, at, isEntry, more)
	if ends {
		p.run = run{}
	}
	return frames
}

// sized makes the frames of an event, or has large ones shared.
func (p *Projector) sized(size int, ev store.Event, at Place, isEntry bool, more protocol.ServerPayload) []Frame {
	if p.Share == nil || size < large {
		return p.frames(ev, at, isEntry, more)
	}
	return p.Share(ev.Seq, func() []Frame { return p.frames(ev, at, isEntry, more) })
}

// frames makes the frames of an event: its entry, and more, which the fold says of it.
func (p *Projector) frames(ev store.Event, at Place, isEntry bool, more protocol.ServerPayload) []Frame {
	var payloads []protocol.ServerPayload
	if isEntry {
		line, _ := Entry(ev, at, onPath)
		payloads = append(payloads, protocol.RunEntry{RunID: p.run.id, SessionID: p.session, Entry: line})
	}
	if event.Type(ev.Type) == event.TurnEndType && p.run.id != "" {
		more = p.terminal(body[event.TurnEnd](ev))
	}
	if more != nil {
		payloads = append(payloads, more)
	}
	return p.group(ev.Seq, payloads)
}

// group makes frames of what one event says. Only the last is numbered.
func (p *Projector) group(seq int64, payloads []protocol.ServerPayload) []Frame {
	if len(payloads) == 0 {
		return nil
	}
	frames := make([]Frame, len(payloads))
	for i, payload := range payloads {
		f := Frame{Type: payload.ServerType(), Run: p.run.id}
		if f.Run != "" && i == len(payloads)-1 {
			f.Seq = seq
		}
		f.Line = protocol.Encode(payload, f.Seq)
		frames[i] = f
	}
	return frames
}

// lifecycle folds an event of the open run and returns what it says beside its entry,
// nil for nothing.
func (p *Projector) lifecycle(ev store.Event) protocol.ServerPayload {
	switch event.Type(ev.Type) {
	case event.StepStartType:
		return p.stepStarted(ev)
	case event.AssistantChunkType:
		return p.delta(p.run.message, protocol.FieldText, body[event.AssistantChunk](ev).Text)
	case event.ReasoningChunkType:
		return p.delta(p.run.reasoning, protocol.FieldReasoning, body[event.ReasoningChunk](ev).Text)
	case event.ToolProgressType:
		progress := body[event.ToolProgress](ev)
		return p.delta(p.run.calls[progress.ID], protocol.FieldToolOutput, progress.Text)
	case event.AssistantMessageType:
		p.run.streams("", "")
		if p.run.answer = ev.Payload; len(ev.Payload) < large {
			p.run.answer = bytes.Clone(ev.Payload) // not a whole page for a piece of it
		}
	case event.StepEndType:
		p.run.streams("", "")
	case event.ToolCallType:
		p.run.calls[body[event.ToolCall](ev).ID] = ev.ID
	case event.ApprovalRequestedType:
		asked := body[event.ApprovalRequested](ev)
		p.run.pending = append(p.run.pending, protocol.PendingCall{
			ToolCallID: asked.CallID, ToolName: asked.Name, Arguments: string(asked.Args),
		})
		return p.standing()
	case event.ApprovalResolvedType:
		return p.resolved(body[event.ApprovalResolved](ev))
	case event.ToolResultType:
		if p.run.settle(body[event.ToolResult](ev).ID) { // nobody decided: approvals were switched off
			return p.standing()
		}
	case event.DiagnosticType:
		d := body[event.Diagnostic](ev)
		return protocol.RunDiagnostic{RunID: p.run.id, Type: d.Type, Code: d.Code, Message: d.Message, Details: d.Details}
	}
	return nil
}

func (p *Projector) stepStarted(ev store.Event) protocol.ServerPayload {
	if p.base.foreign[ev.ID] {
		p.run.streams("", "")
	} else {
		p.run.streams(event.MessageID(ev.ID), event.ReasoningID(ev.ID))
	}
	if body[event.StepStart](ev).N != 1 {
		return nil
	}
	return protocol.RunAgentStart{RunID: p.run.id, AgentName: p.run.agent}
}

func (p *Projector) delta(entry string, field protocol.Field, text string) protocol.ServerPayload {
	if entry == "" || text == "" {
		return nil
	}
	return protocol.RunDelta{RunID: p.run.id, EntryID: entry, Field: field, Delta: text}
}

func (p *Projector) started(resumed bool) protocol.RunStarted {
	return protocol.RunStarted{RunID: p.run.id, SessionID: p.session, Resumed: resumed}
}

// standing says what waits for a verdict now, or that the run goes on.
func (p *Projector) standing() protocol.ServerPayload {
	if len(p.run.pending) == 0 {
		return p.started(true)
	}
	return protocol.RunInterrupted{RunID: p.run.id, Pending: p.run.pending}
}

func (p *Projector) resolved(verdict event.ApprovalResolved) protocol.ServerPayload {
	if !p.run.decide(verdict.CallID) {
		return nil
	}
	if verdict.Cause == event.CauseCancelled || verdict.Cause == event.CauseSuperseded {
		return nil // the end follows
	}
	return p.standing()
}

func (p *Projector) terminal(end event.TurnEnd) protocol.ServerPayload {
	switch end.Status {
	case event.Completed, event.Empty:
		var output string
		if p.run.answer != nil {
			output = text(body[event.AssistantMessage](store.Event{Payload: p.run.answer}))
		}
		return protocol.RunOutput{RunID: p.run.id, FinalOutput: output}
	case event.Cancelled:
		c := cancellation(end)
		return protocol.RunCancelled{RunID: p.run.id, Reason: c.Reason, Message: c.Message}
	}
	f := failure(end)
	return protocol.RunError{RunID: p.run.id, Code: f.Code, Message: f.Message}
}

// streams sets the entries that text and reasoning belong to from here on.
func (r *run) streams(message, reasoning string) { r.message, r.reasoning = message, reasoning }

// decide takes the oldest standing request of a call away; false when there is none.
func (r *run) decide(call string) bool {
	for i, c := range r.pending {
		if c.ToolCallID == call {
			r.pending = slices.Delete(r.pending, i, i+1)
			return true
		}
	}
	return false
}

// settle takes every standing request of a call away, since it has a result.
func (r *run) settle(call string) (any bool) {
	for r.decide(call) {
		any = true
	}
	return any
}
