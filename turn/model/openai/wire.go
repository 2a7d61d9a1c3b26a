package openai

import (
	"encoding/json"

	"hitchpost/turn/model/piece"
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
	Index        piece.Number `json:"index"`
	Delta        *delta       `json:"delta"`
	Message      *delta       `json:"message"` // of an answer that is no stream
	FinishReason piece.String `json:"finish_reason"`
}

type delta struct {
	Content          piece.String      `json:"content"`
	Reasoning        piece.String      `json:"reasoning"`
	ReasoningContent piece.String      `json:"reasoning_content"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	Refusal          piece.String      `json:"refusal"`
	ToolCalls        []callPiece       `json:"tool_calls"`
}

type callPiece struct {
	Index    piece.Number `json:"index"`
	ID       piece.String `json:"id"`
	Function struct {
		Name      piece.String   `json:"name"`
		Arguments piece.Fragment `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	PromptTokens     piece.Number `json:"prompt_tokens"`
	CompletionTokens piece.Number `json:"completion_tokens"`
	Cost             piece.Number `json:"cost"`
}
