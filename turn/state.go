package turn

import (
	"encoding/json"
	"fmt"
	"time"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// state is what the log says of a session. Only apply changes it, for an event
// that was read after a restart as for one that was just decided, so a resumed
// turn is no second code path.
type state struct {
	next   int64             // the seq that the next event gets
	policy []string          // the last policy/updated; nil when there is none
	models map[string]string // role → provider/model, by model/updated
	titled bool              // it has a session/titled
	forked string            // the session that it was copied from; "" = none
	seen   int64             // seq of the newest event that changed what the model sees, of those applied since the state was read
	prompt int64             // prompt tokens of the newest reply of the newest turn; 0 when nobody told
	turn   *openTurn         // nil between turns
	failed *event.Error      // of the newest turn, when it failed or was rejected
	said   *time.Time        // when the newest text by a person was logged
	inbox  []store.Input     // texts that wait, in order of arrival
}

// openTurn is a turn/start with no turn/end after it.
type openTurn struct {
	id        string
	seq       int64
	agent     string                  // name of its definition
	replies   int                     // steps whose request was answered; they alone count for max_steps
	calls     map[string]bool         // every call id of the turn
	invalid   map[string]string       // call id → what came instead of arguments
	step      *step                   // the newest step; nil only between a turn/start and its first step/start
	compacted bool                    // a checkpoint was made while it was open
	marked    *event.ApprovalResolved // a denial that a cancel made: the turn ends cancelled, whatever happens meanwhile
}

// step is the newest step of the open turn.
type step struct {
	id          string
	seq         int64
	n           int
	model       string // provider/model
	replied     bool   // its assistant/message is in the log
	interrupted bool   // its lost text and reasoning, in one append, were put aside as assistant/interrupted
	ended       bool
	usage       *event.Usage
	calls       []*call
}

// call is one tool call of the newest step, in call order.
type call struct {
	event.ToolCall
	logged  bool                    // its tool/call is in the log
	settled bool                    // its tool/result is in the log
	stray   bool                    // when a resume began, it may have started
	asked   *time.Time              // when its approval/requested was logged
	verdict *event.ApprovalResolved // nil until somebody decided
}

// stands tells whether the call waits for a verdict.
func (c *call) stands() bool { return c.asked != nil && c.verdict == nil && !c.settled }

func (c *call) denied() bool { return c.verdict != nil && c.verdict.Verdict == event.Denied }

// owed returns the calls of the step that have no result yet.
func (s *step) owed() []*call {
	for i, c := range s.calls {
		if !c.settled {
			return s.calls[i:]
		}
	}
	return nil
}

// foldedTypes are the types that apply knows how to read back.
var foldedTypes = []string{
	string(event.TurnStartType), string(event.StepStartType), string(event.AssistantMessageType),
	string(event.InterruptedType), string(event.ToolCallType), string(event.ToolResultType),
	string(event.StepEndType), string(event.TurnEndType), string(event.DiagnosticType),
	string(event.ApprovalRequestedType), string(event.ApprovalResolvedType), string(event.SessionCompactedType),
}

// apply folds one event into the state.
func (s *state) apply(seq int64, id string, at time.Time, p event.Payload) {
	s.next = seq + 1
	if p.EventType().Visible() {
		s.seen = seq
	}
	switch p := p.(type) {
	case event.PolicyUpdated:
		s.policy = p.Patterns
	case event.ModelUpdated:
		if s.models == nil {
			s.models = map[string]string{}
		}
		s.models[p.Role] = p.Model
	case event.SessionTitled:
		s.titled = true
	case event.SessionForked:
		s.forked = p.From
	case event.TurnStart:
		s.prompt = 0
		s.failed = nil
		s.turn = &openTurn{id: id, seq: seq, agent: p.Agent, calls: map[string]bool{}, invalid: map[string]string{}}
	case event.TurnEnd:
		s.turn, s.failed = nil, p.Error
	case event.UserMessage, event.ContextInjected:
		s.said = &at
	default:
		if s.turn != nil {
			s.turn.apply(seq, id, at, p)
		}
	}
	if reply, ok := p.(event.AssistantMessage); ok && reply.Usage != nil && reply.Usage.PromptTokens != nil {
		s.prompt = *reply.Usage.PromptTokens
	}
}

func (t *openTurn) apply(seq int64, id string, at time.Time, p event.Payload) {
	switch p := p.(type) {
	case event.StepStart:
		t.step = &step{id: id, seq: seq, n: p.N, model: p.Model}
		return
	case event.SessionCompacted:
		t.compacted = true
		return
	case event.Diagnostic:
		if p.Type == diagnosticInvalidArguments {
			t.noteInvalid(p)
		}
		return
	}
	s := t.step
	if s == nil {
		return
	}
	switch p := p.(type) {
	case event.AssistantMessage:
		t.replies++
		s.replied, s.usage = true, p.Usage
		for _, part := range p.Parts {
			if part.Type == event.PartToolCall {
				t.calls[part.ID] = true
				s.calls = append(s.calls, &call{ToolCall: event.ToolCall{ID: part.ID, Name: part.Name, Args: part.Args}})
			}
		}
	case event.Interrupted:
		s.interrupted = true
	case event.ToolCall:
		if c := s.find(p.ID); c != nil {
			c.logged = true
		}
	case event.ToolResult:
		if c := s.find(p.ID); c != nil {
			c.settled = true
		}
	case event.ApprovalRequested:
		if c := s.find(p.CallID); c != nil {
			c.asked = &at
		}
	case event.ApprovalResolved:
		if c := s.find(p.CallID); c != nil && c.verdict == nil {
			c.verdict = &p
		}
		if p.Cause == event.CauseCancelled || p.Cause == event.CauseSuperseded {
			t.marked = &p
		}
	case event.StepEnd:
		s.ended = true
	}
}

func (s *step) find(id string) *call {
	for _, c := range s.calls {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// diagnosticInvalidArguments marks a call whose arguments were no JSON object. It
// stands in one append with the call's message, so that a crash between the two
// can never run the call with the {} that took the arguments' place.
const diagnosticInvalidArguments = "invalid_arguments"

type invalidArguments struct {
	CallID string `json:"call_id"`
}

func (t *openTurn) noteInvalid(d event.Diagnostic) {
	var details invalidArguments
	if json.Unmarshal(d.Details, &details) == nil {
		t.invalid[details.CallID] = d.Message
	}
}

// decode returns the typed payload of a stored event, nil for a type that the
// state is not made of.
func decode(ev store.Event) (event.Payload, error) {
	switch event.Type(ev.Type) {
	case event.TurnStartType:
		return as[event.TurnStart](ev)
	case event.TurnEndType:
		return as[event.TurnEnd](ev)
	case event.StepStartType:
		return as[event.StepStart](ev)
	case event.StepEndType:
		return as[event.StepEnd](ev)
	case event.AssistantMessageType:
		return as[event.AssistantMessage](ev)
	case event.InterruptedType:
		return as[event.Interrupted](ev)
	case event.ToolCallType:
		return as[event.ToolCall](ev)
	case event.ToolResultType:
		return as[event.ToolResult](ev)
	case event.ApprovalRequestedType:
		return as[event.ApprovalRequested](ev)
	case event.ApprovalResolvedType:
		return as[event.ApprovalResolved](ev)
	case event.SessionCompactedType:
		return as[event.SessionCompacted](ev)
	case event.DiagnosticType:
		return as[event.Diagnostic](ev)
	case event.PolicyUpdatedType:
		return as[event.PolicyUpdated](ev)
	case event.ModelUpdatedType:
		return as[event.ModelUpdated](ev)
	case event.SessionTitledType:
		return as[event.SessionTitled](ev)
	case event.SessionForkedType:
		return as[event.SessionForked](ev)
	}
	return nil, nil
}

func as[P event.Payload](ev store.Event) (event.Payload, error) {
	var p P
	if err := json.Unmarshal(ev.Payload, &p); err != nil {
		return nil, fmt.Errorf("seq %d: %w: %s: %w", ev.Seq, store.ErrDamaged, ev.Type, err)
	}
	return p, nil
}
