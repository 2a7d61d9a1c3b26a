package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/history"
	"hitchpost/turn/model"
)

// grove is a session whose tree grows by moves that rapid draws.
type grove struct {
	*world
	r    *rapid.T
	said int // texts and answers, to tell them apart
}

// TestAnyLifeOfATreeIsWhatItsLogSays: whatever is run, branched, compacted, forked and
// restarted in whatever order, the state read from the log is the one that was lived with,
// the digest that is stored is the one that folding the log gives,
// the history is that of a walk by parent ids, every request is whole, and no checkpoint
// stands between a call and its result. Guarantees 3, 5, 12, 20 and 21.
func TestAnyLifeOfATreeIsWhatItsLogSays(t *testing.T) {
	w := newWorld(t)
	w.define(func(d *Definition) { d.Models[RoleCompactor] = "demo/short" })
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		w.agent.Release()
		w.agent = w.hold(fmt.Sprintf("tree-%d", n))
		g := &grove{world: w, r: r}
		for range rapid.IntRange(2, 14).Draw(r, "moves") {
			g.move()
			g.check()
		}
	})
}

func (g *grove) move() {
	asked := len(g.model.asked())
	state := g.resting()
	move := rapid.SampledFrom([]string{"run", "run", "run", "branch", "branch", "continue", "compact", "fork", "restart", "tell", "verdict"}).Draw(g.r, "move")
	switch {
	case move == "branch":
		g.branch(state)
	case move == "fork":
		g.fork()
	case move == "restart":
		id := g.agent.id
		g.restart()
		g.agent.Release()
		g.agent = g.hold(id)
	case move == "tell":
		g.must("inject", g.text("aside"))
	case state == Waiting:
		g.decide()
	case move == "compact":
		g.compact(state)
	case move == "continue":
		g.answers(false)
		g.must("continue", "")
	default:
		g.answers(rapid.Bool().Draw(g.r, "with a call that asks"))
		g.must("wake", g.text("text"))
	}
	g.until(Idle, Waiting, Resumable)
	for _, req := range g.model.asked()[asked:] {
		checkRequest(g.t, req)
	}
}

func (g *grove) must(verb, rest string) {
	if err := g.run(verb, rest); err != nil {
		g.r.Fatalf("%s: %v", verb, err)
	}
}

func (g *grove) text(kind string) string {
	g.said++
	return fmt.Sprintf("%s-%d.", kind, g.said)
}

// answers scripts a turn: parallel calls, perhaps one that asks, and an answer. The ids of
// calls come again in every turn, as they may.
func (g *grove) answers(asks bool) {
	g.model.mu.Lock()
	g.model.replies = nil
	g.model.mu.Unlock()
	call := func(id, name string) act {
		return act{call: &model.Call{ID: id, Name: name, Args: json.RawMessage("{}")}}
	}
	if rapid.Bool().Draw(g.r, "calls") {
		g.model.add("", []act{{text: g.text("looking")}, call("c1", "par"), call("c2", "fail"), call("c3", "par")})
	}
	if asks {
		g.model.add("", []act{call("c4", "par"), call("c5", "ask"), call("c6", "par")})
	}
	if rapid.IntRange(0, 4).Draw(g.r, "fails") == 0 {
		g.model.add("", []act{{text: "half of it"}, {err: providerError(event.CodeProvider, "no more")}})
		return
	}
	g.model.add("", []act{{text: g.text("answer")}})
}

func (g *grove) resting() Status {
	st, err := g.agent.State(context.Background())
	if err != nil {
		g.r.Fatal(err)
	}
	return st.Status
}

