package openai

import (
	"encoding/json"

	"hitchpost/turn/model"
	"hitchpost/turn/model/httpstream"
)

type request struct {
	Model               string        `json:"model"`
	Messages            []message     `json:"messages"`
	Tools               []offer       `json:"tools,omitempty"`
	MaxTokens           int           `json:"max_tokens,omitempty"`
	MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"`
	Stream              bool          `json:"stream"`
	StreamOptions       streamOptions `json:"stream_options"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role             string          `json:"role"`
	Content          *string         `json:"content"` // null when an assistant only calls
	Reasoning        string          `json:"reasoning,omitempty"`
	ReasoningContent string          `json:"reasoning_content,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls        []sentCall      `json:"tool_calls,omitempty"`
	ToolCallID       string          `json:"tool_call_id,omitempty"`
}

type sentCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function sentFunction `json:"function"`
}

type sentFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON as text
}

type offer struct {
	Type     string        `json:"type"`
	Function offerFunction `json:"function"`
}

type offerFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// encode gives the body of the request (guarantee 4).
func (c *Client) encode(req model.Request) ([]byte, error) {
	r := request{Model: req.Model, Stream: true, StreamOptions: streamOptions{IncludeUsage: true}}
	if c.http.Host() == "api.openai.com" {
		r.MaxCompletionTokens = c.maxTokens // its newer models refuse max_tokens, the others know no other
	} else {
		r.MaxTokens = c.maxTokens
	}
	if req.System != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: &req.System})
	}
	for i := range req.Messages {
		r.Messages = append(r.Messages, outgoing(&req.Messages[i]))
	}
	tools, err := httpstream.Tools(req.Tools)
	if err != nil {
		return nil, err
	}
	for _, t := range tools {
		r.Tools = append(r.Tools, offer{"function", offerFunction{t.Name, t.Description, t.Schema}})
	}
	return httpstream.Encode(r)
}

func outgoing(m *model.Message) message {
	out := message{Role: string(m.Role), Content: &m.Text, ToolCallID: m.CallID}
	for _, call := range m.Calls {
		args := string(call.Args)
		if args == "" {
			args = "{}"
		}
		out.ToolCalls = append(out.ToolCalls, sentCall{call.ID, "function", sentFunction{call.Name, args}})
	}
	if m.Role == model.Assistant && m.Text == "" && len(m.Calls) > 0 {
		out.Content = nil
	}
	if m.Reasoning != nil {
		out.think(m.Reasoning)
	}
	return out
}

// opaque is what must be known of reasoning, beside its text, to send it back: some
// providers refuse the next request of a tool loop without it, each wants it under the
// name it used itself, and some sign it.
type opaque struct {
	Member  string          `json:"member,omitempty"`  // the name that the text came under
	Details json.RawMessage `json:"details,omitempty"` // the pieces of reasoning_details, an array
}

const (
	memberReasoning = "reasoning"
	memberContent   = "reasoning_content"
)

// think sends reasoning back as it came. What another package left is not understood,
// and left out.
func (m *message) think(r *model.Reasoning) {
	var o opaque
	if json.Unmarshal(r.Opaque, &o) != nil {
		return
	}
	m.ReasoningDetails = o.Details
	switch {
	case len(o.Details) > 0: // holds the text too
	case o.Member == memberContent:
		m.ReasoningContent = r.Text
	case o.Member == memberReasoning:
		m.Reasoning = r.Text
	}
}
