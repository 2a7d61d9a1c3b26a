package project

import (
	"bytes"
	"encoding/json"
	"strings"

	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn/event"
)

// onPath is how an entry stands when it is new, which is what a frame says.
var onPath = protocol.View{OnPath: true}

// Entry encodes the entry that an event makes; ok is false when it makes none. Every
// surface sends these bytes (run wire, entries).
func Entry(ev store.Event, at Place, view protocol.View) (line []byte, ok bool) {
	if !MakesEntry(ev) {
		return nil, false
	}
	e := protocol.Entry{
		ID: ev.ID, Seq: ev.Seq, ParentID: at.Parent, RunID: at.Run,
		CreatedAt: protocol.Time(ev.At), View: view,
	}
	var display protocol.Display
	switch event.Type(ev.Type) {
	case event.UserMessageType:
		e.Kind, e.Source.Type = protocol.KindItem, protocol.SourceUser
		e.Payload, display = said(body[event.UserMessage](ev).Text)
	case event.ContextInjectedType:
		e.Kind, e.Source.Type = protocol.KindItem, protocol.SourceUser
		e.Payload, display = said(body[event.ContextInjected](ev).Text)
	case event.AssistantMessageType:
		e.Kind, e.Source.Type = protocol.KindItem, protocol.SourceModel
		reply := body[event.AssistantMessage](ev)
		e.Usage = usage(reply.Usage)
		e.Payload, display = answered(ev.ID, reply)
	case event.ReasoningType:
		e.Kind, e.Source.Type = protocol.KindItem, protocol.SourceModel
		e.Payload, display = thought(ev.ID, body[event.Reasoning](ev))
	case event.ToolCallType:
		e.Kind, e.Source.Type = protocol.KindItem, protocol.SourceModel
		e.Payload, display = called(ev.ID, body[event.ToolCall](ev))
	case event.ToolResultType:
		e.Kind, e.Source.Type = protocol.KindItem, protocol.SourceTool
		result := body[event.ToolResult](ev)
		e.Payload, display = returned(result)
		e.Display = chosen(result.Display)
	case event.SessionCompactedType:
		e.Kind, e.Source.Type = protocol.KindCompaction, protocol.SourceCompaction
		e.Payload, display = compacted(body[event.SessionCompacted](ev))
	case event.InterruptedType:
		e.Kind, e.Source.Type = protocol.KindAnnotation, protocol.SourceModel
		e.Payload, display = interrupted(body[event.Interrupted](ev))
	case event.TurnEndType:
		e.Kind, e.Source.Type = protocol.KindAnnotation, protocol.SourceErrorHandler
		e.Payload, display = ended(body[event.TurnEnd](ev))
	}
	if e.Display == nil {
		e.Display = encode(display)
	}
	return encode(e), true
}

// encode returns v as JSON. v is made of Go values and JSON that was parsed before, so it
// always encodes.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// chosen returns the display that a tool chose for its result, nil for none.
func chosen(stored json.RawMessage) json.RawMessage {
	if len(stored) == 0 || stored[0] != '{' {
		return nil
	}
	return stored
}

func said(text string) (protocol.EntryPayload, protocol.Display) {
	return protocol.UserMessage{
		Type: protocol.ItemMessage, Role: protocol.RoleUser,
		Content: []protocol.InputText{{Type: protocol.ContentInputText, Text: text}},
	}, protocol.Display{Kind: protocol.DisplayMessage, Text: text}
}

func answered(id string, reply event.AssistantMessage) (protocol.EntryPayload, protocol.Display) {
	m := protocol.AssistantMessage{
		ID: id, Type: protocol.ItemMessage, Role: protocol.RoleAssistant,
		Status: protocol.ItemCompleted, Content: []protocol.OutputText{},
	}
	if reply.Cut() {
		m.Status = protocol.ItemIncomplete
	}
	for _, part := range reply.Parts {
		if part.Type == event.PartText && part.Text != "" {
			m.Content = append(m.Content, protocol.OutputText{
				Type: protocol.ContentOutputText, Text: part.Text, Annotations: []string{},
			})
		}
	}
	return m, protocol.Display{Kind: protocol.DisplayMessage, Text: text(reply)}
}

