package demo

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// The names of the demo model: provider and model.
const (
	Provider = "demo"
	Model    = "guide"
)

// Client is the model.Client of provider demo.
type Client struct {
	pause time.Duration
}

var _ model.Client = (*Client)(nil)

// New returns a client that waits for pause between two chunks; 0 means not at all.
func New(pause time.Duration) *Client { return &Client{pause: pause} }

// Stream implements model.Client. Its only errors are an unknown model and the end of
// ctx.
func (c *Client) Stream(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
	if req.Model != Model {
		return model.Reply{}, &model.Error{Code: event.CodeConfig,
			Message: fmt.Sprintf("provider %s has one model, %s, not %q", Provider, Model, req.Model)}
	}
	out := respond(req)
	var said strings.Builder
	for i, chunk := range out.chunks {
		if err := c.wait(ctx, i); err != nil {
			return model.Reply{}, err
		}
		said.WriteString(chunk)
		emit(model.Delta{Text: chunk})
	}
	if err := c.wait(ctx, 0); err != nil {
		return model.Reply{}, err
	}
	stop := "stop"
	if len(out.calls) > 0 {
		stop = "tool_calls"
	}
	return model.Reply{Text: said.String(), Calls: out.calls, Usage: count(req, said.String(), out.calls), Stop: stop}, nil
}

// wait pauses before every chunk but the first.
func (c *Client) wait(ctx context.Context, chunk int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if chunk == 0 || c.pause <= 0 {
		return nil
	}
	t := time.NewTimer(c.pause)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// response is what the model does: it says something, or it calls.
type response struct {
	chunks []string
	calls  []model.Call
}

// word is a word and the white space behind it, or white space at the front.
var word = regexp.MustCompile(`\S*\s+|\S+`)

// say streams a text word by word.
func say(text string) response {
	return response{chunks: word.FindAllString(strings.ToValidUTF8(text, "\uFFFD"), -1)}
}

// respond decides on the newest user message and what was called for it since.
func respond(req model.Request) response {
	last := -1
	for i, m := range req.Messages {
		if m.Role == model.User {
			last = i
		}
	}
	if last < 0 {
		return say(introduction(req.Tools))
	}
	asked := req.Messages[last].Text
	if done := results(req.Messages[last+1:]); len(done) > 0 {
		return say(answer(parse(asked), done))
	}
	want := parse(asked)
	switch {
	case want.thoughts > 0:
		return think(want.thoughts)
	case want.digest:
		return say(digest(req.Messages[:last]))
	case want.wrong != "":
		return say(want.wrong)
	case len(want.calls) == 0:
		return say(introduction(req.Tools))
	}
	return call(want.calls, req)
}

// think is one chunk a thought.
func think(n int) response {
	chunks := make([]string, n)
	for i := range chunks {
		chunks[i] = fmt.Sprintf("Thought %d of %d. ", i+1, n)
	}
	return response{chunks: chunks}
}

// call makes the calls whose tools are offered, or says which are not.
func call(wanted []wanted, req model.Request) response {
	made := 0
	for _, m := range req.Messages {
		made += len(m.Calls)
	}
	var out response
	for _, w := range wanted {
		tool, ok := find(req.Tools, w.tool)
		if !ok {
			return say(fmt.Sprintf("I would call %s for that, but no tool of that name is mounted here. %s", w.tool, mounted(req.Tools)))
		}
		made++
		out.calls = append(out.calls, model.Call{ID: fmt.Sprintf("guide_%d", made), Name: w.tool, Args: w.args(tool)})
	}
	return out
}

func find(tools []model.Tool, name string) (model.Tool, bool) {
	for _, t := range tools {
		if t.Name == name {
			return t, true
		}
	}
	return model.Tool{}, false
}

// count counts words for tokens: deterministic, and honest about the size.
func count(req model.Request, said string, calls []model.Call) *event.Usage {
	prompt := words(req.System)
	for _, m := range req.Messages {
		prompt += words(m.Text)
		for _, c := range m.Calls {
			prompt += words(string(c.Args)) + 1
		}
	}
	completion := words(said)
	for _, c := range calls {
		completion += words(string(c.Args)) + 1
	}
	return &event.Usage{PromptTokens: &prompt, CompletionTokens: &completion}
}

func words(s string) int64 { return int64(len(strings.Fields(s))) }
