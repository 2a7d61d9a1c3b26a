package anthropic

import (
	"encoding/json"

	"hitchpost/turn/model/piece"
)

// frame is the data of one event, or an answer that is no stream.
type frame struct {
	Type  piece.String    `json:"type"`
	Index piece.Number    `json:"index"`
	Start start           `json:"message"`
	Block opening         `json:"content_block"`
	Delta delta           `json:"delta"`
	Usage usage           `json:"usage"`
	Error json.RawMessage `json:"error"`

	// Of an answer that is no stream.
	Content    []opening    `json:"content"`
	StopReason piece.String `json:"stop_reason"`
	Refusal    refusal      `json:"stop_details"`
}

type start struct {
	Usage usage `json:"usage"`
}

// opening is the block that an event begins; of an answer that is no stream, all of it.
type opening struct {
	Type      piece.String   `json:"type"`
	Text      piece.String   `json:"text"`
	Thinking  piece.String   `json:"thinking"`
	Signature piece.String   `json:"signature"`
	Data      piece.String   `json:"data"`
	ID        piece.String   `json:"id"`
	Name      piece.String   `json:"name"`
	Input     piece.Fragment `json:"input"`
}

// delta is a piece of a block or, at the end, of the message.
type delta struct {
	Type        piece.String   `json:"type"`
	Text        piece.String   `json:"text"`
	Thinking    piece.String   `json:"thinking"`
	Signature   piece.String   `json:"signature"`
	PartialJSON piece.Fragment `json:"partial_json"`
	StopReason  piece.String   `json:"stop_reason"`
	Refusal     refusal        `json:"stop_details"`
}

type refusal struct {
	Explanation piece.String `json:"explanation"`
}

type usage struct {
	Input       piece.Number `json:"input_tokens"`
	CacheWrites piece.Number `json:"cache_creation_input_tokens"`
	CacheReads  piece.Number `json:"cache_read_input_tokens"`
	Output      piece.Number `json:"output_tokens"`
}
