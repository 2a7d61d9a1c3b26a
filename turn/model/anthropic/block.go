package anthropic

import (
	"slices"
	"strings"

	"hitchpost/turn/model"
	"hitchpost/turn/model/piece"
)

// block is one content block of an answer.
type block struct {
	index int64 // the provider's
	kind  string

	text      piece.Text // of a text, or of thinking
	signature strings.Builder
	data      string // of redacted thinking

	id, name string
	input    []byte          // arguments that came with the start
	args     piece.Arguments // arguments that came in pieces
}

// begin starts a block, with all that its opening already holds.
func (a *answer) begin(o *opening, index piece.Number) (*block, error) {
	a.flush()
	if len(a.blocks) == maxBlocks {
		return nil, tooManyBlocks()
	}
	at := &block{kind: string(o.Type), index: int64(len(a.blocks)), id: string(o.ID), name: string(o.Name), data: string(o.Data), input: o.Input}
	if i := index.Count(); i != nil {
		at.index = *i
	}
	a.blocks = append(a.blocks, at)
	a.kept += len(o.ID) + len(o.Name) + len(o.Data) + len(o.Input)
	a.take(at, &delta{Text: o.Text, Thinking: o.Thinking, Signature: o.Signature})
	return at, nil
}

// delta takes in a piece of a block. One whose start never came begins with it.
func (a *answer) delta(d *delta, index piece.Number) error {
	at := a.find(index)
	if at == nil {
		var err error
		if at, err = a.begin(&opening{Type: kindOf(d)}, index); err != nil {
			return err
		}
	}
	a.take(at, d)
	return nil
}

// find is the newest block with the index, or the newest without one.
func (a *answer) find(index piece.Number) *block {
	i := index.Count()
	for _, at := range slices.Backward(a.blocks) {
		if i == nil || *i == at.index {
			return at
		}
	}
	return nil
}

// kindOf is the type of the block that a piece belongs to.
func kindOf(d *delta) piece.String {
	switch string(d.Type) {
	case "text_delta":
		return piece.String(typeText)
	case "thinking_delta", "signature_delta":
		return piece.String(typeThinking)
	case "input_json_delta":
		return piece.String(typeCall)
	}
	return nil
}

// take adds a piece to a block, as far as the block's type has a place for it.
func (a *answer) take(at *block, d *delta) {
	a.kept += len(d.Text) + len(d.Thinking) + len(d.Signature) + len(d.PartialJSON)
	switch at.kind {
	case typeText:
		a.say(at, at.text.Add(d.Text))
	case typeThinking:
		a.say(at, at.text.Add(d.Thinking))
		at.signature.Write(d.Signature)
	case typeCall:
		at.args.Add(d.PartialJSON)
	}
}

// say emits a text unless it is empty. Two blocks of thinking are two paragraphs.
func (a *answer) say(at *block, s string) {
	switch {
	case s == "":
	case at.kind == typeText:
		a.text.WriteString(s)
		a.emit(model.Delta{Text: s})
	default:
		if a.thinking != nil && a.thinking != at {
			s = "\n\n" + s
		}
		a.thinking = at
		a.reasoning.WriteString(s)
		a.emit(model.Delta{Reasoning: s})
	}
}

// flush emits what the newest block held back: there is no rest of it.
func (a *answer) flush() {
	if n := len(a.blocks); n > 0 {
		at := a.blocks[n-1]
		a.say(at, at.text.End())
	}
}

// calls gives the calls in the provider's order. Blocks come one behind the other, so
// the answer limit cuts the last one only.
func (a *answer) calls() []model.Call {
	var out []model.Call
	for i, at := range a.blocks {
		if at.kind != typeCall {
			continue
		}
		if at.args.Len() == 0 && string(at.input) != "{}" {
			at.args.Add(at.input)
		}
		args, why := at.args.Object(a.stop == "max_tokens" && i == len(a.blocks)-1)
		name := strings.ToValidUTF8(at.name, "\uFFFD")
		if offered, ok := a.offered[name]; ok {
			name = offered
		}
		out = append(out, model.Call{ID: strings.ToValidUTF8(at.id, "\uFFFD"), Name: name, Args: args, ArgsError: why})
	}
	return out
}
