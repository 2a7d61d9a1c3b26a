package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/tool"
)

// ask is a model request under way. It does nothing but what it is ordered to.
type ask struct {
	ctx     context.Context
	key     string // what tells it from the others under way
	session string
	request model.Request
	text    string // streamed so far
	thought string // likewise
	orders  chan order
}

// order is a piece of an answer, or its end.
type order struct {
	delta model.Delta
	reply *model.Reply
	err   error
}

// simModel is the provider of a simulation.
type simModel struct{ sim *sim }

func (m simModel) Stream(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
	k := &ask{ctx: ctx, request: req, orders: make(chan order)}
	if len(req.Messages) > 0 {
		k.session, _, _ = strings.Cut(req.Messages[0].Text, " ")
	}
	k.key = k.session + " " + req.Model
	m.sim.admit(k)
	defer m.sim.dismiss(k)
	for {
		select {
		case <-ctx.Done():
			return model.Reply{}, context.Cause(ctx)
		case o := <-k.orders:
			switch {
			case o.err != nil:
				return model.Reply{}, o.err
			case o.reply != nil:
				return *o.reply, nil
			}
			emit(o.delta)
		}
	}
}

func (s *sim) admit(k *ask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks = append(s.asks, k)
	if k.role() == RoleMain {
		s.newest[k.session] = k.request
		s.checkRequest(k)
	}
}

// role is what the request wants of the model.
func (k *ask) role() string {
	n := len(k.request.Messages)
	switch {
	case k.request.Model == RoleTitler:
		return RoleTitler
	case n > 0 && k.request.Messages[n-1].Text == compactorPrompt:
		return RoleCompactor
	}
	return RoleMain
}

func (s *sim) dismiss(k *ask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks = slices.DeleteFunc(s.asks, func(x *ask) bool { return x == k })
}

// answering returns the requests that somebody still waits for.
func (s *sim) answering() []*ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.DeleteFunc(slices.Clone(s.asks), func(k *ask) bool { return k.ctx.Err() != nil })
	slices.SortFunc(out, func(a, b *ask) int { return cmp.Compare(a.key, b.key) })
	return out
}

// deed is a tool at work. Its effect and its end come when they are ordered.
type deed struct {
	ctx    context.Context
	n      int // number of the call
	name   string
	did    bool // its effect has happened
	orders chan tool.Result
}

// errPanics orders a tool to panic.
const errPanics = "panics"

// simTools are the tools of a simulation: what they may do, not what they do.
func (s *sim) simTools() *tool.Set {
	numbered := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	var all []tool.Tool
	for _, t := range []tool.Tool{
		{Name: "fast", Approval: tool.Never, Repeatable: true},
		{Name: "par", Approval: tool.Never, Repeatable: true, Parallel: true},
		{Name: "once", Approval: tool.Never, Mutating: true},
		{Name: "oncepar", Approval: tool.Never, Mutating: true, Parallel: true},
		{Name: "ask", Approval: tool.Always, Mutating: true},
		{Name: "askpar", Approval: tool.ByPolicy, Mutating: true, Parallel: true},
	} {
		t.Schema = numbered
		t.Run = func(ctx context.Context, c tool.Call) tool.Result { return s.work(ctx, t.Name, c) }
		all = append(all, t)
	}
	if s.life != nil && s.life.host != nil {
		all = append(all, s.life.host.TaskTool())
	}
	set, err := tool.NewSet(all)
	if err != nil {
		s.t.Fatal(err)
	}
	return set
}

// repeatable are the tools whose effect may happen twice.
var repeatable = map[string]bool{"fast": true, "par": true}

func number(args json.RawMessage) int {
	var numbered struct{ N int }
	_ = json.Unmarshal(args, &numbered)
	return numbered.N
}

func (s *sim) work(ctx context.Context, name string, c tool.Call) tool.Result {
	d := &deed{ctx: ctx, n: number(c.Args), name: name, orders: make(chan tool.Result)}
	s.mu.Lock()
	s.deeds = append(s.deeds, d)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.deeds = slices.DeleteFunc(s.deeds, func(x *deed) bool { return x == d })
	}()
	select {
	case r := <-d.orders:
		if r.Error == errPanics {
			panic(errPanics)
		}
		return r
	case <-ctx.Done():
		s.stopping.Add(1)
		time.Sleep(time.Duration(d.n) * 10 * simPause) // two that are told at once do not end at once
		if d.n%5 == 0 {
			time.Sleep(tool.Grace / 2) // nor is everyone quick to
		}
		s.stopping.Add(-1)
		return tool.Fail(context.Cause(ctx).Error())
	}
}

// working returns the tools that nobody has told to stop.
func (s *sim) working() []*deed {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.DeleteFunc(slices.Clone(s.deeds), func(d *deed) bool { return d.ctx.Err() != nil })
	slices.SortFunc(out, func(a, b *deed) int { return cmp.Compare(a.n, b.n) })
	return out
}

// effect is what a tool does to the world. It outlives the process.
func (s *sim) effect(d *deed) {
	if !d.did {
		d.did = true
		s.effects[d.n]++
	}
}

// checkRequest holds for every request: each call has its answer behind it, and no
// text is in it twice.
func (s *sim) checkRequest(k *ask) {
	checkRequest(jury{s.t, s, "every session can go on: a request is one that a model takes"}, k.request)
	seen := map[string]int{}
	for _, m := range k.request.Messages {
		if m.Role == model.User {
			seen[m.Text]++
		}
	}
	for text, n := range seen {
		if n > 1 {
			s.breach("a text is read once", "the request holds %q %d times", text, n)
		}
	}
}

func overflowError() error {
	return providerError(event.CodeContextOverflow, "too long")
}
