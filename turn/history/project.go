package history

import (
	"bytes"
	"encoding/json"
	"fmt"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// noResult answers a call that the log has no result for.
const noResult = "Error: no result was recorded for this call"

// visible are the types that Project reads.
var visible = []string{
	string(event.UserMessageType), string(event.ContextInjectedType), string(event.AssistantMessageType),
	string(event.ToolResultType), string(event.ReasoningType), string(event.StepStartType),
	string(event.SessionCompactedType),
}

// projection is what was made so far. A reply's results have their places from
// the start, so a result that stands late in the log still follows its call.
type projection struct {
	messages  []model.Message
	unheard   map[string]int // call id → index of the message that will answer it
	model     string         // of the step under way
	reasoning *model.Reasoning
}

// Project makes the messages that a request to provider/model holds. Events are in
// the order of the log, from the newest checkpoint on; types that no model sees
// are skipped.
func Project(events []store.Event, spec string) ([]model.Message, error) {
	p := projection{unheard: map[string]int{}}
	for _, ev := range events {
		if err := p.add(ev, spec); err != nil {
			return nil, fmt.Errorf("seq %d: %s: %w", ev.Seq, ev.Type, err)
		}
	}
	return p.messages, nil
}

func (p *projection) add(ev store.Event, spec string) error {
	switch event.Type(ev.Type) {
	case event.StepStartType:
		var start event.StepStart
		err := json.Unmarshal(ev.Payload, &start)
		p.model, p.reasoning = start.Model, nil
		return err
	case event.UserMessageType:
		var said event.UserMessage
		err := json.Unmarshal(ev.Payload, &said)
		p.say(said.Text)
		return err
	case event.ContextInjectedType:
		var said event.ContextInjected
		err := json.Unmarshal(ev.Payload, &said)
		p.say(said.Text)
		return err
	case event.ReasoningType:
		var thought event.Reasoning
		err := json.Unmarshal(ev.Payload, &thought)
		if p.model == spec {
			p.reasoning = &model.Reasoning{Text: thought.Text, Summary: thought.Summary, Opaque: thought.Opaque}
		}
		return err
	case event.AssistantMessageType:
		var reply event.AssistantMessage
		err := json.Unmarshal(ev.Payload, &reply)
		p.reply(reply)
		return err
	case event.ToolResultType:
		var result event.ToolResult
		if err := json.Unmarshal(ev.Payload, &result); err != nil {
			return err
		}
		return p.answer(result)
	}
	return nil
}

func (p *projection) say(text string) {
	if text != "" {
		p.messages = append(p.messages, model.Message{Role: model.User, Text: text})
	}
}

func (p *projection) reply(reply event.AssistantMessage) {
	m := model.Message{Role: model.Assistant, Reasoning: p.reasoning}
	p.reasoning = nil
	for _, part := range reply.Parts {
		switch part.Type {
		case event.PartText:
			m.Text += part.Text
		case event.PartToolCall:
			m.Calls = append(m.Calls, model.Call{ID: part.ID, Name: part.Name, Args: object(part.Args)})
		}
	}
	if m.Text == "" && len(m.Calls) == 0 {
		return
	}
	p.messages = append(p.messages, m)
	for _, c := range m.Calls {
		p.unheard[c.ID] = len(p.messages)
		p.messages = append(p.messages, model.Message{Role: model.ToolRole, CallID: c.ID, Text: noResult, IsError: true})
	}
}

// object is the arguments of a call as every provider takes them. Our own are objects;
// those of an imported log may be anything.
func object(args json.RawMessage) json.RawMessage {
	if !bytes.HasPrefix(bytes.TrimLeft(args, " \t\r\n"), []byte("{")) {
		return json.RawMessage("{}")
	}
	return args
}

func (p *projection) answer(result event.ToolResult) error {
	at, ok := p.unheard[result.ID]
	if !ok {
		return nil
	}
	delete(p.unheard, result.ID)
	m := &p.messages[at]
	if result.Error != nil {
		m.Text = "Error: " + *result.Error
		return nil
	}
	text, err := contentText(result.Content)
	m.Text, m.IsError = text, false
	return err
}

// contentText is a result as the model reads it: a string as it is, nothing for
// null, any other JSON as its text.
func contentText(content json.RawMessage) (string, error) {
	if len(content) == 0 || string(content) == "null" {
		return "", nil
	}
	if content[0] != '"' {
		return string(content), nil
	}
	var text string
	err := json.Unmarshal(content, &text)
	return text, err
}
