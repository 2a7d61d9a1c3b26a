package anthropic

import (
	"encoding/json"

	"hitchpost/turn/model"
	"hitchpost/turn/model/httpstream"
)

type request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    string    `json:"system,omitempty"`
	Messages  []message `json:"messages"`
	Tools     []offer   `json:"tools,omitempty"`
	Stream    bool      `json:"stream"`
}

type message struct {
	Role    string    `json:"role"`
	Content []content `json:"content"`
}

// content is a block of a message. Which members it has depends on its type.
type content struct {
	Type string `json:"type"`

	Text string `json:"text,omitempty"`

	Thinking  *string `json:"thinking,omitempty"` // may be empty beside a signature
	Signature string  `json:"signature,omitempty"`
	Data      string  `json:"data,omitempty"` // of redacted_thinking

	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	ToolUseID string `json:"tool_use_id,omitempty"`
	Content   string `json:"content,omitempty"`
	IsError   bool   `json:"is_error,omitempty"`
}

const (
	typeText     = "text"
	typeThinking = "thinking"
	typeRedacted = "redacted_thinking"
	typeCall     = "tool_use"
	typeResult   = "tool_result"
)

type offer struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// encode gives the body of the request (guarantee 4).
func (c *Client) encode(req model.Request) ([]byte, error) {
	r := request{Model: req.Model, MaxTokens: c.maxTokens, Messages: conversation(req.Messages), Stream: true}
	if !blank(req.System) {
		r.System = req.System
	}
	tools, err := httpstream.Tools(req.Tools)
	if err != nil {
		return nil, err
	}
	for _, t := range tools {
		r.Tools = append(r.Tools, offer{wellFormed(t.Name), t.Description, t.Schema})
	}
	return httpstream.Encode(r)
}
