package history

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// library is a store for the logs of one test.
type library struct {
	*store.Store
	n int
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	st, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "log.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &library{Store: st}
}

// keep stores a log of payloads; the id of an event is its seq in hex.
func (l *library) keep(t rapid.TB, payloads ...event.Payload) *store.Log {
	t.Helper()
	l.n++
	id := fmt.Sprintf("s%d", l.n)
	var first []store.NewEvent
	for i, p := range payloads {
		body, err := event.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		first = append(first, store.NewEvent{ID: idOf(i), Type: string(p.EventType()), Payload: body, Streamed: p.EventType().Streamed()})
	}
	if err := l.Create(context.Background(), store.Session{ID: id}, first); err != nil {
		t.Fatal(err)
	}
	log, err := l.OpenLog(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func idOf(seq int) string { return fmt.Sprintf("%016x", seq) }

// guarantee 6, by example: an edited question, its two answers, and a switch back.
func TestABranchTakesTheModelToAnotherPathAndBack(t *testing.T) {
	events := []event.Payload{
		event.SessionCreated{},
		event.UserMessage{Text: "one"}, // 1
		event.AssistantMessage{Parts: []event.Part{text("first answer")}}, // 2
		event.UserMessage{Text: "two"},                                    // 3
		event.SessionBranched{To: idOf(2), Previous: idOf(3)},
		event.UserMessage{Text: "other two"}, // 5
		event.SessionBranched{To: "", Previous: idOf(5)},
		event.UserMessage{Text: "other one"}, // 7
		event.SessionBranched{To: idOf(3), Previous: idOf(7)},
	}
	answer := model.Message{Role: model.Assistant, Text: "first answer"}
	for upto, want := range map[int][]model.Message{
		3: {user("one"), answer, user("two")},
		4: {user("one"), answer},
		5: {user("one"), answer, user("other two")},
		6: nil,
		7: {user("other one")},
		8: {user("one"), answer, user("two")},
	} {
		log := newLibrary(t).keep(t, events...)
		defer log.Close()
		got, err := Load(context.Background(), log, int64(upto), "a/b")
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want...)
	}
}

// guarantee 6: what another branch was summarised to is nothing that this one knows.
func TestACheckpointCountsOnlyOnItsOwnPath(t *testing.T) {
	log := newLibrary(t).keep(t,
		event.UserMessage{Text: "one"}, event.AssistantMessage{Parts: []event.Part{text("yes")}}, // 0, 1
		event.UserMessage{Text: "two"}, event.SessionCompacted{UptoSeq: 1, Summary: "so far"}, // 2, 3
		event.SessionBranched{To: idOf(2), Previous: idOf(3)}, event.UserMessage{Text: "three"}, // 4, 5
		event.SessionBranched{To: idOf(3), Previous: idOf(5)}, event.UserMessage{Text: "four"}, // 6, 7
	)
	defer log.Close()
	for upto, want := range map[int64][]model.Message{
		5: {user("one"), {Role: model.Assistant, Text: "yes"}, user("two"), user("three")},
		7: {user("so far"), user("two"), user("four")},
	} {
		got, err := Load(context.Background(), log, upto, "a/b")
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want...)
	}
}

// guarantee 6: a log from elsewhere may hold any session/branched. One that leads nowhere
// leads to the root, and none makes a circle.
func TestABranchThatLeadsNowhereLeadsToTheRoot(t *testing.T) {
	for _, to := range []string{"ffffffffffffffff", "no id", idOf(2), idOf(3)} {
		log := newLibrary(t).keep(t,
			event.SessionCreated{}, event.UserMessage{Text: "lost"},
			event.SessionBranched{To: to}, event.UserMessage{Text: "hi"},
		)
		defer log.Close()
		got, err := Load(context.Background(), log, 3, "a/b")
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, user("hi"))
	}
}

// oracle finds paths the slow way: by the parent of each entry.
type oracle struct {
	events []store.Event
	parent map[string]string
	seq    map[string]int64
	leaf   string
}

func walk(events []store.Event) *oracle {
	o := &oracle{events: events, parent: map[string]string{}, seq: map[string]int64{}}
	for _, ev := range events {
		if event.Type(ev.Type) == event.SessionBranchedType {
			o.leaf = movedTo(ev)
		}
		if event.MakesEntry(event.Type(ev.Type), ev.Payload) {
			o.parent[ev.ID], o.seq[ev.ID] = o.leaf, ev.Seq
			o.leaf = ev.ID
		}
	}
	return o
}

// path returns the seqs of the entries from the root to the leaf.
func (o *oracle) path() (seqs []int64) {
	for id := o.leaf; id != ""; id = o.parent[id] {
		seqs = append(seqs, o.seq[id])
	}
	slices.Reverse(seqs)
	return seqs
}

