package turn

import (
	"context"
	"fmt"
	"time"

	"hitchpost/turn/event"
	"hitchpost/turn/tool"
)

// Verdict decides a standing call.
type Verdict struct {
	CallID  string
	RunID   string // the turn whose call it is; "" = whichever stands
	Approve bool
	Reason  *string // of a denial; the model reads it
	By      string  // who decided, "" for the agent socket
}

// AsksPeople tells whether tools that ask wait for a verdict.
func (h *Host) AsksPeople() bool { return h.config().Approvals }

// Decide records the verdict on a standing call of the open turn; the first one
// wins, whichever door it came through. If the process that asked is gone, it
// resumes the turn. ErrStaleCall: nothing stands under this id. ErrUnsupported:
// approvals are off.
func (a *Agent) Decide(ctx context.Context, v Verdict) error {
	return a.do(ctx, func() error {
		if !a.host.config().Approvals {
			return ErrUnsupported
		}
		c := a.standing(v.CallID)
		if c == nil || v.RunID != "" && !a.runs(v.RunID) {
			return ErrStaleCall
		}
		resolved := event.ApprovalResolved{CallID: c.ID, Verdict: event.Approved, By: v.By}
		if !v.Approve {
			resolved.Verdict, resolved.Reason = event.Denied, v.Reason
		}
		a.emit(resolved)
		if !a.running {
			a.resume(c)
			return nil
		}
		if err := a.commit(); err != nil { // durable before the call can run
			return err
		}
		a.unpark(c)
		return nil
	})
}

// standing returns the call of this id that waits for a verdict, or nil.
func (a *Agent) standing(id string) *call {
	for _, c := range a.allStanding() {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// allStanding returns the calls that wait for a verdict, in call order.
func (a *Agent) allStanding() []*call {
	var out []*call
	if t := a.st.turn; t != nil && t.step != nil && a.host.config().Approvals {
		for _, c := range t.step.calls {
			if c.stands() {
				out = append(out, c)
			}
		}
	}
	return out
}

// park makes a call wait for a person. A request that is in the log already, from
// before a restart, is not repeated.
func (a *Agent) park(j *job) {
	c := j.call
	if c.asked == nil {
		a.emit(event.ApprovalRequested{CallID: c.ID, Name: c.Name, Args: c.Args})
	}
	if limit := a.host.config().Expires; limit > 0 {
		a.expire(j, c.asked.Add(limit), limit)
	}
}

// expire denies the call, by an event of its own, if nobody has decided by then.
func (a *Agent) expire(j *job, at time.Time, limit time.Duration) {
	ctx, end := context.WithCancelCause(a.host.ctx)
	j.end = end
	a.spawn(func() func() {
		defer end(nil)
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		select {
		case <-timer.C:
			return func() { a.expired(j, limit) }
		case <-ctx.Done():
		case <-a.host.draining:
		}
		return func() {}
	})
}

func (a *Agent) expired(j *job, limit time.Duration) {
	if !a.has(j) || !j.call.stands() {
		return
	}
	a.denyExpired(j.call, limit)
	a.unpark(j.call)
	_ = a.settle() // a failed append has stopped the turn
}

func (a *Agent) denyExpired(c *call, limit time.Duration) {
	reason := fmt.Sprintf("nobody answered within %s", limit)
	a.emit(event.ApprovalResolved{CallID: c.ID, Verdict: event.Denied, Reason: &reason, Cause: event.CauseExpired})
}

// unpark lets a call of the run under way go on after its verdict.
func (a *Agent) unpark(c *call) {
	for _, j := range a.jobs {
		if j.call == c {
			j.end(nil) // its expiry
			a.proceed(j)
		}
	}
	a.collect()
}

// denial is the result of a call that was denied.
func denial(c *call) tool.Result {
	reason := "no reason given"
	if c.verdict.Reason != nil && *c.verdict.Reason != "" {
		reason = *c.verdict.Reason
	}
	return tool.Fail(fmt.Sprintf("%s denied: %s", c.Name, reason))
}
