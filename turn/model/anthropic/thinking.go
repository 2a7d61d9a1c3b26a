package anthropic

import (
	"encoding/json"
	"unicode/utf8"

	"hitchpost/turn/model"
)

// trace is a block of an answer that held thinking. Reasoning.Opaque is the list of them
// up to the last one that is thinking, so that each can be sent back where it stood: the
// wire refuses thinking that was moved or changed. Texts and calls are in the message;
// of them the trace only keeps the place.
type trace struct {
	Type      string  `json:"type"`
	Thinking  *string `json:"thinking,omitempty"`
	Signature string  `json:"signature,omitempty"`
	Data      string  `json:"data,omitempty"`
	Bytes     int     `json:"bytes,omitempty"` // of a text: how many of the message's
}

func (t *trace) thinks() bool { return t.Type == typeThinking || t.Type == typeRedacted }

// traceOf gives the thinking of a message and the places around it; only the thinking if
// they do not fit the message, as something was cut or masked since; nothing if another
// package left what is there.
func traceOf(m *model.Message) []trace {
	if m.Reasoning == nil {
		return nil
	}
	var all []trace
	if json.Unmarshal(m.Reasoning.Opaque, &all) != nil {
		return nil
	}
	var thinking []trace
	at, calls, fits := 0, 0, true
	for i := range all {
		switch t := &all[i]; {
		case t.thinks():
			thinking = append(thinking, *t)
		case t.Type == typeText && t.Bytes >= 0 && t.Bytes <= len(m.Text)-at:
			at += t.Bytes
			fits = fits && (at == len(m.Text) || utf8.RuneStart(m.Text[at]))
		case t.Type == typeCall:
			calls++
		default:
			fits = false
		}
	}
	if fits && calls <= len(m.Calls) {
		return all
	}
	return thinking
}

// thoughts gives what the answer's blocks say of thinking, nil for none.
func (a *answer) thoughts() *model.Reasoning {
	var all []trace
	last := 0
	for _, at := range a.blocks {
		t := trace{Type: at.kind}
		switch at.kind {
		case typeText:
			t.Bytes = at.text.Len()
		case typeThinking:
			if at.signature.Len() == 0 {
				continue // unsigned thinking is refused when it comes back
			}
			text := at.text.String()
			t.Thinking, t.Signature = &text, at.signature.String()
		case typeRedacted:
			t.Data = at.data
		case typeCall:
		default:
			continue
		}
		all = append(all, t)
		if t.thinks() {
			last = len(all)
		}
	}
	if last == 0 && a.reasoning.Len() == 0 {
		return nil
	}
	r := &model.Reasoning{Text: a.reasoning.String()}
	if last > 0 {
		r.Opaque, _ = json.Marshal(all[:last]) // strings and numbers: always valid
	}
	return r
}
