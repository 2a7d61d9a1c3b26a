package turn

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/redact"
	"hitchpost/turn/tool"
	"hitchpost/turn/tool/policy"
)

const (
	errBeforeExecution = "cancelled before execution"
	errOutcomeUnknown  = "outcome unknown: the process died while this ran"
	errMasked          = "%s did not run: its arguments hold %q, which only stands for a secret; refer to the secret by where it is kept, or leave it as it is there"
)

// byConfiguration decides the calls that stood when approvals were switched off.
const byConfiguration = "approvals switched off"

// job is one call of the run under way.
type job struct {
	call   *call
	tool   *tool.Tool // nil for one that must not run
	end    context.CancelCauseFunc
	result *tool.Result // nil while it runs

	child     *Agent // the subagent of a Task under way
	abandoned bool   // that subagent was stopped by the drain
}

// runCalls takes the next run of the step's owed calls: neighbours that are
// declared parallel, or a single call. After a cancel the rest is not run.
func (a *Agent) runCalls(s *step) (more bool, err error) {
	owed := s.owed()
	if a.cancel != nil && a.cancel.Mode != Graceful {
		for _, c := range owed {
			a.logCall(c)
			a.settleCall(c, unrun(c))
		}
		return true, nil
	}
	if a.host.isDraining() {
		a.rest()
		return false, nil
	}
	run := owed[:a.runLength(owed)]
	for _, c := range run {
		a.logCall(c)
		a.jobs = append(a.jobs, &job{call: c, end: func(error) {}})
	}
	for _, j := range a.jobs {
		a.admit(j)
	}
	if err := a.commit(); err != nil {
		return false, err
	}
	for _, j := range a.jobs {
		a.proceed(j)
	}
	return a.collect(), nil
}

// unrun is the result of a call that a cancel kept from running.
func unrun(c *call) tool.Result {
	switch {
	case c.denied():
		return denial(c)
	case c.stray:
		return tool.Fail(errOutcomeUnknown)
	default:
		return tool.Fail(errBeforeExecution)
	}
}

func (a *Agent) runLength(owed []*call) int {
	n := 0
	for n < len(owed) {
		t, ok := a.host.config().Tools().Lookup(owed[n].Name)
		if !ok || !t.Parallel {
			break
		}
		n++
	}
	return max(n, 1)
}

func (a *Agent) logCall(c *call) {
	if !c.logged {
		a.emit(c.ToolCall)
	}
}

// admit takes a call through the pipeline up to its execution: resolve, policy,
// approval. What must not run has its result at once; what asks is parked.
func (a *Agent) admit(j *job) {
	j.tool, j.result = a.refuse(j.call)
	if j.result != nil || j.call.verdict != nil || !j.tool.Asks() {
		return
	}
	if !a.host.config().Approvals {
		if j.call.stands() { // from before they were switched off: the log must say that it may run from here on
			a.emit(event.ApprovalResolved{CallID: j.call.ID, Verdict: event.Approved, By: byConfiguration})
		}
		return
	}
	if a.cancel != nil {
		result := tool.Fail(errBeforeExecution)
		j.result = &result
		return
	}
	if a.parent != "" {
		result := tool.Fail(j.call.Name + " denied: no approver can reach a subagent session")
		j.result = &result
		return
	}
	a.park(j)
}

// proceed starts a call that nothing holds back any more.
func (a *Agent) proceed(j *job) {
	c := j.call
	switch {
	case j.result != nil || c.stands() && a.host.config().Approvals:
		return
	case c.denied():
		result := denial(c)
		j.result = &result
		return
	}
	cfg := a.host.config()
	ctx, end := context.WithCancelCause(a.host.ctx)
	j.end = end
	run := tool.Call{Session: a.id, ID: c.ID, Args: c.Args, Progress: a.progress(j)}
	a.spawn(func() func() {
		defer end(nil)
		result := a.host.tools.Run(ctx, j.tool, run, tool.Limits{Timeout: cfg.ToolTimeout, Result: cfg.ResultLimit})
		return func() { a.finished(j, result) }
	})
}

// refuse returns the result of a call that must not run, or the tool of one that may.
// That tool is the call's to its end, whatever becomes of the roster meanwhile.
func (a *Agent) refuse(c *call) (*tool.Tool, *tool.Result) {
	t, exists := a.host.config().Tools().Lookup(c.Name)
	var result tool.Result
	switch what, bad := a.st.turn.invalid[c.ID]; {
	case c.stray && (!exists || !t.Repeatable):
		result = tool.Fail(errOutcomeUnknown)
	case !policy.Allows(a.policy(), c.Name):
		result = tool.Fail(c.Name + " is not on the allow list")
	case !exists:
		result = tool.Fail("no such tool: " + c.Name)
	case bad:
		result = tool.Fail(what)
	case t.Mutating && bytes.Contains(c.Args, []byte(redact.Mark)):
		result = tool.Fail(fmt.Sprintf(errMasked, c.Name, redact.Mark))
	default:
		return t, nil
	}
	return nil, &result
}

// finished takes a tool's result and lets the turn go on.
func (a *Agent) finished(j *job, result tool.Result) {
	if !a.has(j) {
		return // the run was cut
	}
	j.result = &result
	a.collect()
	_ = a.settle() // a failed append has stopped the turn
}

func (a *Agent) has(j *job) bool { return slices.Contains(a.jobs, j) }

// jobOf returns the job of a call of the run under way, or nil.
func (a *Agent) jobOf(callID string) *job {
	for _, j := range a.jobs {
		if j.call.ID == callID {
			return j
		}
	}
	return nil
}

// collect logs results in call order, each as soon as its predecessors have theirs.
// It returns true when the whole run is settled.
func (a *Agent) collect() bool {
	for len(a.jobs) > 0 && a.jobs[0].result != nil {
		a.settleCall(a.jobs[0].call, *a.jobs[0].result)
		a.jobs = a.jobs[1:]
	}
	return len(a.jobs) == 0
}

func (a *Agent) settleCall(c *call, r tool.Result) {
	out := event.ToolResult{ID: c.ID, Display: r.Display, Cause: r.Cause}
	switch {
	case r.Error != "":
		out.Error = &r.Error
	case r.Content == nil:
		message := fmt.Sprintf("%s returned nothing", c.Name)
		out.Error = &message
	default:
		out.Content = r.Content
	}
	a.emit(out)
}

// offered returns the tools that the policy admits, as the model is told of them.
func offered(cfg *Config, patterns []string) []model.Tool {
	var out []model.Tool
	for _, t := range cfg.Tools().Offer(patterns) {
		out = append(out, model.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return out
}
