package turn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/tool"
)

// choice is something that can happen next.
type choice struct {
	weight int
	happen func()
}

// move lets one thing happen, by the seed's choice.
func (s *sim) move() {
	s.pick(slices.Concat(s.clientMoves(), s.besideMoves(), s.diskMoves(), s.deathMoves()))
}

// moveBeside is a move of a model or a tool; false when none is at work.
func (s *sim) moveBeside() bool {
	choices := s.besideMoves()
	if len(choices) > 0 {
		s.pick(choices)
	}
	return len(choices) > 0
}

func (s *sim) pick(choices []choice) {
	sum := 0
	for _, c := range choices {
		sum += c.weight
	}
	n := s.rng.IntN(sum)
	for _, c := range choices {
		if n -= c.weight; n < 0 {
			c.happen()
			return
		}
	}
}

func oneOf[T any](s *sim, any ...T) T { return any[s.rng.IntN(len(any))] }

func (s *sim) chance(percent int) bool { return s.rng.IntN(100) < percent }

func (s *sim) clientMoves() []choice {
	id := oneOf(s, s.sessionIDs()...)
	if s.life.tails[id] == nil && len(s.unanswered()) > 0 {
		return nil // of two who create a session, either may come first
	}
	choices := []choice{
		{8, func() { s.inject(s.newText(id, s.chance(40)), true) }},
		{4, func() { s.inject(s.newText(id, s.chance(40)), false) }},
		{2, func() { s.stop(id, Stop{Resumable: s.chance(50)}) }},
		{2, func() { s.stop(id, Stop{Mode: oneOf(s, Abort, Graceful), Resumable: s.chance(50)}) }},
		{1, func() { s.decide(id, "no-such-call", true) }},
		{1, func() { s.narrow(id, oneOf(s, []string{"*"}, []string{"*"}, []string{"fast", "ask*"})) }},
		{1, func() { s.repoint(id, oneOf(s, "demo/one", "demo/two", "nobody/one")) }},
		{1, func() { s.compact(id) }},
		{4, func() { s.startRun(id, s.newText(id, s.chance(40))) }},
		{2, func() { s.startRun(id, nil) }},
		{6, func() { s.injectInto(s.newText(id, s.chance(40)), oneOf(s, QueueSteer, QueueNextTurn, QueueFollowUp)) }},
		{4, func() { s.look(id) }},
		{1, func() { s.provide(s.bare) }},
	}
	if named := slices.DeleteFunc(slices.Clone(s.texts), func(x *text) bool { return x.id == "" }); len(named) > 0 {
		choices = append(choices, choice{3, func() {
			if x := oneOf(s, named...); x.run {
				s.startRun(x.session, x)
			} else {
				s.inject(x, s.chance(60))
			}
		}})
	}
	if session, calls := s.standing(); len(calls) > 0 {
		choices = append(choices,
			choice{12, func() { s.decide(session, oneOf(s, calls...), s.chance(80)) }},
			choice{3, func() { // two doors
				call := oneOf(s, calls...)
				s.decide(session, call, true)
				s.quiesce()
				if !s.disk.gone() {
					s.decide(session, call, s.chance(50))
				}
			}})
	}
	if n := len(s.verdicts); n > 0 {
		v := s.verdicts[s.rng.IntN(n)]
		choices = append(choices, choice{2, func() { s.decide(v.session, v.callID, true) }})
	}
	return choices
}

// standing returns the calls of a session that wait for a verdict, as a reader of
// the log knows them.
func (s *sim) standing() (session string, calls []string) {
	for _, id := range s.sessionIDs() {
		stands := standing(s.record(id).events)
		for _, ev := range s.record(id).events { // in their order: an id may be minted, and differ in the next run
			if event.Type(ev.Type) == event.ApprovalRequestedType {
				p, _ := as[event.ApprovalRequested](ev)
				if call := p.(event.ApprovalRequested).CallID; stands[call] {
					calls = append(calls, call)
					delete(stands, call)
				}
			}
		}
		if len(calls) > 0 {
			return id, calls
		}
	}
	return "", nil
}

func (s *sim) besideMoves() (choices []choice) {
	for _, k := range s.answering() {
		choices = append(choices,
			choice{5, func() { s.stream(k) }},
			choice{10, func() { s.reply(k, s.newReply(k)) }},
			choice{1, func() { s.refuse(k) }})
	}
	for _, d := range s.working() {
		choices = append(choices,
			choice{4, func() { s.tell("effect of %d", d.n); s.effect(d) }},
			choice{8, func() { s.finishDeed(d, "") }},
			choice{1, func() { s.finishDeed(d, oneOf(s, "it did not work", errPanics)) }})
	}
	return choices
}

func (s *sim) stream(k *ask) {
	piece := fmt.Sprintf("piece-%d ", s.rng.IntN(1000))
	d := model.Delta{Text: piece}
	switch {
	case k.text+k.thought == "" && s.chance(20):
		d = model.Delta{Retry: &model.Retry{Attempt: 2, After: time.Second, Cause: &model.Error{Code: event.CodeProvider, Message: "busy"}}}
	case k.text == "" && s.chance(30):
		d = model.Delta{Reasoning: piece}
	}
	k.text, k.thought = k.text+d.Text, k.thought+d.Reasoning
	s.tell("%s: text %q, reasoning %q, retry %v", k.key, d.Text, d.Reasoning, d.Retry != nil)
	k.orders <- order{delta: d}
}

func (s *sim) reply(k *ask, r model.Reply) {
	s.tell("%s: reply %q with %d calls", k.key, r.Text, len(r.Calls))
	k.orders <- order{reply: &r}
}

