package cli

import (
	"fmt"

	"hitchpost/server/client"
	"hitchpost/turn/event"
)

// follower watches for what becomes of one text that was injected.
type follower struct {
	id   string // its input_id
	read bool   // a turn has taken it up
}

// outcome of a text.
type outcome struct {
	done bool // its turn ended, or there will be none
	left bool // a turn that had not read it was cancelled; the next may follow at once
	err  error
}

// event takes one event in.
func (f *follower) event(e client.Event) outcome {
	switch e.Type {
	case event.UserMessageType:
		f.read = f.read || payload[event.UserMessage](e).InputID == f.id
	case event.ContextInjectedType:
		f.read = f.read || payload[event.ContextInjected](e).InputID == f.id
	case event.TurnEndType:
		return f.ended(payload[event.TurnEnd](e))
	case event.DiagnosticType:
		// A failed resume leaves its turn open: no turn/end will come.
		if d := payload[event.Diagnostic](e); d.Type == "resume_failed" {
			return outcome{done: true, err: fmt.Errorf("the open turn could not go on: %s; send again to try once more", d.Message)}
		}
	}
	return outcome{}
}

func (f *follower) ended(end event.TurnEnd) outcome {
	switch {
	case end.Status == event.Rejected: // the texts went back to the inbox, whoever sent them
		return outcome{done: true, err: fmt.Errorf("rejected: %s; the text waits in the inbox", message(end))}
	case !f.read && end.Status == event.Cancelled:
		return outcome{left: true}
	case !f.read: // unread text begins the next turn by itself
		return outcome{}
	case end.Status == event.Completed:
		return outcome{done: true}
	case end.Status == event.Cancelled && end.Reason != nil:
		return outcome{done: true, err: fmt.Errorf("cancelled: %s", *end.Reason)}
	}
	if text := message(end); text != "" {
		return outcome{done: true, err: fmt.Errorf("%s: %s", end.Status, text)}
	}
	return outcome{done: true, err: fmt.Errorf("the turn ended as %s", end.Status)}
}

func message(end event.TurnEnd) string {
	if end.Error == nil {
		return ""
	}
	return end.Error.Message
}

// openTurn notices that a restarted server has a turn open that nobody runs, once
// everything that happened in it was shown.
type openTurn struct {
	shown int64 // newest seq
	tip   int64 // where the log stood still, -1 while it does not
}

func (o *openTurn) connected(h client.Hello) {
	o.tip = -1
	if h.Status == "resumable" {
		o.tip = h.LastSeq
	}
}

func (o *openTurn) event(e client.Event) {
	o.shown = e.Seq
	if e.Seq > o.tip {
		o.tip = -1
	}
}

func (o *openTurn) left() bool { return o.tip >= 0 && o.shown >= o.tip }
