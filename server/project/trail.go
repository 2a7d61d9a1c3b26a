package project

import (
	"encoding/json"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// Place is where an entry stands.
type Place struct {
	Parent string // id of the entry before it on its branch; "" at a root
	Run    string // id of the turn it stands in, also in a fork's copy; "" between turns
}

// Trail knows where the next entry will stand. It folds a session's events in the
// order of the log; streamed pieces may be left out.
type Trail struct {
	leaf string
	run  string
}

// Next folds an event. ok tells whether it makes an entry, and at is where that stands.
func (t *Trail) Next(ev store.Event) (at Place, ok bool) {
	at = Place{Parent: t.leaf, Run: t.run}
	switch event.Type(ev.Type) {
	case event.TurnStartType:
		t.run = ev.ID
	case event.TurnEndType:
		t.run = ""
	case event.SessionBranchedType:
		t.leaf = body[event.SessionBranched](ev).To
	}
	if !MakesEntry(ev) {
		return Place{}, false
	}
	t.leaf = ev.ID
	return at, true
}

// MakesEntry tells whether the event is an entry of the run wire.
func MakesEntry(ev store.Event) bool { return event.MakesEntry(event.Type(ev.Type), ev.Payload) }

// body decodes a payload of ours. A member of another type than we write keeps its zero
// value: readers are open, and a log that came from elsewhere is still shown.
func body[P event.Payload](ev store.Event) P {
	var p P
	_ = json.Unmarshal(ev.Payload, &p)
	return p
}