// entry draws an entry of the log, "" when it has none.
func (g *grove) entry() string {
	var ids []string
	for _, ev := range g.log() {
		if event.MakesEntry(event.Type(ev.Type), ev.Payload) {
			ids = append(ids, ev.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return rapid.SampledFrom(ids).Draw(g.r, "entry")
}

func (g *grove) branch(state Status) {
	to, exclusive := g.entry(), rapid.Bool().Draw(g.r, "exclusive")
	before := byParents(g.log())
	leaf, previous, err := g.agent.Branch(context.Background(), to, exclusive)
	switch {
	case state != Idle:
		if !errors.Is(err, ErrTurnOpen) {
			g.r.Fatalf("a branch in an open turn: %v", err)
		}
		return
	case to == "":
		if !errors.Is(err, ErrNoEntry) {
			g.r.Fatalf("a branch to no entry: %v", err)
		}
		return
	}
	want := to
	if exclusive {
		want = before.parent[to]
	}
	if err != nil || leaf != want || previous != before.leaf {
		g.r.Fatalf("branch from %q to %q, %v; want from %q to %q", previous, leaf, err, before.leaf, want)
	}
}

func (g *grove) compact(state Status) {
	g.model.mu.Lock()
	g.model.others["short"] = nil
	g.model.mu.Unlock()
	refused := rapid.IntRange(0, 2).Draw(g.r, "refusals")
	g.overflows("short", refused)
	g.model.add("short", []act{{text: fmt.Sprintf("S%d", g.said)}})
	_, err := g.agent.Compact(context.Background())
	if open := errors.Is(err, ErrTurnOpen); open != (state != Idle) || !open && err != nil && !overflow(err) {
		g.r.Fatalf("compaction of a session that is %s: %v", state, err)
	}
}

// fork forks at some entry, or all of it, and perhaps goes on with the fork.
func (g *grove) fork() {
	at := ForkPoint{Entry: g.entry(), Exclusive: rapid.Bool().Draw(g.r, "exclusive")}
	if rapid.Bool().Draw(g.r, "all of it") {
		at = ForkPoint{}
	}
	source := g.log()
	x, err := g.host.Fork(context.Background(), g.agent.id, at, "")
	if err != nil {
		g.r.Fatal(err)
	}
	if diff := cmp.Diff(source, g.log()); diff != "" {
		g.r.Fatalf("the fork changed its source:\n%s", diff)
	}
	if rapid.Bool().Draw(g.r, "go on there") {
		g.agent.Release()
		g.agent = g.hold(x.ID)
		return
	}
	fork := g.hold(x.ID)
	defer fork.Release()
	other := *g
	w := *g.world
	w.agent, other.world = fork, &w
	other.check()
}

func (g *grove) decide() {
	g.answers(false)
	for _, p := range g.pending() {
		if rapid.Bool().Draw(g.r, "approve") {
			g.must("approve", p)
		} else {
			g.must("deny", p+" no")
		}
	}
}

func (g *grove) pending() (ids []string) {
	st, err := g.agent.State(context.Background())
	if err != nil {
		g.r.Fatal(err)
	}
	for _, p := range st.Pending {
		ids = append(ids, p.CallID)
	}
	return ids
}

func (g *grove) check() {
	ctx := context.Background()
	log := g.log()
	checkInvariants(g.t, log)

	var lived state
	if err := g.agent.do(ctx, func() error { lived = *g.agent.st; return nil }); err != nil {
		g.r.Fatal(err)
	}
	read, err := load(ctx, g.agent.log)
	if err != nil {
		g.r.Fatal(err)
	}
	read.seen, read.prompt, lived.seen, lived.prompt = 0, 0, 0, 0 // of this process alone
	if diff := cmp.Diff(&lived, read, cmp.AllowUnexported(state{}, openTurn{}, step{}, call{}),
		cmpopts.IgnoreFields(store.Input{}, "QueuedAt"), cmpopts.EquateEmpty()); diff != "" {
		g.r.Fatalf("the state (-lived +read):\n%s", diff)
	}
	if x, err := g.store.Session(ctx, g.agent.id); err != nil {
		g.r.Fatal(err)
	} else if x.Digest != nil { // else it is folded by whoever asks
		g.checkDigest(x.ID)
	}

	tree := byParents(log)
	messages, err := history.Load(ctx, g.agent.log, int64(len(log)-1), "demo/one")
	if err != nil {
		g.r.Fatal(err)
	}
	if diff := cmp.Diff(tree.history(g.t), told(messages)); diff != "" {
		g.r.Fatalf("the history (-by parents +loaded):\n%s\nlog:\n%s", diff, render(log))
	}
	for seq, ev := range log {
		if event.Type(ev.Type) == event.SessionCompactedType {
			checkCut(g.r, byParents(log[:seq+1]), ev)
		}
	}
}

// checkCut holds for a checkpoint: of the path that it stands on, no call is at or before
// its upto_seq whose result is behind that.
func checkCut(r *rapid.T, tree *parents, checkpoint store.Event) {
	var c event.SessionCompacted
	if err := json.Unmarshal(checkpoint.Payload, &c); err != nil {
		r.Fatal(err)
	}
	owed := map[string]bool{}
	for _, ev := range tree.path() {
		switch event.Type(ev.Type) {
		case event.AssistantMessageType:
			var reply event.AssistantMessage
			_ = json.Unmarshal(ev.Payload, &reply)
			clear(owed) // what another turn never answered
			for _, part := range reply.Parts {
				owed[part.ID] = part.Type == event.PartToolCall && ev.Seq <= c.UptoSeq
			}
		case event.ToolResultType:
			var result event.ToolResult
			_ = json.Unmarshal(ev.Payload, &result)
			if owed[result.ID] && ev.Seq > c.UptoSeq {
				r.Fatalf("seq %d stands for a call whose result is at seq %d", checkpoint.Seq, ev.Seq)
			}
		}
	}
}