// history is what a model sees of the path: the summary that its newest checkpoint
// holds, and the entries behind that, each behind the start of its step.
func (o *oracle) history(t *rapid.T, spec string) []model.Message {
	var out []model.Message
	upto := int64(-1)
	path := o.path()
	for _, seq := range slices.Backward(path) {
		if event.Type(o.events[seq].Type) == event.SessionCompactedType {
			var c event.SessionCompacted
			decodeInto(t, o.events[seq], &c)
			out, upto = []model.Message{user(c.Summary)}, c.UptoSeq
			break
		}
	}
	var seen []store.Event
	step := int64(-1)
	for _, seq := range path {
		if seq <= upto {
			continue
		}
		for at := seq; at > upto; at-- {
			if event.Type(o.events[at].Type) != event.StepStartType {
				continue
			}
			if at != step {
				step, seen = at, append(seen, o.events[at])
			}
			break
		}
		seen = append(seen, o.events[seq])
	}
	messages, err := Project(seen, spec)
	if err != nil {
		t.Fatal(err)
	}
	return append(out, messages...)
}

func decodeInto(t *rapid.T, ev store.Event, p any) {
	if err := json.Unmarshal(ev.Payload, p); err != nil {
		t.Fatal(err)
	}
}

// tree draws a log of turns, checkpoints and branches to any entry or the root.
func tree(t *rapid.T) []event.Payload {
	out := []event.Payload{event.SessionCreated{}}
	var entries []string
	add := func(p event.Payload) {
		body, err := event.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		if event.MakesEntry(p.EventType(), body) {
			entries = append(entries, idOf(len(out)))
		}
		out = append(out, p)
	}
	for range rapid.IntRange(1, 12).Draw(t, "moves") {
		switch rapid.IntRange(0, 3).Draw(t, "move") {
		case 0:
			to := rapid.SampledFrom(append([]string{""}, entries...)).Draw(t, "to")
			add(event.SessionBranched{To: to})
		case 1:
			upto := rapid.IntRange(0, len(out)-1).Draw(t, "upto")
			add(event.SessionCompacted{UptoSeq: int64(upto), Summary: fmt.Sprintf("summary %d", len(out))})
		default:
			turnOf(t, add, len(out))
		}
	}
	return out
}

func turnOf(t *rapid.T, add func(event.Payload), n int) {
	spec := rapid.SampledFrom([]string{"a/b", "a/other"}).Draw(t, "model")
	add(event.TurnStart{Agent: "x"})
	add(event.StepStart{N: 1, Model: spec})
	add(event.UserMessage{Text: fmt.Sprintf("text %d", n)})
	id := fmt.Sprintf("c%d", n)
	if rapid.Bool().Draw(t, "calls") {
		add(event.AssistantMessage{Parts: []event.Part{call(id)}})
		add(done(id, `"found"`))
		add(event.StepEnd{N: 1})
		add(event.StepStart{N: 2, Model: spec})
	}
	add(event.Reasoning{Text: "hm"})
	add(event.AssistantMessage{Parts: []event.Part{text(fmt.Sprintf("answer %d", n))}})
	add(event.StepEnd{N: 1})
	add(event.TurnEnd{Status: rapid.SampledFrom([]event.Status{event.Completed, event.Cancelled}).Draw(t, "status")})
}

// guarantees 6 and 7: of any tree and any prefix of it.
func TestThePathAndItsHistoryAreThoseOfAWalkByParentIDs(t *testing.T) {
	st := newLibrary(t)
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		payloads := tree(t)
		log := st.keep(t, payloads...)
		defer log.Close()
		events, err := log.Structural(ctx, 0, int64(len(payloads)))
		if err != nil {
			t.Fatal(err)
		}
		upto := rapid.IntRange(0, len(events)-1).Draw(t, "prefix")
		o := walk(events[:upto+1])
		path, err := Paths(ctx, log, int64(upto))
		if err != nil {
			t.Fatal(err)
		}
		on := o.path()
		for id, seq := range o.seq {
			if path.Holds(seq) != slices.Contains(on, seq) {
				t.Fatalf("entry %s at seq %d: on the path %v; ranges %v, entries %v", id, seq, path.Holds(seq), path, on)
			}
		}
		if leaf, err := Leaf(ctx, log, int64(upto)+1); err != nil || leaf != o.leaf {
			t.Fatalf("leaf %q, %v, want %q", leaf, err, o.leaf)
		}
		got, err := Load(ctx, log, int64(upto), "a/b")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(o.history(t, "a/b"), got); diff != "" {
			t.Fatalf("path %v (-by parents +loaded):\n%s", path, diff)
		}
	})
}

// guarantee 7: the ranges are as many as the branches passed, and whole without one.
func TestAPathHasARangeForEachBranchThatItPassed(t *testing.T) {
	payloads := []event.Payload{event.UserMessage{Text: "question"}}
	for range 50 { // attempts that the newest one leaves aside
		payloads = append(payloads, event.AssistantMessage{Parts: []event.Part{text("attempt")}}, event.SessionBranched{To: idOf(0)})
	}
	payloads = append(payloads, event.AssistantMessage{Parts: []event.Part{text("the last attempt")}})
	log := newLibrary(t).keep(t, payloads...)
	defer log.Close()
	for upto, want := range map[int64]Path{1: {{0, 1}}, 101: {{0, 0}, {101, 101}}, 100: {{0, 0}}, -1: nil} {
		path, err := Paths(context.Background(), log, upto)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, path); diff != "" {
			t.Errorf("up to seq %d (-want +got):\n%s", upto, diff)
		}
	}
}
