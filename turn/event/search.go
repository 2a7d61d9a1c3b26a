package event

import (
	"encoding/json"
	"strings"
)

// SearchText returns what people said and were told by an event, which is what a search
// of the log finds: the texts of user/message, context/injected and assistant/message.
// "" for all others, and for a payload that is not as ours.
func SearchText(typ string, payload json.RawMessage) string {
	switch Type(typ) {
	case UserMessageType, ContextInjectedType:
		var said struct{ Text string }
		_ = json.Unmarshal(payload, &said)
		return said.Text
	case AssistantMessageType:
		var reply AssistantMessage
		_ = json.Unmarshal(payload, &reply)
		var texts []string
		for _, part := range reply.Parts {
			if part.Type == PartText && part.Text != "" {
				texts = append(texts, part.Text)
			}
		}
		return strings.Join(texts, "\n")
	}
	return ""
}
