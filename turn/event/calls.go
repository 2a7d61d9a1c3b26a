package event

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// CheckCalls returns a check of a log's structural events, given one by one from the first
// on: that a call's id stands once in its turn, and that every call of a turn that has
// ended has one result. It returns what is wrong with an event, "" for nothing. Payloads
// that are not as ours are not looked into.
func CheckCalls() func(typ string, payload json.RawMessage) (problem string) {
	c := calls{}
	return c.next
}

// calls are those of the open turn; nil between turns. A call is true while it owes its result.
type calls map[string]bool

func (c *calls) next(typ string, payload json.RawMessage) string {
	if *c == nil && Type(typ) != TurnStartType {
		return ""
	}
	switch Type(typ) {
	case TurnStartType:
		*c = calls{}
	case AssistantMessageType:
		return c.made(payload)
	case ToolResultType:
		var result ToolResult
		_ = json.Unmarshal(payload, &result)
		if !(*c)[result.ID] {
			return fmt.Sprintf("a result of the call %q, which owes none", result.ID)
		}
		(*c)[result.ID] = false
	case TurnEndType:
		maps.DeleteFunc(*c, func(_ string, owes bool) bool { return !owes })
		owing := slices.Sorted(maps.Keys(*c))
		*c = nil
		if len(owing) > 0 {
			return "the turn has ended, and no result have the calls " + strings.Join(owing, ", ")
		}
	}
	return ""
}

func (c *calls) made(payload json.RawMessage) string {
	var reply AssistantMessage
	_ = json.Unmarshal(payload, &reply)
	for _, part := range reply.Parts {
		if part.Type != PartToolCall {
			continue
		}
		if _, taken := (*c)[part.ID]; taken {
			return fmt.Sprintf("the call id %q stands twice in its turn", part.ID)
		}
		(*c)[part.ID] = true
	}
	return ""
}
