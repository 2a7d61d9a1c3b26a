package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// maxDepth bounds the nesting of a call's arguments.
const maxDepth = 256

// maxExcerpt bounds what an ArgsError quotes, in bytes.
const maxExcerpt = 200

// calls puts the pieces of tool calls together. By the wire's rules an index says which
// call a piece belongs to, and the first piece has id and name; each of these is left
// out, repeated or given late by somebody.
type calls struct {
	list    []*call // as they began
	offered map[string]bool
}

type call struct {
	index    int
	id, name string
	args     []byte
	shape    nesting
}

// add takes in one piece and returns how many bytes are kept of it.
func (c *calls) add(p *callPiece) (kept int, err error) {
	f := &p.Function
	id, name := string(p.ID), string(f.Name)
	index, indexed := c.indexOf(p)
	at := c.find(index, indexed, id)
	if at == nil || !c.continues(at, indexed, id, name, f.Arguments) {
		at = &call{index: index}
		c.list = append(c.list, at)
	}
	if len(c.list) > maxCalls {
		return 0, overdone(fmt.Sprintf("more than %d tool calls", maxCalls))
	}
	if len(at.name)+len(name) > maxName {
		return 0, overdone(fmt.Sprintf("a tool's name of more than %d bytes", maxName))
	}
	if at.id == "" {
		at.id = id
	}
	at.name = c.joined(at.name, name)
	at.args = append(at.args, f.Arguments...)
	at.shape.add(f.Arguments)
	return len(id) + len(name) + len(f.Arguments), nil
}

func overdone(what string) *model.Error {
	return &model.Error{Code: event.CodeProvider, Message: "the provider's answer holds " + what}
}

// indexOf is the index of a piece; a missing one is that of the newest call.
func (c *calls) indexOf(p *callPiece) (index int, given bool) {
	if i := p.Index.count(); i != nil && *i < math.MaxInt32 {
		return int(*i), true
	}
	if n := len(c.list); n > 0 {
		return c.list[n-1].index, false
	}
	return 0, false
}

// find is the call that a piece speaks of by its index, else by its id, else the newest.
func (c *calls) find(index int, indexed bool, id string) *call {
	for _, at := range slices.Backward(c.list) {
		if indexed && index == at.index || !indexed && id != "" && id == at.id {
			return at
		}
	}
	if !indexed && len(c.list) > 0 {
		return c.list[len(c.list)-1]
	}
	return nil
}

// continues tells whether a piece belongs to the call that it seems to speak of, or
// begins another one in its place.
func (c *calls) continues(at *call, indexed bool, id, name string, args []byte) bool {
	if id != "" && at.id != "" {
		// Another id is another call; but some servers make up an id for every piece,
		// and only the first one has a name.
		return id == at.id || indexed && name == "" && !at.shape.closed()
	}
	switch {
	case name == "" || at.name == "":
		return true
	case name == at.name: // repeated, unless everything is there and more comes
		return !at.shape.closed() || len(args) == 0
	}
	// A second name is the rest of the first while that is no tool's name.
	return len(at.args) == 0 && (!c.offered[at.name] || c.offered[at.name+name])
}

// joined is a name that may come in pieces, or again and again.
func (c *calls) joined(name, piece string) string {
	if name == piece || c.offered[name] && !c.offered[name+piece] {
		return name
	}
	return name + piece
}

// finished gives the calls in the order of the provider's indexes. stop is the finish
// reason.
func (c *calls) finished(stop string) []model.Call {
	slices.SortStableFunc(c.list, func(a, b *call) int { return a.index - b.index })
	var out []model.Call
	for _, at := range c.list {
		if at.id == "" && at.name == "" && len(at.args) == 0 {
			continue
		}
		args, why := object(at, stop == "length")
		out = append(out, model.Call{
			ID:        strings.ToValidUTF8(at.id, "\uFFFD"),
			Name:      strings.ToValidUTF8(at.name, "\uFFFD"),
			Args:      args,
			ArgsError: why,
		})
	}
	return out
}

// object gives the arguments as an object, or {} and why they are none (guarantee 3).
// After an answer cut at its length limit, no arguments are none: they were still to come.
func object(at *call, cut bool) (args json.RawMessage, why string) {
	text := at.args
	if !utf8.Valid(text) {
		text, _ = whole(text, true)
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || string(text) == "null" {
		if cut {
			return json.RawMessage("{}"), "the answer was cut at its length limit before the arguments came"
		}
		return json.RawMessage("{}"), ""
	}
	switch {
	case at.shape.deepest > maxDepth:
		why = fmt.Sprintf("they nest deeper than %d levels", maxDepth)
	default:
		var raw json.RawMessage
		if err := json.Unmarshal(text, &raw); err != nil {
			why = err.Error()
		} else if text[0] != '{' {
			why = "they are " + kindOf(text[0])
		}
	}
	if why == "" {
		var b bytes.Buffer
		json.Compact(&b, text) // known to be valid
		return b.Bytes(), ""
	}
	if cut {
		why += " (the answer was cut at its length limit)"
	}
	return json.RawMessage("{}"), fmt.Sprintf("%s; what came: %s", why, excerpt(text))
}

// kindOf names a JSON value by its first byte.
func kindOf(first byte) string {
	switch first {
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	}
	return "a number"
}

func excerpt(text []byte) string {
	if len(text) <= maxExcerpt {
		return string(text)
	}
	cut := maxExcerpt
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return string(text[:cut]) + "…"
}

// nesting follows the brackets of a JSON text that comes in pieces.
type nesting struct {
	depth, deepest    int
	inString, escaped bool
}

func (n *nesting) add(piece []byte) {
	for _, b := range piece {
		switch {
		case n.escaped:
			n.escaped = false
		case n.inString:
			n.escaped = b == '\\'
			n.inString = b != '"'
		case b == '"':
			n.inString = true
		case b == '{' || b == '[':
			n.depth++
			n.deepest = max(n.deepest, n.depth)
		case b == '}' || b == ']':
			n.depth--
		}
	}
}

// closed tells whether an object began and has ended.
func (n *nesting) closed() bool { return n.deepest > 0 && n.depth == 0 }
