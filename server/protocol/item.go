package protocol

import "encoding/json"

// EntryPayload is the payload of an entry: what it is depends on the entry's kind, and
// for KindItem on its type.
type EntryPayload interface{ entryPayload() }

// ItemType names an item of the Responses vocabulary.
type ItemType string

const (
	ItemMessage            ItemType = "message"
	ItemReasoning          ItemType = "reasoning"
	ItemFunctionCall       ItemType = "function_call"
	ItemFunctionCallOutput ItemType = "function_call_output"
)

// Role of a message.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// ItemStatus tells whether an item is whole.
type ItemStatus string

const (
	ItemCompleted  ItemStatus = "completed"
	ItemIncomplete ItemStatus = "incomplete" // cut by an abort, or by the provider's limit of length
)

// ContentType names a part of a message or of a reasoning.
type ContentType string

const (
	ContentInputText   ContentType = "input_text"
	ContentOutputText  ContentType = "output_text"
	ContentSummaryText ContentType = "summary_text"
)

// UserMessage is a text by a person or a program.
type UserMessage struct {
	Type    ItemType    `json:"type" ts:"typeof ItemType.Message"`
	Role    Role        `json:"role" ts:"typeof Role.User"`
	Content []InputText `json:"content"`
}

// InputText is a part of a UserMessage.
type InputText struct {
	Type ContentType `json:"type"`
	Text string      `json:"text"`
}

// AssistantMessage is an answer. Its calls are entries of their own; without a text the
// content is empty, and a client draws nothing.
type AssistantMessage struct {
	ID      string       `json:"id"`
	Type    ItemType     `json:"type" ts:"typeof ItemType.Message"`
	Role    Role         `json:"role" ts:"typeof Role.Assistant"`
	Status  ItemStatus   `json:"status"`
	Content []OutputText `json:"content"`
}

// OutputText is a part of an AssistantMessage.
type OutputText struct {
	Type        ContentType `json:"type"`
	Text        string      `json:"text"`
	Annotations []string    `json:"annotations"` // always empty
}

// Reasoning is what the model thought before it answered.
type Reasoning struct {
	ID      string            `json:"id"`
	Type    ItemType          `json:"type" ts:"typeof ItemType.Reasoning"`
	Summary []json.RawMessage `json:"summary"` // SummaryText; a provider's own parts pass through
}

// SummaryText is a part of a Reasoning.
type SummaryText struct {
	Type ContentType `json:"type"`
	Text string      `json:"text"`
}

// FunctionCall is a call of a tool.
type FunctionCall struct {
	ID        string     `json:"id"`
	Type      ItemType   `json:"type" ts:"typeof ItemType.FunctionCall"`
	Status    ItemStatus `json:"status"`
	CallID    string     `json:"call_id"`
	Name      string     `json:"name"`
	Arguments string     `json:"arguments"` // JSON text
}

// FunctionCallOutput is what a call came to: its error, or its result; a result that is
// no string stands as JSON text.
type FunctionCallOutput struct {
	Type   ItemType `json:"type" ts:"typeof ItemType.FunctionCallOutput"`
	CallID string   `json:"call_id"`
	Output string   `json:"output"`
}

// Checkpoint is the payload of KindCompaction: the summary stands for every entry of its
// path at or before UptoSeq.
type Checkpoint struct {
	Summary      string `json:"summary"`
	UptoSeq      int64  `json:"upto_seq"`
	TokensBefore *int64 `json:"tokens_before,omitempty"`
	TokensAfter  *int64 `json:"tokens_after,omitempty"`
}

// PartialText is the annotation that keeps text of a step that never finished.
type PartialText struct {
	Partial bool   `json:"partial" ts:"true"`
	Field   Field  `json:"field"`
	Text    string `json:"text"`
}

// Failure is the annotation of a run that failed, as in its terminal frame.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Cancellation is the annotation of a run that was cancelled, as in its terminal frame.
type Cancellation struct {
	Reason  CancelReason `json:"reason"`
	Message *string      `json:"message,omitempty"`
}

func (UserMessage) entryPayload()        {}
func (AssistantMessage) entryPayload()   {}
func (Reasoning) entryPayload()          {}
func (FunctionCall) entryPayload()       {}
func (FunctionCallOutput) entryPayload() {}
func (Checkpoint) entryPayload()         {}
func (PartialText) entryPayload()        {}
func (Failure) entryPayload()            {}
func (Cancellation) entryPayload()       {}
