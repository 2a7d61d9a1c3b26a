package turn

import (
	"context"
	"sync"

	"github.com/google/go-cmp/cmp"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// onlooker hears every change of one life.
type onlooker struct {
	sim  *sim
	life *life
	from map[string]int64 // seq that a session went on at when the life began

	mu    sync.Mutex
	heard map[string]*heard
}

// heard is what the changes told of a session.
type heard struct {
	events []store.Event
	inbox  []store.Input
	told   bool // of its inbox
	live   Liveness
	steps  int // of the newest turn
}

const (
	hearsInOrder = "a watcher hears every change, in order"
	goesOn       = "a steer or a follow-up makes a turn go on"
	hearsFreed   = "a session is free before its turn's end is heard of"
)

func (s *sim) onlook(l *life) *onlooker {
	o := &onlooker{sim: s, life: l, from: map[string]int64{}, heard: map[string]*heard{}}
	sessions, err := l.store.Sessions(context.Background())
	if err != nil {
		s.breach("reading goes on whatever the disk does", "%v", err)
	}
	for _, x := range sessions {
		o.from[x.ID] = x.LastSeq + 1
	}
	return o
}

// hear is called by the goroutines of the agents.
func (o *onlooker) hear(c Change) {
	live := o.life.host.Live(c.Session)
	o.mu.Lock()
	defer o.mu.Unlock()
	h := o.heard[c.Session]
	if c.Created && h != nil {
		o.sim.breach(hearsInOrder, "%s: created, and it was told of before", c.Session)
	}
	if h == nil {
		h = &heard{steps: o.sim.shape.maxSteps} // of a turn from before nothing is known
		o.heard[c.Session] = h
	}
	ended, completed := false, false
	for _, ev := range c.Events {
		if n := len(h.events); n > 0 && h.events[n-1].Seq >= ev.Seq {
			o.sim.breach(hearsInOrder, "%s: seq %d behind %d", c.Session, ev.Seq, h.events[n-1].Seq)
		}
		if event.Type(ev.Type).Streamed() {
			o.sim.breach(hearsInOrder, "%s: a streamed piece", c.Session)
		}
		h.events = append(h.events, ev)
		switch event.Type(ev.Type) {
		case event.StepStartType:
			h.steps++
		case event.TurnEndType:
			p, _ := as[event.TurnEnd](ev)
			ended, completed = true, p.(event.TurnEnd).Status == event.Completed && h.steps < o.sim.shape.maxSteps
		case event.TurnStartType:
			ended, h.steps = false, 0
		case event.ContextInjectedType:
			p, _ := as[event.ContextInjected](ev)
			o.extended(completed, c.Session, p.(event.ContextInjected).Queue)
		}
	}
	if completed {
		left := h.inbox
		if c.InboxChanged {
			left = c.Inbox
		}
		for _, text := range left {
			o.extended(completed, c.Session, text.Queue)
		}
	}
	if ended && live.Running {
		o.sim.breach(hearsFreed, "%s runs, behind its turn/end", c.Session)
	}
	h.live = live
	if c.InboxChanged {
		h.inbox, h.told = c.Inbox, true
	}
}

// extended is told of a text that was not read before a turn was completed.
func (o *onlooker) extended(completed bool, session, queue string) {
	if completed && (queue == QueueSteer || queue == QueueFollowUp) {
		o.sim.breach(goesOn, "%s: its turn was completed while a %s waited", session, queue)
	}
}

// check holds what was heard of a session against its log, its inbox and its agent, when
// everything of it has come to rest.
func (o *onlooker) check(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	h := o.heard[id]
	if h == nil {
		h = &heard{}
	}
	var want []string
	for _, ev := range o.sim.record(id).events {
		if ev.Seq >= max(o.from[id], 1) && !event.Type(ev.Type).Streamed() {
			want = append(want, ev.ID)
		}
	}
	var got []string
	for _, ev := range h.events {
		got = append(got, ev.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		o.sim.breach(hearsInOrder, "%s (-log +heard):\n%s", id, diff)
	}
	if live := o.life.host.Live(id); live != h.live {
		o.sim.breach(hearsInOrder, "%s is %+v, heard of was %+v", id, live, h.live)
	}
	waiting, err := o.life.tails[id].log.Inbox(context.Background())
	if err != nil {
		o.sim.breach("reading goes on whatever the disk does", "%v", err)
	}
	if !h.told {
		return
	}
	if len(waiting) != len(h.inbox) {
		o.sim.breach(hearsInOrder, "%s: %d texts wait, %d were heard of", id, len(waiting), len(h.inbox))
		return
	}
	for i, text := range waiting {
		if text.ID != h.inbox[i].ID || text.Wake != h.inbox[i].Wake {
			o.sim.breach(hearsInOrder, "%s: text %d is %+v, heard of was %+v", id, i, text, h.inbox[i])
		}
	}
}
