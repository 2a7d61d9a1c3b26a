package openai

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// chunk is one event of a stream, or the whole of an answer that is no stream. Every
// type below takes any JSON value: what a provider got wrong in one member must not
// lose the others.
type chunk struct {
	Choices lax[[]choice]   `json:"choices"`
	Usage   lax[usage]      `json:"usage"`
	Error   json.RawMessage `json:"error"`

	// Of an error that stands where a chunk should.
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
}

type choice struct {
	Index        number      `json:"index"`
	Delta        *lax[delta] `json:"delta"`
	Message      *lax[delta] `json:"message"` // of an answer that is no stream
	FinishReason text        `json:"finish_reason"`
}

type delta struct {
	Content          text             `json:"content"`
	Reasoning        text             `json:"reasoning"`
	ReasoningContent text             `json:"reasoning_content"`
	ReasoningDetails lax[[]rawJSON]   `json:"reasoning_details"`
	Refusal          text             `json:"refusal"`
	ToolCalls        lax[[]callPiece] `json:"tool_calls"`
}

type callPiece struct {
	Index    number `json:"index"`
	ID       text   `json:"id"`
	Function lax[struct {
		Name      text      `json:"name"`
		Arguments arguments `json:"arguments"`
	}] `json:"function"`
}

type usage struct {
	PromptTokens     number `json:"prompt_tokens"`
	CompletionTokens number `json:"completion_tokens"`
	Cost             number `json:"cost"`
}

type rawJSON = json.RawMessage

// lax is a T, or its zero value where something else came.
type lax[T any] struct{ v T }

func (l *lax[T]) UnmarshalJSON(b []byte) error {
	var v T
	if json.Unmarshal(b, &v) == nil {
		l.v = v
	}
	return nil
}

// text is a string as bytes (see runes), nil for null. A list of parts is the text of
// its parts.
type text []byte

func (t *text) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		*t = unquote(make([]byte, 0, len(b)-2), b[1:len(b)-1])
	case '[':
		var parts []lax[struct {
			Text text `json:"text"`
		}]
		if json.Unmarshal(b, &parts) == nil {
			for _, p := range parts {
				*t = append(*t, p.v.Text...)
			}
		}
	}
	return nil
}

// arguments is a piece of the arguments' JSON text, or the arguments themselves.
type arguments []byte

func (a *arguments) UnmarshalJSON(b []byte) error {
	switch {
	case b[0] == '"':
		*a = unquote(make([]byte, 0, len(b)-2), b[1:len(b)-1])
	case string(b) != "null":
		*a = bytes.Clone(b)
	}
	return nil
}

// number is a finite number, also one in quotes; nil for everything else.
type number struct{ f *float64 }

func (n *number) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(bytes.Trim(b, `"`)), 64)
	if err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		n.f = &f
	}
	return nil
}

// count is the number as a count of something, nil when it is none.
func (n number) count() *int64 {
	if n.f == nil || *n.f < 0 || *n.f > 1<<53 {
		return nil
	}
	c := int64(*n.f)
	return &c
}
