package turn

import (
	"context"
	"slices"
	"strings"
)

// look has a client ask what an agent is doing, and holds the answer against the log
// and against what is under way. Only when nothing else is asked of the process.
func (s *sim) look(id string) {
	stalled, next := s.disk.isStalled()
	if stalled || next || s.life.tails[id] == nil || len(s.unanswered()) > 0 {
		return
	}
	var state State
	told := false
	s.send(id, "state", func(a *Agent) (err error) {
		state, err = a.State(context.Background())
		return err
	}, func(err error, heard bool) { told = err == nil && heard })
	s.quiesce()
	if !told || s.disk.gone() {
		return
	}
	s.watch()
	s.life.looks.check(id)
	events := s.record(id).events
	if open := isOpen(events); open != (state.Status != Idle) {
		s.breach("an agent knows what its log says", "%s: it is %s, a turn is open: %v", id, state.Status, open)
	}
	stands := standing(events)
	for _, p := range state.Pending {
		if !stands[p.CallID] {
			s.breach("an agent knows what its log says", "%s: %s stands, says the agent", id, p.CallID)
		}
	}
	if len(stands) != len(state.Pending) {
		s.breach("an agent knows what its log says", "%s: %d calls stand, it says %d", id, len(stands), len(state.Pending))
	}
	switch state.Status {
	case Running, Stopping:
		if !s.atWork(id) {
			s.breach("every session can go on", "%s: it is %s, and nothing is under way", id, state.Status)
		}
	case Idle:
		s.checkNoWakeWaits(id)
	}
}

// atWork tells whether a model or a tool of a session, or of a subagent below it, is
// under way.
func (s *sim) atWork(id string) bool {
	of := func(session string) bool { return session == id || strings.Contains(session, "task-of-"+id+"-") }
	return slices.ContainsFunc(s.answering(), func(k *ask) bool { return of(k.session) }) ||
		slices.ContainsFunc(s.working(), func(d *deed) bool { return of(s.numbers[d.n]) })
}

// checkNoWakeWaits: a text that wants a turn waits for none while no turn is open.
func (s *sim) checkNoWakeWaits(id string) {
	waiting, err := s.life.tails[id].log.Inbox(context.Background())
	if err != nil {
		s.breach("reading goes on whatever the disk does", "%v", err)
	}
	for _, text := range waiting {
		if text.Wake {
			s.breach("no wake is dropped", "%s: it is idle, and %q waits for a turn", id, text.Text)
		}
	}
}
