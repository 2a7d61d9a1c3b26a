package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// answer is what has come of one answer.
type answer struct {
	emit    func(model.Delta)
	emitted bool // a delta of text or reasoning; nothing is tried again after it

	text, reasoning, refusal piecewise
	member                   string // the name that the reasoning came under
	details                  []json.RawMessage
	calls                    calls
	usage                    *event.Usage
	stop                     string // the finish reason
	done                     bool   // [DONE], or the end of an answer that is no stream
	choices                  bool   // at least one came
	kept                     int    // bytes
	hollow                   int    // events in a row that brought nothing
}

// piecewise is a text that comes in pieces.
type piecewise struct {
	runes
	all strings.Builder
}

func (p *piecewise) add(piece []byte) string {
	s := p.push(piece)
	p.all.WriteString(s)
	return s
}

func (p *piecewise) end() string {
	s := p.flush()
	p.all.WriteString(s)
	return s
}

func newAnswer(offered []model.Tool, emit func(model.Delta)) *answer {
	a := &answer{emit: emit, calls: calls{offered: make(map[string]bool, len(offered))}}
	for _, t := range offered {
		a.calls.offered[t.Name] = true
	}
	return a
}

// complete tells whether the provider said that this is all (guarantees 1 and 2).
func (a *answer) complete() bool { return a.choices && (a.stop != "" || a.done) }

// ending judges the end of the stream.
func (a *answer) ending() error {
	switch {
	case a.complete():
		return nil
	case a.done:
		return truncated("the provider's answer holds no choice")
	case !a.choices:
		return truncated("the provider's stream ended without an answer")
	}
	return truncated("the provider's stream ended before the answer was complete")
}

// event takes in the data of one event.
func (a *answer) event(name string, data []byte) error {
	c, err := decode(data)
	if err != nil && name == "error" {
		return complaint{message: plain(data)}.reported()
	}
	if err != nil {
		return malformed(err)
	}
	before := a.kept
	for i := range c.Choices {
		if err := a.choice(&c.Choices[i]); err != nil {
			return err
		}
	}
	if u := usageOf(&c.Usage); u != nil {
		a.usage = u // the last one wins
	}
	if found, ok := complaintIn(name, c, data); ok {
		return found.reported()
	}
	if a.stop == "error" {
		return complaint{}.failure("the provider ended its answer with an error and did not say which")
	}
	if a.hollow++; a.kept > before {
		a.hollow = 0
	}
	if a.hollow > maxHollow {
		return &model.Error{Code: event.CodeProvider, Message: fmt.Sprintf("the provider sent %d events in a row with nothing in them", maxHollow)}
	}
	return nil
}

func (a *answer) choice(c *choice) error {
	if c.Index.f != nil && *c.Index.f != 0 {
		return nil // one was asked for
	}
	whole := c.Delta == nil && c.Message != nil
	if whole && a.kept > 0 {
		c.Message = nil // the last chunk of some repeats the whole answer
	}
	a.choices = true
	if s := string(c.FinishReason); s != "" {
		a.stop = strings.ToValidUTF8(s, "\uFFFD")
	}
	switch {
	case c.Delta != nil:
		return a.delta(c.Delta, false)
	case c.Message != nil:
		return a.delta(c.Message, true)
	}
	return nil
}

// delta takes in a piece, or a whole message.
func (a *answer) delta(d *delta, whole bool) error {
	thought, member := d.ReasoningContent, memberContent
	if len(thought) == 0 {
		thought, member = d.Reasoning, memberReasoning // some send both, alike
	}
	a.kept += len(thought) + len(d.Content) + len(d.Refusal)
	for _, raw := range d.ReasoningDetails {
		a.kept += len(raw)
		a.details = append(a.details, raw)
	}
	for i := range d.ToolCalls {
		p := &d.ToolCalls[i]
		if whole {
			at := float64(i)
			p.Index.f = &at // each is a call of its own
		}
		kept, err := a.calls.add(p)
		if err != nil {
			return err
		}
		a.kept += kept
	}
	if a.kept > maxAnswer {
		return tooLong()
	}
	if len(thought) > 0 && a.member == "" {
		a.member = member
	}
	a.tell(model.Delta{Reasoning: a.reasoning.add(thought)})
	a.tell(model.Delta{Text: a.text.add(d.Content)})
	a.refusal.add(d.Refusal)
	return nil
}

// tell emits a delta unless it is empty.
func (a *answer) tell(d model.Delta) {
	if d.Text != "" || d.Reasoning != "" {
		a.emitted = true
		a.emit(d)
	}
}

// reply is the complete answer, or the refusal that it is.
func (a *answer) reply() (model.Reply, error) {
	a.tell(model.Delta{Reasoning: a.reasoning.end()})
	a.tell(model.Delta{Text: a.text.end()})
	a.refusal.end()
	if why := a.refusal.all.String(); why != "" {
		return model.Reply{}, &model.Error{Code: event.CodeModelRefusal, Message: "the model refused: " + why}
	}
	if a.stop == "content_filter" {
		return model.Reply{}, &model.Error{Code: event.CodeModelRefusal, Message: "the provider's content filter stopped the answer"}
	}
	return model.Reply{
		Text:      a.text.all.String(),
		Reasoning: a.thoughts(),
		Calls:     a.calls.finished(a.stop),
		Usage:     a.usage,
		Stop:      a.stop,
	}, nil
}

func (a *answer) thoughts() *model.Reasoning {
	if a.member == "" && a.details == nil {
		return nil
	}
	o := opaque{Member: a.member}
	if a.details != nil {
		o.Details, _ = json.Marshal(a.details) // each was valid JSON
	}
	raw, _ := json.Marshal(o)
	return &model.Reasoning{Text: a.reasoning.all.String(), Opaque: raw}
}

// usageOf is what was told, nil for nothing.
func usageOf(u *usage) *event.Usage {
	out := event.Usage{PromptTokens: u.PromptTokens.count(), CompletionTokens: u.CompletionTokens.count()}
	if u.Cost.f != nil && *u.Cost.f >= 0 {
		out.Cost = u.Cost.f
	}
	if out == (event.Usage{}) {
		return nil
	}
	return &out
}
