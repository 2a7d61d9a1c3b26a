package turn

import (
	"fmt"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// judgement is what a log says of texts, calls and verdicts.
type judgement struct {
	sim       *sim
	session   string
	turn      int
	read      map[string]int     // text → how often it stands in the log or waits
	calls     map[string]*judged // by turn and call id
	decided   []verdict
	marked    map[string]bool
	cancelled int
}

// judged is one call of one turn.
type judged struct {
	n        int
	name     string
	asked    int
	verdicts []string
	result   *event.ToolResult
}

func (j *judgement) call(id string) *judged {
	key := fmt.Sprint(j.turn, " ", id)
	if j.calls[key] == nil {
		j.calls[key] = &judged{}
	}
	return j.calls[key]
}

func (j *judgement) add(ev store.Event) {
	p, err := decode(ev)
	if err != nil {
		j.sim.breach("a log can be read", "%s: %v", j.session, err)
		return
	}
	if isTextEvent(ev) {
		p, _ = as[event.UserMessage](ev)
	}
	switch p := p.(type) {
	case event.UserMessage:
		j.read[p.Text]++
	case event.TurnStart:
		j.turn++
	case event.TurnEnd:
		if p.Status == event.Cancelled {
			j.cancelled++
		}
	case event.AssistantMessage:
		for _, part := range p.Parts {
			if part.Type == event.PartToolCall {
				c := j.call(part.ID)
				c.n, c.name = number(part.Args), part.Name
			}
		}
	case event.ApprovalRequested:
		j.call(p.CallID).asked++
	case event.ApprovalResolved:
		c := j.call(p.CallID)
		c.verdicts = append(c.verdicts, p.Verdict)
		j.decided = append(j.decided, verdict{j.session, p.CallID, p.Verdict == event.Approved})
	case event.ToolResult:
		j.call(p.ID).result = &p
	case event.PolicyUpdated:
		if j.marked == nil {
			j.marked = map[string]bool{}
		}
		for _, pattern := range p.Patterns {
			j.marked[pattern] = true
		}
	}
}

// texts: what was acknowledged is read once or still waits, what was refused is not there.
func (j *judgement) texts() {
	for _, x := range j.sim.texts {
		if x.session != j.session {
			continue
		}
		n := j.read[x.body]
		switch {
		case n > 1:
			j.sim.breach("a text is read once", "%q is there %d times", x.body, n)
		case n == 0 && x.taken:
			j.sim.breach("what was acknowledged is in the log", "%q was taken, and is neither in the log nor waiting", x.body)
		case n > 0 && !x.taken && !x.unknown && x.refused:
			j.sim.breach("of what was refused nothing is kept", "%q was refused, and is there", x.body)
		}
	}
}

// verdicts: one a call, spent once, and what was acknowledged is what counts.
func (j *judgement) verdicts() {
	for key, c := range j.calls {
		did := j.sim.effects[c.n]
		switch {
		case c.asked > 1 || len(c.verdicts) > c.asked:
			j.sim.breach("a verdict is spent once, and a call has one", "%s: call %s was asked for %d times, verdicts %v", j.session, key, c.asked, c.verdicts)
		case did > 1 && len(c.verdicts) > 0:
			j.sim.breach("a verdict is spent once, and a call has one", "%s: call %s (%s) was %s once, and done %d times", j.session, key, c.name, c.verdicts[0], did)
		case did > 1 && !repeatable[c.name]:
			j.sim.breach("what must not be repeated happens at most once", "%s: call %s (%s) was done %d times", j.session, key, c.name, did)
		case did > 0 && (c.name == "ask" || c.name == "askpar") && (len(c.verdicts) == 0 || c.verdicts[0] != event.Approved):
			j.sim.breach("nothing that asks runs without its verdict", "%s: call %s was done, verdicts %v", j.session, key, c.verdicts)
		case did == 0 && c.name != TaskName && c.result != nil && c.result.Error == nil:
			j.sim.breach("a result tells what happened", "%s: call %s has a result and was never done", j.session, key)
		}
	}
	for n, session := range j.sim.numbers {
		if session == j.session && j.sim.effects[n] > 0 && !j.logged(n) {
			j.sim.breach("durable before anything is done", "%s: call %d was done and is not in the log", session, n)
		}
	}
	heard := map[verdict]int{}
	for _, v := range j.decided {
		heard[v]++
	}
	for _, v := range j.sim.verdicts {
		if v.session != j.session {
			continue
		}
		if heard[v]--; heard[v] < 0 {
			j.sim.breach("what was acknowledged is in the log", "%s: the verdict on %s, approve %v", v.session, v.callID, v.approve)
		}
	}
}

func (j *judgement) logged(n int) bool {
	for _, c := range j.calls {
		if c.n == n {
			return true
		}
	}
	return false
}
