package tool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"hitchpost/turn/event"
)

// Grace is how long a tool whose context has ended may take to return, so that it
// can stop its processes and say how far it came.
const Grace = 5 * time.Second

// Limits bound one call.
type Limits struct {
	Timeout time.Duration // of the tool itself; 0 = none
	Result  int           // bytes of content kept, see Cap
}

// Runner runs calls and keeps count of the tools that are still at it. The zero
// value is ready; it must not be copied.
type Runner struct {
	Log *slog.Logger // where a crash leaves its stack; nil = slog.Default

	mu      sync.Mutex
	running map[*Call]string // tool name
	idle    chan struct{}    // closed when running is empty again; nil while it is
}

var errTimeout = errors.New("the tool's time is up")

// Run executes one call and waits for it, by guarantees 2 and 5 to 7. When ctx ends
// the tool is asked to stop, and the result is the error "cancelled" unless the tool
// succeeded all the same. Causes set here: tool_timeout, tool_panic.
func (r *Runner) Run(ctx context.Context, t *Tool, call Call, limits Limits) Result {
	args, err := Object(call.Args)
	if err == nil {
		err = Validate(t.Schema, args)
	}
	if err != nil {
		return Cap(Fail(t.Name+" did not run, its arguments do not fit: "+err.Error()), limits.Result)
	}
	if ctx.Err() != nil {
		return Fail("cancelled")
	}
	call.Args = args
	if limits.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limits.Timeout, errTimeout)
		defer stop()
	}
	gate := &gate{to: call.Progress}
	call.Progress = gate.pass
	defer gate.shut()

	done := r.start(ctx, t, call)
	select {
	case res := <-done:
		return Cap(settle(ctx, t, res, limits), limits.Result)
	case <-ctx.Done():
	}
	grace := time.NewTimer(Grace)
	defer grace.Stop()
	select {
	case res := <-done:
		return Cap(settle(ctx, t, res, limits), limits.Result)
	case <-grace.C:
		stray := Fail("it did not stop when told to, and may still be at work")
		return Cap(settle(ctx, t, stray, limits), limits.Result)
	}
}

// settle tells a failure by what made it: the end of the context, if it has ended.
// A success stands, because what the tool did is done.
func settle(ctx context.Context, t *Tool, res Result, limits Limits) Result {
	if res.Error == "" || ctx.Err() == nil || res.Cause == string(event.CodeToolPanic) {
		return res
	}
	if context.Cause(ctx) != errTimeout {
		return Result{Error: "cancelled", Display: res.Display}
	}
	res.Error = fmt.Sprintf("%s timed out after %s: %s", t.Name, limits.Timeout, res.Error)
	res.Cause = string(event.CodeToolTimeout)
	return res
}

// start runs the tool in a goroutine of its own, which Wait waits for.
func (r *Runner) start(ctx context.Context, t *Tool, call Call) <-chan Result {
	done := make(chan Result, 1) // a stray leaves its result there, for nobody
	key := &call
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.running) == 0 {
		r.running, r.idle = make(map[*Call]string), make(chan struct{})
	}
	r.running[key] = t.Name
	go func() {
		defer r.finish(key)
		r.attempt(ctx, t, call, done)
	}()
	return done
}

func (r *Runner) finish(key *Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, key)
	if len(r.running) == 0 {
		close(r.idle)
		r.idle = nil
	}
}

// attempt calls the tool and sends exactly one result, also when the tool panics or
// ends its goroutine.
func (r *Runner) attempt(ctx context.Context, t *Tool, call Call, done chan<- Result) {
	returned := false
	res := Result{
		Error: t.Name + " crashed: it ended without a result",
		Cause: string(event.CodeToolPanic),
	}
	defer func() {
		if !returned {
			if v := recover(); v != nil {
				res.Error = fmt.Sprintf("%s crashed: %v", t.Name, v)
			}
			r.logger().Error("tool crashed", "tool", t.Name, "session", call.Session,
				"call", call.ID, "stack", string(debug.Stack()))
		}
		done <- res
	}()
	res = t.Run(ctx, call)
	returned = true
}

func (r *Runner) logger() *slog.Logger {
	if r.Log == nil {
		return slog.Default()
	}
	return r.Log
}

// Wait waits until no tool is at work any more. If ctx ends first, the error names
// the tools that are. The caller sees to it that no Run begins meanwhile.
func (r *Runner) Wait(ctx context.Context) error {
	r.mu.Lock()
	idle := r.idle
	r.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	names := slices.Sorted(maps.Values(r.running))
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("still at work: %s: %w", strings.Join(names, ", "), context.Cause(ctx))
}

// gate lets progress through until it is shut.
type gate struct {
	mu sync.Mutex
	to func(string) // nil: nobody listens, or shut
}

func (g *gate) pass(text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.to != nil {
		g.to(text)
	}
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.to = nil
}
