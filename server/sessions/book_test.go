package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/tool"
)

// rig is a Book over a real file and a host with a scripted model.
type rig struct {
	t    *testing.T
	path string
	book *Book
	me   *auth.Token

	asksNobody bool // approvals are switched off at the next start

	answer func(ctx context.Context, r model.Request) (model.Reply, error)
}

func (r *rig) Stream(ctx context.Context, req model.Request, _ func(model.Delta)) (model.Reply, error) {
	return r.answer(ctx, req)
}

func says(text string) func(context.Context, model.Request) (model.Reply, error) {
	return func(ctx context.Context, _ model.Request) (model.Reply, error) {
		return model.Reply{Text: text, Stop: "stop"}, ctx.Err()
	}
}

// asks calls the tool that waits for a verdict.
func asks(ctx context.Context, _ model.Request) (model.Reply, error) {
	return model.Reply{Stop: "tool_calls", Calls: []model.Call{{ID: "c1", Name: "ask", Args: json.RawMessage(`{"n":1}`)}}}, ctx.Err()
}

// hangs answers when it is given up.
func hangs(ctx context.Context, _ model.Request) (model.Reply, error) {
	<-ctx.Done()
	return model.Reply{}, context.Cause(ctx)
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "log.db"), me: token("me", nil), answer: says("ok")}
	r.start()
	t.Cleanup(r.stop)
	return r
}

func token(owner string, agents []string) *auth.Token {
	return auth.NewToken(owner, owner, auth.DigestOf("secret"), agents, auth.All)
}

func (r *rig) start() {
	r.t.Helper()
	st, err := store.Open(context.Background(), r.path, store.Options{Durability: store.Normal})
	if err != nil {
		r.t.Fatal(err)
	}
	tools, err := tool.NewSet([]tool.Tool{{
		Name: "ask", Approval: tool.Always, Schema: json.RawMessage(`{"type":"object"}`),
		Run: func(context.Context, tool.Call) tool.Result { return tool.Text("done") },
	}})
	if err != nil {
		r.t.Fatal(err)
	}
	host := turn.New(st, turn.Config{
		Agents:    map[string]turn.Definition{turn.DefaultAgent: {Policy: []string{"*"}, Models: map[string]string{turn.RoleMain: "p/m"}}},
		Providers: map[string]model.Client{"p": r},
		Tools:     func() *tool.Set { return tools }, MaxSteps: 5, MaxAgents: 100, InboxTexts: 10, InboxBytes: 1 << 20,
		Approvals: !r.asksNobody, ToolTimeout: time.Minute, ResultLimit: 1 << 18, Log: slog.New(slog.DiscardHandler),
	})
	if err := host.Start(context.Background()); err != nil {
		r.t.Fatal(err)
	}
	r.book = &Book{Store: st, Host: host}
}

func (r *rig) stop() {
	r.t.Helper()
	if err := errors.Join(r.book.Host.Drain(0), r.book.Store.Close()); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) create(id, owner string) {
	r.t.Helper()
	if _, err := r.book.Host.CreateSession(r.t.Context(), store.Session{ID: id, Owner: owner}); err != nil {
		r.t.Fatal(err)
	}
}

