package turn

import (
	"context"
	"fmt"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/tool"
	"hitchpost/turn/tool/policy"
)

const (
	errBeforeExecution = "cancelled before execution"
	errOutcomeUnknown  = "outcome unknown: the process died while this ran"
)

// job is one call of the run under way.
type job struct {
	call   *call
	end    context.CancelCauseFunc
	result *tool.Result // nil while it runs
}

// runCalls takes the next run of the step's owed calls: neighbours that are
// declared parallel, or a single call. After a cancel the rest is not run.
func (a *Agent) runCalls(s *step) (more bool, err error) {
	owed := s.owed()
	if a.cancel != nil {
		for _, c := range owed {
			message := errBeforeExecution
			if c.stray {
				message = errOutcomeUnknown
			}
			a.logCall(c)
			a.settleCall(c, tool.Fail(message))
		}
		return true, nil
	}
	if a.host.draining.Load() {
		a.rest()
		return false, nil
	}
	run := owed[:a.runLength(owed)]
	for _, c := range run {
		a.logCall(c)
	}
	if err := a.commit(); err != nil {
		return false, err
	}
	for _, c := range run {
		a.start(c)
	}
	return a.collect(), nil
}

func (a *Agent) runLength(owed []*call) int {
	n := 0
	for n < len(owed) {
		t, ok := a.host.config().Tools.Lookup(owed[n].Name)
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

// start puts a call through the pipeline: resolve, policy, execute. What needs no
// execution has its result at once.
func (a *Agent) start(c *call) {
	j := &job{call: c, end: func(error) {}}
	a.jobs = append(a.jobs, j)
	if refused := a.refuse(c); refused != nil {
		j.result = refused
		return
	}
	cfg := a.host.config()
	t, _ := cfg.Tools.Lookup(c.Name)
	ctx, end := context.WithCancelCause(a.host.ctx)
	j.end = end
	run := tool.Call{Session: a.id, ID: c.ID, Args: c.Args}
	a.spawn(func() func() {
		defer end(nil)
		result := a.host.tools.Run(ctx, t, run, tool.Limits{Timeout: cfg.ToolTimeout, Result: cfg.ResultLimit})
		return func() { a.finished(j, result) }
	})
}

// refuse returns the result of a call that must not run, nil for one that may.
func (a *Agent) refuse(c *call) *tool.Result {
	t, exists := a.host.config().Tools.Lookup(c.Name)
	var result tool.Result
	switch what, bad := a.st.turn.invalid[c.ID]; {
	case !policy.Allows(a.policy(), c.Name):
		result = tool.Fail(c.Name + " is not on the allow list")
	case !exists:
		result = tool.Fail("no such tool: " + c.Name)
	case bad:
		result = tool.Fail(what)
	case c.stray && !t.Repeatable:
		result = tool.Fail(errOutcomeUnknown)
	default:
		return nil
	}
	return &result
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

func (a *Agent) has(j *job) bool {
	for _, other := range a.jobs {
		if other == j {
			return true
		}
	}
	return false
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
	for _, t := range cfg.Tools.Offer(patterns) {
		out = append(out, model.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return out
}
