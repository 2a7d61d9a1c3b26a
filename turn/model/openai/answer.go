package openai

import (
	"encoding/json"
	"strings"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/model/httpstream"
	"hitchpost/turn/model/piece"
)

// answer is what has come of one answer.
type answer struct {
	emit func(model.Delta)

	text, reasoning, refusal piece.Text
	member                   string // the name that the reasoning came under
	details                  []json.RawMessage
	calls                    calls
	usage                    *event.Usage
	stop                     string // the finish reason
	done                     bool   // [DONE], or the end of an answer that is no stream
	choices                  bool   // at least one came
	kept                     int    // bytes
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

// End implements httpstream.Answer.
func (a *answer) End(marked bool) error {
	a.done = a.done || marked
	switch {
	case a.complete():
		return nil
	case a.done:
		return httpstream.Truncated("the provider's answer holds no choice")
	case !a.choices:
		return httpstream.Truncated("the provider's stream ended without an answer")
	}
	return httpstream.Truncated("the provider's stream ended before the answer was complete")
}

// Kept implements httpstream.Answer.
func (a *answer) Kept() int { return a.kept }

// Event implements httpstream.Answer.
func (a *answer) Event(name string, data []byte) (httpstream.Progress, error) {
	var c chunk
	err := piece.Decode(data, &c)
	if err != nil && name == "error" {
		found, _ := httpstream.ComplaintOf(data)
		return 0, found.Reported()
	}
	if err != nil {
		return 0, httpstream.Malformed(err)
	}
	for i := range c.Choices {
		if err := a.choice(&c.Choices[i]); err != nil {
			return 0, err
		}
	}
	if u := usageOf(&c.Usage); u != nil {
		a.usage = u // the last one wins
	}
	if found, ok := complaintIn(name, &c, data); ok {
		return 0, found.Reported()
	}
	if a.stop == "error" {
		return 0, httpstream.Complaint{}.Failure("the provider ended its answer with an error and did not say which")
	}
	if a.complete() {
		return httpstream.Tail, nil
	}
	return httpstream.More, nil
}

func (a *answer) choice(c *choice) error {
	if c.Index.Value != nil && *c.Index.Value != 0 {
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
			p.Index.Value = &at // each is a call of its own
		}
		kept, err := a.calls.add(p)
		if err != nil {
			return err
		}
		a.kept += kept
	}
	if len(thought) > 0 && a.member == "" {
		a.member = member
	}
	a.tell(model.Delta{Reasoning: a.reasoning.Add(thought)})
	a.tell(model.Delta{Text: a.text.Add(d.Content)})
	a.refusal.Add(d.Refusal)
	return nil
}

// tell emits a delta unless it is empty.
func (a *answer) tell(d model.Delta) {
	if d.Text != "" || d.Reasoning != "" {
		a.emit(d)
	}
}

// Reply implements httpstream.Answer.
func (a *answer) Reply() (model.Reply, error) {
	a.tell(model.Delta{Reasoning: a.reasoning.End()})
	a.tell(model.Delta{Text: a.text.End()})
	a.refusal.End()
	if why := a.refusal.String(); why != "" {
		return model.Reply{}, &model.Error{Code: event.CodeModelRefusal, Message: "the model refused: " + why}
	}
	if a.stop == "content_filter" {
		return model.Reply{}, &model.Error{Code: event.CodeModelRefusal, Message: "the provider's content filter stopped the answer"}
	}
	return model.Reply{
		Text:      a.text.String(),
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
	return &model.Reasoning{Text: a.reasoning.String(), Opaque: raw}
}

// usageOf is what was told, nil for nothing.
func usageOf(u *usage) *event.Usage {
	out := event.Usage{PromptTokens: u.PromptTokens.Count(), CompletionTokens: u.CompletionTokens.Count()}
	if u.Cost.Value != nil && *u.Cost.Value >= 0 {
		out.Cost = u.Cost.Value
	}
	if out == (event.Usage{}) {
		return nil
	}
	return &out
}
