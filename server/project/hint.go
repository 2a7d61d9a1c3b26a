package project

import (
	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn/event"
)

// Run returns the open run and the seq of its turn/start; ok is false between runs.
func (p *Projector) Run() (id string, first int64, ok bool) {
	return p.run.id, p.run.seq, p.run.id != ""
}

// Started returns run.started of the open run, byte for byte as it was, for a connection
// that begins behind it; ok is false between runs.
func (p *Projector) Started() (f Frame, ok bool) {
	if p.run.id == "" {
		return Frame{}, false
	}
	return p.group(p.run.seq, []protocol.ServerPayload{p.started(false)})[0], true
}

// Resumed returns the unnumbered run.started that tells the open run goes on after a
// restart; no event marks it. ok is false between runs.
func (p *Projector) Resumed() (f Frame, ok bool) {
	if p.run.id == "" {
		return Frame{}, false
	}
	started := p.started(true)
	return Frame{Type: started.ServerType(), Run: p.run.id, Line: protocol.Encode(started, 0)}, true
}

// Broadcast returns what an event tells every connection of the session's owner, beside
// its frames: unnumbered, and not part of any run's replay.
func Broadcast(session string, ev store.Event) (Frame, bool) {
	var payload protocol.ServerPayload
	switch event.Type(ev.Type) {
	case event.SessionTitledType:
		payload = protocol.SessionTitleUpdated{SessionID: session, Title: body[event.SessionTitled](ev).Title}
	case event.SessionBranchedType:
		moved := body[event.SessionBranched](ev)
		payload = protocol.SessionBranched{SessionID: session, Leaf: moved.To, Previous: moved.Previous}
	default:
		return Frame{}, false
	}
	return Frame{Type: payload.ServerType(), Line: protocol.Encode(payload, 0)}, true
}
