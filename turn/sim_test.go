package turn

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

var (
	simSeeds = flag.Int("sim.seeds", 200, "number of simulated histories")
	simSeed  = flag.Uint64("sim.seed", 0, "simulate the history of this seed only, and print it")
)

// TestNoHistoryBreaksAPromise simulates histories of a few agents: clients, models,
// tools, disks and deaths in an order that the seed decides. Time is virtual, the
// database is real. What the promises of the package, and of package store, say of a
// log and of its readers is held against every one.
func TestNoHistoryBreaksAPromise(t *testing.T) {
	if *simSeed > 0 {
		t.Log(simulate(t, *simSeed).story())
		return
	}
	for seed := range uint64(rounds(t, *simSeeds)) {
		t.Run(fmt.Sprintf("seed=%d", seed+1), func(t *testing.T) {
			t.Parallel()
			simulate(t, seed+1)
		})
	}
}

// TestASeedIsOneHistory: so a breach that was found once is found again.
func TestASeedIsOneHistory(t *testing.T) {
	for seed := range uint64(max(rounds(t, *simSeeds)/20, 5)) {
		once, again := simulate(t, seed+1).story(), simulate(t, seed+1).story()
		if once != again {
			at := 0
			for at < len(once) && at < len(again) && once[at] == again[at] {
				at++
			}
			from := max(0, at-600)
			t.Errorf("seed %d has two histories:\n%s\n-- and:\n%s", seed+1, once[from:min(len(once), at+200)], again[from:min(len(again), at+200)])
		}
	}
}

// sim is one history. Its own goroutine decides everything, one thing at a time, and
// goes on when what that led to has come to rest.
type sim struct {
	t     *testing.T
	seed  uint64
	rng   *rand.Rand
	shape shape
	dir   string
	lives int
	life  *life
	disk  *disk
	bare  bool   // agents have no model provider
	fault string // the fault of SQLite's own that is set on the disk; "" for none

	commands []*command
	texts    []*text
	numbers  map[int]string // number of a call → session
	effects  map[int]int    // number of a call → how often its effect happened
	draining int
	stopping atomic.Int64 // tools that are about to end by themselves

	mu       sync.Mutex // guards what models, tools and clients report
	asks     []*ask
	deeds    []*deed
	newest   map[string]model.Request // by session
	verdicts []verdict
	marks    map[string]string // policy → session, acknowledged
	stops    map[string]int    // by session: those that may have ended a turn

	logs    sync.Mutex
	records map[string]*record
	told    []string

	blame    sync.Mutex
	breached string
}

// shape is what a seed decides for its whole history.
type shape struct {
	sessions int
	moves    int
	maxSteps int // of a turn
	resume   Resume
	roles    []string
	budget   int64
	expires  time.Duration
}

var errBreach = errors.New("a promise was broken")

// simulate lives through the history of a seed.
func simulate(t *testing.T, seed uint64) *sim {
	t.Helper()
	s := &sim{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 0)), dir: simDir(t),
		numbers: map[int]string{}, effects: map[int]int{}, newest: map[string]model.Request{},
		marks: map[string]string{}, stops: map[string]int{}, records: map[string]*record{}}
	synctest.Test(t, func(t *testing.T) {
		s.t = t
		s.run()
	})
	if s.breached != "" {
		told := s.told[max(0, len(s.told)-40):]
		t.Fatalf("seed %d: %s\nrerun: go test ./turn -run TestNoHistoryBreaksAPromise -v -sim.seed=%d\nthe end of its history:\n%s",
			seed, s.breached, seed, strings.Join(told, "\n"))
	}
	return s
}

// simDir is a folder that is gone after the test, in memory where there is one for it.
func simDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "hitchpost-sim-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (s *sim) run() {
	defer s.leave()
	s.shape = shape{sessions: 1 + s.rng.IntN(2), moves: 40 + s.rng.IntN(80), maxSteps: 3 + s.rng.IntN(8)}
	if s.shape.sessions == 1 && s.rng.IntN(2) == 0 {
		s.shape.resume = ResumeAtStart
	}
	for _, role := range []string{RoleTitler, RoleCompactor} {
		if s.rng.IntN(3) == 0 {
			s.shape.roles = append(s.shape.roles, role)
		}
	}
	if s.rng.IntN(3) == 0 {
		s.shape.budget = 5000
	}
	if s.rng.IntN(3) == 0 {
		s.shape.expires = time.Hour
	}
	s.tell("seed %d: %+v", s.seed, s.shape)
	s.mount(s.path(0))
	s.begin()
	s.after()
	for range s.shape.moves {
		s.move()
		s.after()
	}
	s.finish()
}

