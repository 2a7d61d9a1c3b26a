package turn

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// parents is a tree as its entries tell it.
type parents struct {
	log    []store.Event
	parent map[string]string
	seq    map[string]int64
	leaf   string
}

func byParents(log []store.Event) *parents {
	p := &parents{log: log, parent: map[string]string{}, seq: map[string]int64{}}
	for _, ev := range log {
		if event.Type(ev.Type) == event.SessionBranchedType {
			var moved event.SessionBranched
			_ = json.Unmarshal(ev.Payload, &moved)
			p.leaf = moved.To
		}
		if event.MakesEntry(event.Type(ev.Type), ev.Payload) {
			p.parent[ev.ID], p.seq[ev.ID] = p.leaf, ev.Seq
			p.leaf = ev.ID
		}
	}
	return p
}

func (p *parents) path() (out []store.Event) {
	for id := p.leaf; id != ""; id = p.parent[id] {
		out = append(out, p.log[p.seq[id]])
	}
	slices.Reverse(out)
	return out
}

// history is what a model is told of the path, a line a message.
func (p *parents) history(t *testing.T) (out []string) {
	path := p.path()
	upto := int64(-1)
	for _, ev := range slices.Backward(path) {
		if event.Type(ev.Type) == event.SessionCompactedType {
			var c event.SessionCompacted
			mustUnmarshal(t, ev.Payload, &c)
			out, upto = append(out, "user: "+c.Summary), c.UptoSeq
			break
		}
	}
	for i, ev := range path {
		var e struct {
			Text  string
			Parts []event.Part
		}
		switch event.Type(ev.Type) {
		case event.UserMessageType, event.ContextInjectedType:
			mustUnmarshal(t, ev.Payload, &e)
			if ev.Seq > upto {
				out = append(out, "user: "+e.Text)
			}
		case event.AssistantMessageType:
			mustUnmarshal(t, ev.Payload, &e)
			if ev.Seq <= upto {
				continue
			}
			line, results := "assistant:", []string{}
			for _, part := range e.Parts {
				if part.Type == event.PartText {
					line += " " + part.Text
					continue
				}
				line += " " + part.ID
				results = append(results, part.ID+": "+resultOf(t, path[i+1:], part.ID))
			}
			out = append(append(out, line), results...)
		}
	}
	return out
}

// resultOf finds the result of a call before the next answer.
func resultOf(t *testing.T, behind []store.Event, call string) string {
	for _, ev := range behind {
		var r event.ToolResult
		switch event.Type(ev.Type) {
		case event.AssistantMessageType:
			return "none"
		case event.ToolResultType:
			if mustUnmarshal(t, ev.Payload, &r); r.ID == call && r.Error != nil {
				return "Error: " + *r.Error
			} else if r.ID == call {
				return strings.Trim(string(r.Content), `"`)
			}
		}
	}
	return "none"
}

func told(messages []model.Message) (out []string) {
	for _, m := range messages {
		switch m.Role {
		case model.User:
			out = append(out, "user: "+m.Text)
		case model.Assistant:
			line := "assistant:"
			if m.Text != "" {
				line += " " + m.Text
			}
			for _, c := range m.Calls {
				line += " " + c.ID
			}
			out = append(out, line)
		case model.ToolRole:
			if m.Text == "Error: no result was recorded for this call" {
				m.Text = "none"
			}
			out = append(out, m.CallID+": "+m.Text)
		}
	}
	return out
}
