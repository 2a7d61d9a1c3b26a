package protocol

import "encoding/json"

// Kind of an entry, an open vocabulary.
type Kind string

const (
	KindItem       Kind = "item"       // a message, a call, an output: a Responses item
	KindAnnotation Kind = "annotation" // a note that no model sees
	KindCompaction Kind = "compaction" // a checkpoint: a summary of what stands before it
	KindTerminal   Kind = "terminal"   // reserved
	KindCustom     Kind = "custom"     // reserved
)

// Source says who made an entry, an open vocabulary.
type Source string

const (
	SourceModel        Source = "model"
	SourceUser         Source = "user"
	SourceTool         Source = "tool"
	SourceHandoff      Source = "handoff" // reserved
	SourceErrorHandler Source = "error_handler"
	SourceCompaction   Source = "compaction"
)

// Entry is one element of a session's history: the same members in the same order in a
// frame and over REST. The first eight are always present, and always will be.
type Entry struct {
	ID       string          `json:"id"`  // of the event
	Seq      int64           `json:"seq"` // of the event: the session's log position
	Kind     Kind            `json:"kind"`
	ParentID string          `json:"parent_id"` // the entry before it on its branch; "" at a root
	Source   EntrySource     `json:"source"`
	Display  json.RawMessage `json:"display" ts:"Display"` // a hint only; a tool chooses that of its result
	Usage    *Usage          `json:"usage"`                // of an answer whose provider told it, else null
	Payload  EntryPayload    `json:"payload"`

	RunID     string `json:"run_id"`     // the run it stands in; "" outside a run
	CreatedAt string `json:"created_at"` // the event's at

	View
}

// View is how an entry stands now. In a frame it is always on the path and not compacted;
// over REST it is as it is when asked.
type View struct {
	OnPath    bool `json:"on_path"`   // the leaf descends from it, or is it
	Compacted bool `json:"compacted"` // a checkpoint on the path stands for it
}

// EntrySource says who made the entry.
type EntrySource struct {
	Type Source `json:"type"`
}

// Usage is what a provider told of one request. A figure it left out is null.
type Usage struct {
	InputTokens  *int64   `json:"input_tokens"`
	OutputTokens *int64   `json:"output_tokens"`
	Cost         *float64 `json:"cost,omitempty"`
}

// DisplayKind says what a display shows; an unknown one is drawn as plain text.
type DisplayKind string

const (
	DisplayMessage    DisplayKind = "message"
	DisplayReasoning  DisplayKind = "reasoning"
	DisplayToolCall   DisplayKind = "tool_call"
	DisplayTool       DisplayKind = "tool" // a call's output
	DisplayCompaction DisplayKind = "compaction"
	DisplayError      DisplayKind = "error"
	DisplayCancelled  DisplayKind = "cancelled"
)

// Display is a rendering hint. Everything that a correct timeline needs is in the payload.
type Display struct {
	Kind      DisplayKind     `json:"kind"`
	Renderer  string          `json:"renderer,omitempty"` // diff, terminal, table, todo, text, …
	Title     string          `json:"title,omitempty"`
	Summary   string          `json:"summary,omitempty"`
	Text      string          `json:"text,omitempty"`
	CallID    string          `json:"call_id,omitempty"`
	ToolName  string          `json:"tool_name,omitempty"`
	Arguments string          `json:"arguments,omitempty"` // JSON text
	Output    string          `json:"output,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Extra     json.RawMessage `json:"extra,omitempty"`
}
