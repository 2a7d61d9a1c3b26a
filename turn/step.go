package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/semaphore"

	"hitchpost/turn/event"
	"hitchpost/turn/history"
	"hitchpost/turn/model"
	"hitchpost/turn/redact"
)

// asking is the model request of a step while it is under way.
type asking struct {
	step      *step
	end       context.CancelCauseFunc
	window    *semaphore.Weighted // streamed bytes that may wait for the disk
	text      strings.Builder     // what was streamed so far
	reasoning strings.Builder
	masked    struct{ text, reasoning *redact.Stream } // the same on its way to the log
}

// askingWindow bounds the streamed bytes of one agent that wait for the disk; a
// provider that is faster than the disk waits.
const askingWindow = 1 << 20

// written gives back the window of streamed bytes that are on the disk.
func (k *asking) written(bytes int64) {
	if k != nil && bytes > 0 {
		k.window.Release(bytes)
	}
}

// unanswered takes a step whose reply is not in the log: a new one is asked; one
// that a crash or a cancel left without a reply is closed.
func (a *Agent) unanswered(s *step) (more bool, err error) {
	if s.id == a.fresh && a.cancel == nil {
		if err := a.commit(); err != nil {
			return false, err
		}
		a.ask(s)
		return false, nil
	}
	if a.resuming && !s.interrupted {
		text, reasoning, err := lostText(a.host.ctx, a.log, s, a.st.next-1)
		if err != nil {
			return false, err
		}
		putAside(s, text, reasoning, a.emitAs)
	}
	a.emit(event.StepEnd{N: s.n})
	return true, nil
}

// putAside keeps the text of a step that will never have a message.
func putAside(s *step, text, reasoning string, keep func(id string, p event.Payload)) {
	if reasoning != "" {
		keep(event.ReasoningID(s.id), event.Interrupted{Text: reasoning, Field: event.FieldReasoning})
	}
	if text != "" {
		keep(event.MessageID(s.id), event.Interrupted{Text: text})
	}
}

// ask sends the step's request, which is read back from the log: what the model
// sees is in it. The answer comes as messages.
func (a *Agent) ask(s *step) {
	a.fresh = ""
	cfg := a.host.config()
	client, name, err := cfg.resolve(s.model)
	request := model.Request{Model: name, System: cfg.Agents[a.definition()].System}
	upto, patterns := a.st.next-1, a.policy()

	ctx, end := context.WithCancelCause(a.host.ctx)
	k := &asking{step: s, end: end, window: semaphore.NewWeighted(askingWindow)}
	k.masked.text, k.masked.reasoning = cfg.Redact.Stream(), cfg.Redact.Stream()
	a.asking = k
	a.spawn(func() func() {
		defer end(nil)
		var reply model.Reply
		if err == nil && cfg.Ready != nil {
			err = cfg.Ready(ctx)
		}
		request.Tools = offered(cfg, patterns)
		if err == nil {
			request.Messages, err = history.Load(ctx, a.log, upto, s.model)
		}
		if err == nil {
			reply, err = client.Stream(ctx, request, func(d model.Delta) { a.deliver(ctx, k, d) })
		}
		return func() { a.replied(k, reply, err) }
	})
}

// deliver passes a delta on, and waits while too much of the answer waits for the disk.
func (a *Agent) deliver(ctx context.Context, k *asking, d model.Delta) {
	size := min(int64(len(d.Text)+len(d.Reasoning)), askingWindow)
	if k.window.Acquire(ctx, size) != nil {
		return // cut: nobody wants the rest
	}
	a.post(func() {
		if a.asking != k {
			return
		}
		switch {
		case d.Text != "":
			k.text.WriteString(d.Text)
			a.show(k.masked.text.Write(d.Text), "")
		case d.Reasoning != "":
			k.reasoning.WriteString(d.Reasoning)
			a.show("", k.masked.reasoning.Write(d.Reasoning))
		case d.Retry != nil:
			a.emit(retried(d.Retry))
		}
		if len(a.work.Events) == 0 {
			k.written(size) // all of it is held back, and nothing is on its way to the disk
			return
		}
		a.work.streamed += size
	})
}

// show logs streamed pieces that hold no secret any more.
func (a *Agent) show(text, reasoning string) {
	if text != "" {
		a.record(event.NewID(), event.AssistantChunk{Text: text})
	}
	if reasoning != "" {
		a.record(event.NewID(), event.ReasoningChunk{Text: reasoning})
	}
}

// showRest logs what was held back of an answer that has ended, or was cut.
func (a *Agent) showRest(k *asking) {
	a.show(k.masked.text.Flush(), k.masked.reasoning.Flush())
}

func retried(r *model.Retry) event.Diagnostic {
	details, _ := json.Marshal(map[string]int64{"attempt": int64(r.Attempt), "after_ms": r.After.Milliseconds()})
	return event.Diagnostic{Type: "retry", Code: r.Cause.Code, Message: r.Cause.Message, Details: details}
}

// replied ends the request of a step, with its answer or without one.
func (a *Agent) replied(k *asking, reply model.Reply, err error) {
	if a.asking != k {
		return // cut before: what it had streamed was dealt with
	}
	a.asking = nil
	a.showRest(k)
	switch {
	case err == nil:
		a.keepReply(k.step, reply)
		a.resuming = false
	case a.compactable(k, err):
		_ = a.compact(&refused{k.step, err}) // a failed append has stopped the turn
	default:
		putAside(k.step, k.text.String(), k.reasoning.String(), a.emitAs)
		code, message := failure(err)
		a.fail(code, message)
	}
	_ = a.settle() // likewise
}

// failure names a request's error for the log.
func failure(err error) (event.Code, string) {
	var e *model.Error
	if errors.As(err, &e) {
		return e.Code, e.Message
	}
	return event.CodeUnknown, err.Error()
}

// keepReply logs the reply. Call ids come from the provider and are not trusted: a
// missing or repeated one is replaced, everywhere, before anything is logged.
func (a *Agent) keepReply(s *step, reply model.Reply) {
	parts := []event.Part{}
	if reply.Text != "" {
		parts = append(parts, event.Part{Type: event.PartText, Text: reply.Text})
	}
	taken := map[string]bool{}
	for _, c := range reply.Calls {
		id := c.ID
		if id == "" || taken[id] || a.st.turn.calls[id] {
			id = "call_" + event.NewID()
		}
		taken[id] = true
		if c.ArgsError != "" {
			a.emit(invalid(id, c.ArgsError))
		}
		parts = append(parts, event.Part{Type: event.PartToolCall, ID: id, Name: c.Name, Args: c.Args})
	}
	if r := reply.Reasoning; r != nil {
		a.emitAs(event.ReasoningID(s.id), event.Reasoning{Text: r.Text, Summary: r.Summary, Opaque: r.Opaque})
	}
	a.emitAs(event.MessageID(s.id), event.AssistantMessage{Parts: parts, Usage: reply.Usage, Stop: unusual(reply.Stop)})
}

// unusual returns why a reply stopped, if that says more than its parts do.
func unusual(stop string) string {
	switch stop {
	case "stop", "tool_calls", "end_turn", "tool_use":
		return ""
	}
	return stop
}

func invalid(callID, what string) event.Diagnostic {
	details, _ := json.Marshal(invalidArguments{CallID: callID})
	return event.Diagnostic{
		Type: diagnosticInvalidArguments, Code: event.CodeModelBehavior,
		Message: fmt.Sprintf("the arguments are no JSON object: %s", what), Details: details,
	}
}