// leave ends whatever a breach left at work, so that the history is told.
func (s *sim) leave() {
	if p := recover(); p != nil && p != errBreach {
		panic(p)
	}
	if s.breached == "" || s.life == nil {
		return
	}
	s.disk.kill()
	s.unwatch()
	ended := make(chan struct{})
	go func() {
		if !s.life.ended {
			_ = s.life.host.Drain(0)
		}
		_ = s.life.store.Close()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Hour):
	}
	time.Sleep(time.Minute)
	synctest.Wait()
}

// after takes note of what a move has led to.
func (s *sim) after() {
	s.quiesce()
	s.hear()
	for s.disk.gone() {
		s.bury()
		s.quiesce()
		s.hear()
	}
	s.watch()
	if s.breached != "" {
		panic(errBreach)
	}
}

func (s *sim) tell(format string, args ...any) {
	s.logs.Lock()
	defer s.logs.Unlock()
	s.told = append(s.told, fmt.Sprintf(format, args...))
}

// breach notes that a promise was broken; the first one counts.
func (s *sim) breach(promise, format string, args ...any) {
	s.blame.Lock()
	defer s.blame.Unlock()
	if s.breached == "" {
		s.breached = fmt.Sprintf("broken promise: %s: %s", promise, fmt.Sprintf(format, args...))
	}
}

// story is the whole history, with what the logs hold. Ids and times are left out:
// they are not decided by the seed.
func (s *sim) story() string {
	told := slices.Clone(s.told)
	for _, id := range s.sessionIDs() {
		told = append(told, "-- log of "+id, render(s.record(id).events))
	}
	return minted.ReplaceAllString(strings.Join(told, "\n"), "minted")
}

// finish is the end of every history: nothing fails any more, and every session goes on.
func (s *sim) finish() {
	s.tell("-- nothing fails any more")
	s.heal()
	s.after()
	s.settleDown()
	for _, id := range s.sessionIDs() {
		s.look(id)
		s.after()
		for range 2 { // the first one may resume a turn, and wait for its end
			x := s.newText(id, false)
			s.inject(x, true)
			s.after()
			s.settleDown()
			s.checkWake(x)
		}
	}
	s.end(0)
	s.unwatch()
	if err := s.life.store.Close(); err != nil {
		s.breach("a clean stop folds the log into its file", "%v", err)
	}
	s.checkFile()
}

// settleDown answers whatever is asked and decides whatever stands until nothing runs.
func (s *sim) settleDown() {
	for range 1000 {
		switch {
		case len(s.answering()) > 0:
			s.reply(s.answering()[0], plain(s.answering()[0]))
		case len(s.working()) > 0:
			s.finishDeed(s.working()[0], "")
		default:
			session, calls := s.standing()
			if len(calls) == 0 {
				return
			}
			s.decide(session, calls[0], true)
		}
		s.after()
	}
	s.breach("every session can go on", "turns do not end although everything is answered")
}

// checkWake: a text that wakes an agent whose disk and model work is answered.
func (s *sim) checkWake(x *text) {
	var state State
	s.send(x.session, "state", func(a *Agent) (err error) {
		state, err = a.State(s.t.Context())
		return err
	}, func(error, bool) {})
	s.after()
	events := s.record(x.session).events
	last := ""
	for _, ev := range events {
		if event.Type(ev.Type) == event.TurnEndType {
			last = string(ev.Payload)
		}
	}
	if state.Status != Idle || !strings.Contains(last, string(event.Completed)) {
		s.breach("every session can go on", "%s: behind %q it is %s, its last turn ended %s", x.session, x.body, state.Status, last)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.newest[x.session].Messages {
		if m.Text == x.body {
			return
		}
	}
	s.breach("every session can go on", "%s: %q is not in the newest request", x.session, x.body)
}

// checkFile holds the file that is left against all that was seen.
func (s *sim) checkFile() {
	found, err := store.Verify(s.t.Context(), s.disk.path, event.CheckCalls)
	if err != nil || found.Err() != nil {
		s.breach("the file is whole", "%v, %v", err, found.Err())
	}
	st, err := store.Open(s.t.Context(), s.disk.path, store.Options{})
	if err != nil {
		s.breach("the file can be opened", "%v", err)
		return
	}
	s.life.store = st
	s.reread()
	if err := st.Close(); err != nil {
		s.breach("a clean stop folds the log into its file", "%v", err)
	}
}
