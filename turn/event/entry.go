package event

import (
	"encoding/json"
	"slices"
)

// entryTypes are the types whose events make entries of a session's tree. A turn's
// end makes one only where it says something that the entries before it do not.
var entryTypes = []Type{
	UserMessageType, ContextInjectedType, AssistantMessageType, ReasoningType, InterruptedType,
	ToolCallType, ToolResultType, SessionCompactedType, TurnEndType,
}

// EntryTypes returns the types of which an event may make an entry.
func EntryTypes() []Type { return slices.Clone(entryTypes) }

// MakesEntry tells whether an event makes an entry of its session's tree.
func MakesEntry(t Type, payload json.RawMessage) bool {
	if t != TurnEndType {
		return slices.Contains(entryTypes, t)
	}
	var end TurnEnd
	_ = json.Unmarshal(payload, &end) // a member of another type than ours keeps its zero value: readers are open
	return end.Status != Completed && end.Status != Empty
}
