package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// chunk is one event of a stream, or the whole of an answer that is no stream.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   usage           `json:"usage"`
	Error   json.RawMessage `json:"error"`

	// Of an error that stands where a chunk should.
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
}

type choice struct {
	Index        number `json:"index"`
	Delta        *delta `json:"delta"`
	Message      *delta `json:"message"` // of an answer that is no stream
	FinishReason text   `json:"finish_reason"`
}

type delta struct {
	Content          text              `json:"content"`
	Reasoning        text              `json:"reasoning"`
	ReasoningContent text              `json:"reasoning_content"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	Refusal          text              `json:"refusal"`
	ToolCalls        []callPiece       `json:"tool_calls"`
}

type callPiece struct {
	Index    number `json:"index"`
	ID       text   `json:"id"`
	Function struct {
		Name      text      `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	PromptTokens     number `json:"prompt_tokens"`
	CompletionTokens number `json:"completion_tokens"`
	Cost             number `json:"cost"`
}

// decode reads a chunk. A member of another type than expected stays at its zero value
// and costs only itself; a provider that got one wrong may have the others right.
func decode(data []byte) (*chunk, error) {
	var c chunk
	err := json.Unmarshal(data, &c) // skips what does not fit, and goes on
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return &c, err
	}
	if data[0] != '{' {
		return nil, errors.New("it is no object")
	}
	return &c, nil
}

// text is a string as bytes (see runes), nil for null. A list of parts is the text of
// its parts.
type text []byte

func (t *text) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		*t = unquote(make([]byte, 0, len(b)-2), b[1:len(b)-1])
	case '[':
		var parts []struct {
			Text text `json:"text"`
		}
		json.Unmarshal(b, &parts) // what does not fit has no text
		for _, p := range parts {
			*t = append(*t, p.Text...)
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
