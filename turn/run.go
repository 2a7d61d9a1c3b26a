package turn

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"hitchpost/turn/event"
)

// NewRun is what a run is asked for with.
type NewRun struct {
	Input string // "" = answer the history as it stands
	Agent string // the definition of this run alone; "" = the session's
	Key   string // the client's own, for one run: asked for again, it is the same run. "" = none
}

// start is a run on its way: it waits for the end of the one that it supersedes, then
// for the append of its turn/start.
type start struct {
	NewRun
	print   string // what the key was used for
	id      string // of its turn/start
	waiting []chan<- started
}

type started struct {
	id  string
	err error
}

func (s *start) answer(err error) {
	if s == nil {
		return
	}
	out := started{s.id, err}
	if err != nil {
		out.id = ""
	}
	for _, waiting := range s.waiting {
		waiting <- out // buffered
	}
}

// StartRun begins a run and returns its id, that of its turn/start (run wire,
// run.create). Of a turn whose calls stand it denies those, kills the tools that run
// beside them, and begins when that turn has ended, superseded. A turn that is open and
// that nobody runs goes on, with its own id and definition, and the input rides along.
// ErrTurnOpen: one runs. ErrDraining. ErrKeyReused: the key was another run's. An
// *InvalidError: there is no such definition, or it has no model that can be asked; then, as
// behind every refusal, nothing of the run is in the log. An *AppendError.
func (a *Agent) StartRun(ctx context.Context, r NewRun) (runID string, err error) {
	done := make(chan started, 1)
	if err := a.do(ctx, func() error { return a.startRun(ctx, r, done) }); err != nil {
		return "", err
	}
	select {
	case out := <-done:
		return out.id, out.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (a *Agent) startRun(ctx context.Context, r NewRun, done chan<- started) error {
	r.Input = a.host.config().Redact.Text(r.Input) // before it waits anywhere
	s := &start{NewRun: r, print: fingerprint(r), waiting: []chan<- started{done}}
	if known, err := a.startedBefore(ctx, s); known || err != nil {
		return err
	}
	parked := len(a.allStanding()) > 0
	switch {
	case a.host.isDraining():
		return ErrDraining
	case a.next != nil || a.running && !parked:
		return ErrTurnOpen
	}
	stopped := a.st.turn != nil && a.st.turn.marked != nil // a process died in the middle of that
	goesOn := a.st.turn != nil && !parked && !stopped
	if err := a.runnable(r.Agent, goesOn); err != nil {
		return err
	}
	switch {
	case parked:
		a.next = s
		return a.stop(Stop{Mode: Abort, Cause: event.CauseSuperseded, Resumable: true})
	case stopped:
		a.next = s
		a.resume(nil)
		return nil
	case goesOn:
		a.rideAlong(s)
		return nil
	default:
		return a.beginRun(ctx, s)
	}
}

// fingerprint tells runs of one key apart. It is of the text as it is logged, so it
// gives no secret away.
func fingerprint(r NewRun) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(r.Agent+"\x00"+r.Input)))
}

// keyID is how a key is remembered, beside the input ids of the agent socket.
func (s *start) keyID() string { return fmt.Sprintf("run %x", sha256.Sum256([]byte(s.Key))) }

// startedBefore answers a run whose key was used before, also one that is still on its way.
func (a *Agent) startedBefore(ctx context.Context, s *start) (bool, error) {
	if s.Key == "" {
		return false, nil
	}
	if a.next != nil && a.next.Key == s.Key {
		if a.next.print != s.print {
			return true, ErrKeyReused
		}
		a.next.waiting = append(a.next.waiting, s.waiting...)
		return true, nil
	}
	note, seen, err := a.log.SeenNote(ctx, s.keyID())
	if err != nil || !seen {
		return false, err
	}
	id, print, _ := strings.Cut(note, " ")
	if print != s.print {
		return true, ErrKeyReused
	}
	s.id = id
	s.answer(nil)
	return true, nil
}

// runnable refuses a run whose definition cannot be asked: that of the open turn when
// that goes on, else the one named, else the session's.
func (a *Agent) runnable(named string, goesOn bool) error {
	def := a.def
	if named != "" {
		def = named
	}
	if err := a.host.config().defined(def); err != nil {
		return err
	}
	if goesOn {
		def = a.definition()
	}
	_, err := a.modelOf(def)
	return err
}

// rideAlong resumes the open turn, with the input in its next step, or else in a turn
// of its own: it wakes, as any text that resumes.
func (a *Agent) rideAlong(s *start) {
	s.id = a.st.turn.id
	a.resume(nil) // before the text: a cancel that it finds there is older
	if s.Input != "" {
		a.enqueue(Inject{Text: s.Input, Queue: QueueNextTurn, Wake: true})
	}
	a.remember(s)
}

// remember keeps the run's key in the append that it becomes durable with, and has
// that append answer it.
func (a *Agent) remember(s *start) {
	a.begun = s
	if s.Key != "" {
		a.work.SeenNote = map[string]string{s.keyID(): s.id + " " + s.print}
	}
}

// beginRun starts the turn of a run. No turn is open.
func (a *Agent) beginRun(ctx context.Context, s *start) error {
	mark := event.TurnStart{Agent: a.def}
	if s.Agent != "" {
		mark.Agent = s.Agent
	}
	spec, err := a.modelOf(mark.Agent)
	if err != nil {
		return err
	}
	due := true
	if s.Input == "" {
		mark.Mode = event.ModeContinue
		if err := a.commit(); err != nil { // the end of the turn that is superseded is to be read back
			return err
		}
		if due, err = a.answerDue(ctx); err != nil {
			return err
		}
	}
	s.id = event.NewID()
	a.emitAs(s.id, mark)
	a.remember(s)
	switch {
	case !due:
		a.emit(event.TurnEnd{Status: event.Empty})
	case s.Input == "":
		a.drive()
		a.beginStep(1, spec, nil, everything)
	default:
		a.drive()
		a.beginStep(1, spec, &Inject{Text: s.Input, Queue: QueueNextTurn}, everything)
	}
	return nil
}

// beginNext starts the run that the turn which has just ended was superseded by.
func (a *Agent) beginNext() error {
	s := a.next
	a.next = nil
	err := a.beginRun(a.host.ctx, s)
	if err != nil {
		s.answer(err)
	}
	return err
}

// refuseStart answers the run that waits for a turn's end which will not come now.
func (a *Agent) refuseStart(err error) {
	a.next.answer(err)
	a.next = nil
}

// definition names what the open turn is made of, else the next one: a run may have
// been given another definition than its session's.
func (a *Agent) definition() string {
	if t := a.st.turn; t != nil && t.agent != "" {
		return t.agent
	}
	return a.def
}