// text is the text of an answer.
func text(reply event.AssistantMessage) string {
	var b strings.Builder
	for _, part := range reply.Parts {
		if part.Type == event.PartText {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

func thought(id string, r event.Reasoning) (protocol.EntryPayload, protocol.Display) {
	item := protocol.Reasoning{ID: id, Type: protocol.ItemReasoning}
	_ = json.Unmarshal(r.Summary, &item.Summary) // what is no list of parts counts as none
	if len(item.Summary) == 0 {
		item.Summary = []json.RawMessage{}
		if r.Text != "" {
			part := protocol.SummaryText{Type: protocol.ContentSummaryText, Text: r.Text}
			item.Summary = append(item.Summary, encode(part))
		}
	}
	return item, protocol.Display{Kind: protocol.DisplayReasoning, Text: r.Text}
}

func called(id string, c event.ToolCall) (protocol.EntryPayload, protocol.Display) {
	return protocol.FunctionCall{
			ID: id, Type: protocol.ItemFunctionCall, Status: protocol.ItemCompleted,
			CallID: c.ID, Name: c.Name, Arguments: string(c.Args),
		}, protocol.Display{
			Kind: protocol.DisplayToolCall, CallID: c.ID, ToolName: c.Name, Arguments: string(c.Args),
		}
}

func returned(r event.ToolResult) (protocol.EntryPayload, protocol.Display) {
	out := string(r.Content)
	var asText string
	switch {
	case r.Error != nil:
		out = *r.Error
	case strings.HasPrefix(out, `"`) && json.Unmarshal(r.Content, &asText) == nil:
		out = asText
	}
	return protocol.FunctionCallOutput{Type: protocol.ItemFunctionCallOutput, CallID: r.ID, Output: out},
		protocol.Display{Kind: protocol.DisplayTool, CallID: r.ID, Output: out, IsError: r.Error != nil}
}

func compacted(c event.SessionCompacted) (protocol.EntryPayload, protocol.Display) {
	return protocol.Checkpoint{
		Summary: c.Summary, UptoSeq: c.UptoSeq, TokensBefore: c.TokensBefore, TokensAfter: c.TokensAfter,
	}, protocol.Display{Kind: protocol.DisplayCompaction, Text: c.Summary}
}

func interrupted(i event.Interrupted) (protocol.EntryPayload, protocol.Display) {
	if i.Field == event.FieldReasoning {
		return protocol.PartialText{Partial: true, Field: protocol.FieldReasoning, Text: i.Text},
			protocol.Display{Kind: protocol.DisplayReasoning, Text: i.Text}
	}
	return protocol.PartialText{Partial: true, Field: protocol.FieldText, Text: i.Text},
		protocol.Display{Kind: protocol.DisplayMessage, Text: i.Text}
}

// ended is the annotation of a run that neither completed nor was empty.
func ended(end event.TurnEnd) (protocol.EntryPayload, protocol.Display) {
	if end.Status == event.Cancelled {
		c := cancellation(end)
		d := protocol.Display{Kind: protocol.DisplayCancelled, Title: string(c.Reason)}
		if c.Message != nil {
			d.Text = *c.Message
		}
		return c, d
	}
	f := failure(end)
	return f, protocol.Display{Kind: protocol.DisplayError, Title: string(f.Code), Text: f.Message, IsError: true}
}

func cancellation(end event.TurnEnd) protocol.Cancellation {
	c := protocol.Cancellation{Reason: protocol.CancelStopped, Message: end.Reason}
	if end.Cause == event.CauseSuperseded {
		c.Reason = protocol.CancelSuperseded
	}
	return c
}

// failure says why a run failed. One that the log gives no reason for, or that ended in
// a way we do not know, failed for an unknown reason.
func failure(end event.TurnEnd) protocol.Failure {
	f := protocol.Failure{Code: event.CodeUnknown, Message: "the log gives no reason"}
	if end.Error != nil {
		f.Message = end.Error.Message
		if end.Error.Code != "" {
			f.Code = end.Error.Code
		}
	}
	return f
}

// usage renames what a provider told; nil when it told nothing.
func usage(u *event.Usage) *protocol.Usage {
	if u == nil || u.PromptTokens == nil && u.CompletionTokens == nil && u.Cost == nil {
		return nil
	}
	return &protocol.Usage{InputTokens: u.PromptTokens, OutputTokens: u.CompletionTokens, Cost: u.Cost}
}
