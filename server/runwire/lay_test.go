package runwire

import (
	"context"
	"strings"
	"testing"

	"hitchpost/server/project"
	"hitchpost/store"
	"hitchpost/turn/event"
)

// laid is a run that a test writes into a log itself, in a file that no agent has loaded, so
// that nobody else appends.
type laid struct {
	t    testing.TB
	log  *store.Log
	id   string // of turn/start
	step string // of step/start
}

// lay puts sessions with an open run of n pieces each into the file, and serves it. A
// connection then finds them as a crash has left them.
func (w *world) lay(pieces, size int, names ...string) (runs []*laid) {
	w.t.Helper()
	w.stop()
	w.open()
	for _, name := range names {
		first := []store.NewEvent{encoded(w.t, event.NewID(), event.SessionCreated{})}
		if err := w.store.Create(context.Background(), store.Session{ID: name, Owner: "me", Agent: "default"}, first); err != nil {
			w.t.Fatal(err)
		}
		r := &laid{w.t, w.log(name), event.NewID(), event.NewID()}
		r.append(
			encoded(w.t, r.id, event.TurnStart{Agent: "default"}),
			encoded(w.t, r.step, event.StepStart{N: 1, Model: "demo/one"}),
			encoded(w.t, event.NewID(), event.UserMessage{Text: "hi"}),
		)
		r.stream(pieces, size)
		runs = append(runs, r)
	}
	w.serve()
	return runs
}

func encoded(t testing.TB, id string, p event.Payload) store.NewEvent {
	t.Helper()
	body, err := event.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return store.NewEvent{ID: id, Type: string(p.EventType()), Payload: body, Streamed: p.EventType().Streamed()}
}

func (r *laid) append(events ...store.NewEvent) {
	r.t.Helper()
	tip, _ := r.log.Tip()
	if _, err := r.log.Append(context.Background(), store.Batch{From: tip + 1, Events: events}); err != nil {
		r.t.Fatal(err)
	}
}

// stream appends n pieces of an answer, of about size bytes each.
func (r *laid) stream(n, size int) {
	r.t.Helper()
	for n > 0 {
		var some []store.NewEvent
		for range min(n, 500) {
			some = append(some, encoded(r.t, "", event.AssistantChunk{Text: strings.Repeat("x", size)}))
		}
		r.append(some...)
		n -= len(some)
	}
}

// finish ends the run.
func (r *laid) finish() {
	r.t.Helper()
	r.append(
		encoded(r.t, event.MessageID(r.step), event.AssistantMessage{Parts: []event.Part{{Type: event.PartText, Text: "all of it"}}}),
		encoded(r.t, event.NewID(), event.StepEnd{N: 1}),
		encoded(r.t, event.NewID(), event.TurnEnd{Status: event.Completed}),
	)
}

func (r *laid) tip() int64 { tip, _ := r.log.Tip(); return tip }

func tipOf(log *store.Log) int64 { tip, _ := log.Tip(); return tip }

// runEnd returns the seq of the run's end.
func (r *laid) runEnd(log *store.Log) int64 {
	r.t.Helper()
	run, err := project.Find(context.Background(), log, r.id)
	if err != nil || run.End == "" {
		r.t.Fatalf("%+v, %v", run, err)
	}
	return run.Last
}

// noise is an event that makes no frame: output of a call that nobody knows.
func noise() event.Payload { return event.ToolProgress{ID: "nobody", Text: "x"} }
