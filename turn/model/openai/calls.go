package openai

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/model/piece"
)

const (
	// maxCalls bounds the calls of one answer.
	maxCalls = 1024
	// maxName bounds the name of a call, in bytes; it is compared with each piece.
	maxName = 1024
)

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
	args     piece.Arguments
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
	at.args.Add(f.Arguments)
	return len(id) + len(name) + len(f.Arguments), nil
}

func overdone(what string) *model.Error {
	return &model.Error{Code: event.CodeProvider, Message: "the provider's answer holds " + what}
}

// indexOf is the index of a piece; a missing one is that of the newest call.
func (c *calls) indexOf(p *callPiece) (index int, given bool) {
	if i := p.Index.Count(); i != nil && *i < math.MaxInt32 {
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
		return id == at.id || indexed && name == "" && !at.args.Closed()
	}
	switch {
	case name == "" || at.name == "":
		return true
	case name == at.name: // repeated, unless everything is there and more comes
		return !at.args.Closed() || len(args) == 0
	}
	// A second name is the rest of the first while that is no tool's name.
	return at.args.Len() == 0 && (!c.offered[at.name] || c.offered[at.name+name])
}

// joined is a name that may come in pieces, or again and again.
func (c *calls) joined(name, more string) string {
	if name == more || c.offered[name] && !c.offered[name+more] {
		return name
	}
	return name + more
}

// finished gives the calls in the order of the provider's indexes. stop is the finish
// reason.
func (c *calls) finished(stop string) []model.Call {
	slices.SortStableFunc(c.list, func(a, b *call) int { return a.index - b.index })
	var out []model.Call
	for _, at := range c.list {
		if at.id == "" && at.name == "" && at.args.Len() == 0 {
			continue
		}
		args, why := at.args.Object(stop == "length")
		out = append(out, model.Call{
			ID:        strings.ToValidUTF8(at.id, "\uFFFD"),
			Name:      strings.ToValidUTF8(at.name, "\uFFFD"),
			Args:      args,
			ArgsError: why,
		})
	}
	return out
}
