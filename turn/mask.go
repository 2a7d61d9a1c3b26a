package turn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"hitchpost/turn/event"
)

// keptMembers are the members of a payload, of its parts and of its details that this
// package reads back to find its way: no secret belongs there, and a pattern that is
// too wide must not break a session.
var keptMembers = []string{
	"id", "call_id", "type", "verdict", "status", "agent", "parent_id", "from", "boundary", "upto_seq", "n", "patterns",
	"input_id", "queue", "mode", "model", "role", "cause", "code", "field", "partial", "to", "previous",
	"usage", "tokens_before", "tokens_after",
}

var structuralMembers = []string{"parts", "details"}

// masked returns the payload without secrets. What the log gets is also what is
// folded, so an agent knows no more than after a restart (guarantee 15).
func (a *Agent) masked(p event.Payload) event.Payload {
	r := a.host.config().Redact
	if r == nil {
		return p
	}
	if thought, ok := p.(event.Reasoning); ok && !bytes.Equal(r.JSON(thought.Opaque), thought.Opaque) {
		thought.Opaque = nil // signed, say: its provider would refuse it changed
		p = thought
	}
	body, err := event.Encode(p)
	if err != nil {
		return p // it fails again, and is told of, when it is recorded
	}
	clean := r.Object(body, keptMembers, structuralMembers)
	if bytes.Equal(clean, body) {
		return p
	}
	fresh := reflect.New(reflect.TypeOf(p))
	if err := json.Unmarshal(clean, fresh.Interface()); err != nil && a.work.err == nil {
		a.work.err = fmt.Errorf("mask %s: %w", p.EventType(), err)
	}
	return fresh.Elem().Interface().(event.Payload)
}