func (s *sim) refuse(k *ask) {
	err := oneOf(s, overflowError(), providerError(event.CodeProvider, "no such luck"))
	s.tell("%s: fails: %v", k.key, err)
	k.orders <- order{err: err}
}

// plain is the answer that asks for nothing.
func plain(k *ask) model.Reply {
	if k.role() == RoleCompactor {
		return model.Reply{Text: k.session + " so far. " + k.text, Stop: "stop"}
	}
	r := model.Reply{Text: k.text, Stop: "stop"}
	if k.thought != "" {
		r.Reasoning = &model.Reasoning{Text: k.thought}
	}
	return r
}

// newReply ends an answer: what was streamed, and perhaps calls.
func (s *sim) newReply(k *ask) model.Reply {
	r := plain(k)
	switch k.role() {
	case RoleTitler:
		return r
	case RoleCompactor:
		r.Text += oneOf(s, "", strings.Repeat(" long", 5000))
		return r
	}
	tokens := int64(s.rng.IntN(10000))
	r.Usage = &event.Usage{PromptTokens: &tokens}
	for s.chance(55) && len(r.Calls) < 4 {
		r.Calls = append(r.Calls, s.newCall(k.session))
	}
	return r
}

func (s *sim) newCall(session string) model.Call {
	n := len(s.numbers) + 1
	s.numbers[n] = session
	c := model.Call{ID: fmt.Sprintf("c%d", n), Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}
	c.Name = oneOf(s, "fast", "par", "par", "once", "oncepar", "ask", "ask", "askpar", "askpar", "missing", TaskName)
	if c.Name == "askpar" && s.shape.expires > 0 {
		c.Name = "ask" // two that expire in the same moment would not do so in one order
	}
	if c.Name == TaskName {
		c.Args = json.RawMessage(fmt.Sprintf(`{"description":"a part","prompt":"task-of-%s-%d go"}`, session, n))
		return c
	}
	switch s.rng.IntN(20) {
	case 0:
		c.ID = ""
	case 1:
		c.ID = fmt.Sprintf("c%d", 1+s.rng.IntN(n)) // of another call, perhaps of the same turn
	case 2:
		c.Args, c.ArgsError = json.RawMessage("{}"), "cut short"
	case 3:
		c.Args = json.RawMessage(`{"n":"one"}`)
	}
	return c
}

func (s *sim) finishDeed(d *deed, failure string) {
	s.tell("%s %d ends %s", d.name, d.n, failure)
	if failure != "" {
		d.orders <- tool.Fail(failure)
		return
	}
	s.effect(d)
	d.orders <- tool.Text(fmt.Sprintf("did %d", d.n))
}

func (s *sim) diskMoves() []choice {
	stalled, next := s.disk.isStalled()
	var choices []choice
	switch {
	case stalled:
		choices = append(choices, choice{12, func() { s.tell("the commit goes on"); s.disk.release() }})
	case next:
	default:
		choices = append(choices, choice{4, func() { s.tell("the next commit stalls"); s.disk.hold() }})
	}
	if stalled {
		return choices
	}
	if s.fault != "" {
		return append(choices, choice{12, s.mend})
	}
	return append(choices,
		choice{1, func() { s.tell("commits fail"); s.disk.fail(s.rng.IntN(3), 1+s.rng.IntN(3)) }},
		choice{1, func() {
			s.fault = oneOf(s, "max_page_count = 1", "query_only = 1")
			s.tell("the disk: %s", s.fault)
			s.setFault(s.fault)
		}},
		choice{3, func() {
			for _, d := range []time.Duration{time.Second, 2 * time.Minute, 2 * time.Hour} {
				if s.chance(50) {
					s.tell("%s pass", d)
					time.Sleep(d)
					return
				}
			}
		}})
}

func (s *sim) setFault(setting string) {
	if err := s.disk.pragma(setting); err != nil {
		s.t.Errorf("pragma %s: %v", setting, err)
	}
}

// mend takes the fault of SQLite's own off the disk.
func (s *sim) mend() {
	switch {
	case strings.HasPrefix(s.fault, "max"):
		s.setFault("max_page_count = 1000000")
	case s.fault != "":
		s.setFault("query_only = 0")
	}
	s.tell("the disk works")
	s.fault = ""
}

func (s *sim) deathMoves() []choice {
	choices := []choice{
		{2, func() {
			in, at := 1+s.rng.IntN(6), oneOf(s, beforeCommit, afterCommit, amidCommit)
			s.tell("it is to die %s commit %d from now", at, in)
			s.disk.crash(in, at)
		}},
		{1, func() { s.tell("it dies"); s.disk.kill() }},
	}
	for _, d := range s.working() {
		if d.did {
			choices = append(choices, choice{8, func() { s.tell("it dies behind the effect of %d", d.n); s.disk.kill() }})
		}
	}
	if stalled, _ := s.disk.isStalled(); !stalled {
		choices = append(choices, choice{1, func() {
			grace := time.Duration(s.rng.IntN(2)) * time.Minute
			s.tell("it restarts within %s", grace)
			s.restart(grace)
		}})
	}
	return choices
}

// provide gives agents their model provider, or takes it away, as a reload does.
func (s *sim) provide(some bool) {
	s.tell("there is a provider: %v", some)
	s.bare = !some
	s.life.host.Reload(s.config())
}

// heal makes everything work.
func (s *sim) heal() {
	s.disk.release()
	s.disk.fail(0, 0)
	s.disk.crash(0, "")
	s.quiesce()
	if !s.disk.gone() {
		s.mend()
		s.provide(true)
	}
	for _, id := range s.sessionIDs() {
		s.repoint(id, "demo/one")
	}
}