// run starts a run and returns its id.
func (r *rig) run(session string) string {
	r.t.Helper()
	a, err := r.book.Host.Open(r.t.Context(), session)
	if err != nil {
		r.t.Fatal(err)
	}
	defer a.Release()
	id, err := a.StartRun(r.t.Context(), turn.NewRun{Input: "go"})
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

// until waits for a status; the log's own events say when to look.
func (r *rig) until(session string, want protocol.SessionStatus) protocol.Session {
	r.t.Helper()
	changed := make(chan struct{}, 1)
	defer r.book.Host.Watch(func(turn.Change) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	timeout := time.After(time.Minute)
	for {
		x, err := r.book.Get(r.t.Context(), r.me, session)
		if err != nil {
			r.t.Fatal(err)
		}
		if x.Status == want {
			return x
		}
		select {
		case <-changed:
		case <-timeout:
			r.t.Fatalf("the status is %s, want %s", x.Status, want)
		}
	}
}

// guarantee 1
func TestWhatIsForeignUnlistedOrDeletedIsAbsent(t *testing.T) {
	r := newRig(t)
	r.answer = asks
	for _, s := range []struct{ id, owner string }{{"mine", "me"}, {"theirs", "you"}, {"gone", "me"}} {
		r.create(s.id, s.owner)
	}
	runs := map[string]string{}
	for _, id := range []string{"mine", "theirs", "gone"} {
		runs[id] = r.run(id)
	}
	r.until("mine", protocol.StatusRequiresAction)
	r.until("gone", protocol.StatusRequiresAction)
	if err := r.book.Host.Delete(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, session string
		token         *auth.Token
		absent        bool
	}{
		{"mine", "mine", r.me, false}, {"theirs", "theirs", r.me, true}, {"deleted", "gone", r.me, true},
		{"unlisted", "mine", token("me", []string{"other-*"}), true}, {"never", "never", r.me, true},
	} {
		_, err := r.book.Get(t.Context(), c.token, c.session)
		if errors.Is(err, ErrAbsent) != c.absent || c.absent && err.Error() != fmt.Sprintf("no such session: %q", c.session) {
			t.Errorf("%s: Get = %v", c.name, err)
		}
		run := runs[c.session]
		if run == "" {
			run = "0123456789abcdef"
		}
		_, _, err = r.book.Run(t.Context(), c.token, run)
		if errors.Is(err, ErrNoRun) != c.absent || c.absent && err.Error() != fmt.Sprintf("no such run: %q", run) {
			t.Errorf("%s: Run = %v", c.name, err)
		}
		if _, _, err = r.book.Standing(t.Context(), c.token, "c1", run); errors.Is(err, ErrNoCall) != c.absent {
			t.Errorf("%s: Standing = %v", c.name, err)
		}
	}
	if list, err := r.book.List(t.Context(), r.me); err != nil || len(list) != 1 || list[0].ID != "mine" {
		t.Errorf("List = %+v, %v", list, err)
	}
}

// A list is asked for while sessions go: it leaves them out, and shows the others.
func TestAListIsWholeWhileSessionsAreDeleted(t *testing.T) {
	r := newRig(t)
	r.create("stays", "me")
	for i := range 100 {
		r.create(fmt.Sprint("goes-", i), "me")
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 100 {
			if err := r.book.Host.Delete(t.Context(), fmt.Sprint("goes-", i)); err != nil {
				t.Error(err)
			}
		}
	})
	for left := 101; left > 1 && !t.Failed(); {
		list, err := r.book.List(t.Context(), r.me)
		if err != nil || len(list) == 0 || len(list) > left {
			t.Errorf("List = %d sessions, there were %d, %v", len(list), left, err)
		}
		if _, err := r.book.Approvals(t.Context(), r.me); err != nil {
			t.Errorf("Approvals = %v", err)
		}
		left = len(list)
	}
	wg.Wait()
}

// guarantee 2
func TestARunThatEndsIsNeverShownAsResumable(t *testing.T) {
	r := newRig(t)
	r.create("s", "me")
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
			}
			x, err := r.book.Get(context.Background(), r.me, "s")
			if err != nil || x.Status != protocol.StatusIdle && x.Status != protocol.StatusRunning || (x.LiveRunID != "") != (x.Status == protocol.StatusRunning) {
				t.Errorf("%+v, %v", x, err)
				return
			}
		}
	})
	for range 100 {
		run := r.run("s")
		r.until("s", protocol.StatusIdle)
		x, found, err := r.book.Run(t.Context(), r.me, run)
		if err != nil {
			t.Fatal(err)
		}
		if o, err := r.book.RunObject(t.Context(), x, found); err != nil || o.Status != protocol.RunStatusCompleted {
			t.Fatalf("%+v, %v", o, err)
		}
	}
	close(over)
	wg.Wait()
}

