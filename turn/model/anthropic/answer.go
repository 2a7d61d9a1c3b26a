package anthropic

import (
	"fmt"
	"strings"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/model/httpstream"
	"hitchpost/turn/model/piece"
)

// maxBlocks bounds the content blocks of one answer.
const maxBlocks = 1024

// answer is what has come of one answer.
type answer struct {
	emit    func(model.Delta)
	offered map[string]string // names of tools, by the name that was sent

	blocks          []*block // as they began
	text, reasoning strings.Builder
	thinking        *block // the last that added to reasoning
	tokens          tokens
	stop            string // the stop reason
	refusal         string // why, of a refusal
	started         bool   // message_start came
	stopped         bool   // message_stop came behind it
	kept            int    // bytes
}

func newAnswer(offered []model.Tool, emit func(model.Delta)) *answer {
	a := &answer{emit: emit, offered: make(map[string]string, len(offered))}
	for _, t := range offered {
		a.offered[wellFormed(t.Name)] = t.Name
	}
	return a
}

// Kept implements httpstream.Answer.
func (a *answer) Kept() int { return a.kept }

// End implements httpstream.Answer. Only message_stop marks an end on this wire.
func (a *answer) End(bool) error {
	switch {
	case a.stopped:
		return nil
	case !a.started:
		return httpstream.Truncated("the provider's stream ended without an answer")
	}
	return httpstream.Truncated("the provider's stream ended before the answer was complete")
}

// Event implements httpstream.Answer.
func (a *answer) Event(name string, data []byte) (httpstream.Progress, error) {
	var f frame
	err := piece.Decode(data, &f)
	if err != nil && name != "error" {
		return 0, httpstream.Malformed(err)
	}
	kind := string(f.Type)
	if kind == "" {
		kind = name
	}
	if found, ok := complaintIn(kind, &f, data); ok {
		return 0, found.Reported()
	}
	switch kind {
	case "message_start":
		a.started = true
		a.tokens.add(&f.Start.Usage)
	case "content_block_start":
		_, err = a.begin(&f.Block, f.Index)
	case "content_block_delta":
		err = a.delta(&f.Delta, f.Index)
	case "content_block_stop": // the next block, or the end of the message, says as much
	case "message_delta":
		a.ending(f.Delta.StopReason, &f.Delta.Refusal, &f.Usage)
	case "message_stop":
		a.stopped = a.started
		return httpstream.Over, nil
	case "message":
		err = a.whole(&f)
	default: // a ping, or what this wire did not have when this was written
		return httpstream.Idle, nil
	}
	return httpstream.More, err
}

// complaintIn finds the error of an event, also one that stands in for an answer.
func complaintIn(kind string, f *frame, data []byte) (httpstream.Complaint, bool) {
	if found, ok := httpstream.ComplaintOf(f.Error); ok {
		return found, true
	}
	if kind == "error" {
		found, _ := httpstream.ComplaintOf(data)
		return found, true
	}
	var alone struct{ Message, Detail piece.String }
	if kind == "" && piece.Decode(data, &alone) == nil && (alone.Message != nil || alone.Detail != nil) {
		return httpstream.ComplaintOf(data)
	}
	return httpstream.Complaint{}, false
}

// ending takes in what the provider says of the whole message.
func (a *answer) ending(stop piece.String, why *refusal, u *usage) {
	if len(stop) > 0 {
		a.stop = strings.ToValidUTF8(string(stop), "\uFFFD")
	}
	if len(why.Explanation) > 0 {
		a.refusal = string(why.Explanation)
	}
	a.tokens.add(u)
}

// whole takes in an answer that is no stream.
func (a *answer) whole(f *frame) error {
	a.started = true
	for i := range f.Content {
		if _, err := a.begin(&f.Content[i], piece.Number{}); err != nil {
			return err
		}
	}
	a.ending(f.StopReason, &f.Refusal, &f.Usage)
	a.stopped = a.stop != ""
	return nil
}

// Reply implements httpstream.Answer.
func (a *answer) Reply() (model.Reply, error) {
	a.flush()
	switch a.stop {
	case "refusal":
		message := "the model refused to answer"
		if a.refusal != "" {
			message += ": " + a.refusal
		}
		return model.Reply{}, &model.Error{Code: event.CodeModelRefusal, Message: message}
	case "model_context_window_exceeded":
		return model.Reply{}, &model.Error{Code: event.CodeContextOverflow,
			Message: "the answer reached the end of the model's context window (" + a.stop + ")"}
	}
	return model.Reply{
		Text:      a.text.String(),
		Reasoning: a.thoughts(),
		Calls:     a.calls(),
		Usage:     a.tokens.usage(),
		Stop:      a.stop,
	}, nil
}

// tokens is what was told of usage. Each event tells the sum so far, and some servers
// tell zero where they do not know: the largest number is the right one.
type tokens struct{ input, writes, reads, output *int64 }

func (t *tokens) add(u *usage) {
	t.input = larger(t.input, u.Input)
	t.writes = larger(t.writes, u.CacheWrites)
	t.reads = larger(t.reads, u.CacheReads)
	t.output = larger(t.output, u.Output)
}

func larger(known *int64, told piece.Number) *int64 {
	n := told.Count()
	if known == nil || n != nil && *n > *known {
		return n
	}
	return known
}

// usage is nil when nothing was told. What was read from the provider's cache, or put
// there, is a part of the prompt.
func (t *tokens) usage() *event.Usage {
	u := event.Usage{CompletionTokens: t.output}
	for _, n := range []*int64{t.input, t.writes, t.reads} {
		if n == nil {
			continue
		}
		if u.PromptTokens == nil {
			u.PromptTokens = new(int64)
		}
		*u.PromptTokens += *n
	}
	if u == (event.Usage{}) {
		return nil
	}
	return &u
}

func tooManyBlocks() *model.Error {
	return &model.Error{Code: event.CodeProvider, Message: fmt.Sprintf("the provider's answer holds more than %d content blocks", maxBlocks)}
}