func TestTheStatusIsTheFirstThatApplies(t *testing.T) {
	r := newRig(t)
	r.create("s", "me")
	status := func(run string) protocol.RunStatus {
		x, found, err := r.book.Run(t.Context(), r.me, run)
		if err != nil {
			t.Fatal(err)
		}
		o, err := r.book.RunObject(t.Context(), x, found)
		if err != nil {
			t.Fatal(err)
		}
		return o.Status
	}
	r.answer = asks
	run := r.run("s")
	r.until("s", protocol.StatusRequiresAction)
	if got := status(run); got != protocol.RunStatusInterrupted {
		t.Errorf("parked: the run is %s", got)
	}
	r.answer = hangs
	next := r.run("s") // takes its place
	r.until("s", protocol.StatusRunning)
	if old, now := status(run), status(next); old != protocol.RunStatusCancelled || now != protocol.RunStatusRunning {
		t.Errorf("superseded: %s, running: %s", old, now)
	}
	r.stop()
	r.start()
	r.until("s", protocol.StatusResumable)
	if got := status(next); got != protocol.RunStatusResumable {
		t.Errorf("left open: %s", got)
	}
	if n := r.book.Host.Load().Agents; n != 0 { // guarantee 5
		t.Errorf("looking holds %d agents in memory", n)
	}
	r.answer = says("ok")
	if again := r.run("s"); again != next {
		t.Errorf("the open run goes on as %s, it was %s", again, next)
	}
	r.until("s", protocol.StatusIdle)
	r.answer = func(context.Context, model.Request) (model.Reply, error) {
		return model.Reply{}, &model.Error{Code: event.CodeModelRefusal, Message: "no"}
	}
	next = r.run("s")
	x := r.until("s", protocol.StatusFailed)
	if x.LastError == nil || x.LastError.Code != event.CodeModelRefusal || status(next) != protocol.RunStatusError {
		t.Errorf("failed: %+v", x)
	}
}

// Nobody can decide it: a session that says it waits for a person would wait for ever. On
// the agent socket it is resumable, too.
func TestACallThatStoodWhenApprovalsWereSwitchedOffWaitsForNobody(t *testing.T) {
	r := newRig(t)
	r.create("s", "me")
	r.answer = asks
	run := r.run("s")
	r.until("s", protocol.StatusRequiresAction)
	r.stop()
	r.asksNobody = true
	r.start()
	x := r.until("s", protocol.StatusResumable)
	if x.PendingCount != 0 || len(x.Pending) != 0 || x.LiveRunID != run {
		t.Errorf("the session is %+v", x)
	}
	if list, err := r.book.Approvals(t.Context(), r.me); err != nil || len(list) != 0 {
		t.Errorf("Approvals = %+v, %v", list, err)
	}
	if _, _, err := r.book.Standing(t.Context(), r.me, "c1", ""); !errors.Is(err, ErrNoCall) {
		t.Errorf("Standing = %v", err)
	}
	r.answer = says("ok")
	if again := r.run("s"); again != run {
		t.Errorf("the run goes on as %s, it was %s", again, run)
	}
	r.until("s", protocol.StatusIdle)
}

// guarantee 4
func TestARunIsFoundWhereItRanAndNotInACopy(t *testing.T) {
	r := newRig(t)
	r.create("s", "me")
	run := r.run("s")
	r.until("s", protocol.StatusIdle)
	fork, err := r.book.Host.Fork(t.Context(), "s", turn.ForkPoint{}, "copy")
	if err != nil {
		t.Fatal(err)
	}
	if x, _, err := r.book.Run(t.Context(), r.me, run); err != nil || x.ID != "s" {
		t.Errorf("Run = %s, %v", x.ID, err)
	}
	if _, _, err := r.book.Run(t.Context(), token("me", []string{fork.ID}), run); !errors.Is(err, ErrNoRun) {
		t.Errorf("for a token that reaches the copy alone: %v", err)
	}
}

func TestACallIdOfSeveralRunsNeedsTheRun(t *testing.T) {
	r := newRig(t)
	r.answer = asks
	runs := map[string]string{}
	for _, id := range []string{"a", "b"} {
		r.create(id, "me")
		runs[id] = r.run(id)
		r.until(id, protocol.StatusRequiresAction)
	}
	if _, _, err := r.book.Standing(t.Context(), r.me, "c1", ""); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("without a run: %v", err)
	}
	for session, run := range runs {
		got, of, err := r.book.Standing(t.Context(), r.me, "c1", run)
		if err != nil || got != session || of != run {
			t.Errorf("with %s: %s, %s, %v", run, got, of, err)
		}
	}
	list, err := r.book.Approvals(t.Context(), r.me)
	if err != nil || len(list) != 2 || list[0].SessionID != "a" || list[0].CreatedAt > list[1].CreatedAt {
		t.Errorf("Approvals = %+v, %v", list, err)
	}
}
