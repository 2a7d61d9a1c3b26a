package turn

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// Agent is one session's agent in memory. Its exported methods may be called from
// anywhere; each takes effect, and is durable, before it returns.
//
// Everything an agent knows and appends belongs to one goroutine, which exists
// only while there are messages for it: an agent that nobody needs costs no stack.
type Agent struct {
	host   *Host
	id     string
	owner  string
	parent string // the session whose subagent it is, "" for none
	log    *store.Log
	def    string   // name of its definition
	refs   int      // who needs it in memory: connections, commands, a running turn. Guarded by host.mu
	shown  Liveness // what Live tells. Written by the agent's goroutine alone, under host.mu
	told   Liveness // what the watchers were last told of it. The goroutine's own

	watchers watchers // of halts

	closed atomic.Bool // its session is being deleted, or was: no command is taken any more

	mail struct {
		sync.Mutex
		waiting []func()
		awake   bool // a goroutine is at work on the messages
	}

	// Only the agent's goroutine touches what follows.
	st      *state         // nil: to be read from the log
	work    work           // decided, folded, not yet handed to the store
	commits sync.WaitGroup // chunks on their way to the disk
	kept    int            // counts the appends that were waited for and are durable
	epoch   int            // counts reloads, so that an old failure is not taken for a new one

	running    bool              // this process drives the open turn
	resuming   bool              // it was resumed, and no reply has landed since
	cancel     *stopRequest      // accepted for the open turn
	asking     *asking           // the model request under way
	fresh      string            // id of a step that this process began and has yet to ask
	jobs       []*job            // the run of calls under way, in call order
	resting    []chan<- struct{} // who waits for the agent to come to rest
	titling    bool              // the titler is being asked
	compacting *compaction       // under way; nil for none
	next       *start            // a run that begins when the open turn has ended
	begun      *start            // one whose turn/start waits for the next commit
	digest     json.RawMessage   // as it was last stored, or is about to be; nil: not known
	wentOn     bool              // they are to be told that an open turn goes on
}

// work is what was decided and is not yet handed to the store.
type work struct {
	store.Batch
	structural bool  // an event in it is no streamed piece
	streamed   int64 // bytes of streamed text in it, to be given back to the asking's window
	err        error // a payload that could not be encoded
}

// Log returns the agent's log, for readers.
func (a *Agent) Log() *store.Log { return a.log }

// Release gives back a hold on the agent. An agent that nobody holds and that runs
// nothing is put away.
func (a *Agent) Release() { a.host.release(a) }

// post hands the agent's goroutine a message and never waits.
func (a *Agent) post(message func()) {
	a.mail.Lock()
	defer a.mail.Unlock()
	a.mail.waiting = append(a.mail.waiting, message)
	if !a.mail.awake {
		a.mail.awake = true
		a.host.wg.Go(a.workOff)
	}
}

// workOff handles messages until none is left. What the messages of one turn
// of the loop streamed goes to the store in one append that nobody waits for.
func (a *Agent) workOff() {
	for {
		a.mail.Lock()
		batch := a.mail.waiting
		a.mail.waiting = nil
		a.mail.awake = len(batch) > 0
		a.mail.Unlock()
		if len(batch) == 0 {
			return
		}
		for _, message := range batch {
			message()
		}
		a.stream()
		a.announceStatus("")
		a.announceRest()
	}
}

// tell posts a message and keeps the agent in memory until it was handled, also when
// whoever sent it is gone by then.
func (a *Agent) tell(message func()) {
	a.host.retain(a)
	a.post(func() {
		defer a.host.release(a)
		message()
	})
}

// do runs a command on the agent's goroutine, lets the turn go on from there, and
// returns when all of it is durable. A context that ends stops the waiting, not the
// command: what that writes for its caller must then not be read.
func (a *Agent) do(ctx context.Context, command func() error) error {
	done := make(chan error, 1)
	a.host.retain(a)
	a.post(func() {
		err := a.obey(command)
		a.host.release(a) // first: whoever was answered and lets go finds room for another agent
		done <- err
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (a *Agent) obey(command func() error) error {
	if a.closed.Load() {
		return ErrForeign
	}
	switch err := a.ready(); {
	case errors.Is(err, store.ErrDeleted): // between the look at its row and this
		return ErrForeign
	case err != nil:
		return err
	}
	kept := a.kept
	if err := command(); err != nil {
		return err
	}
	err := a.settle()
	a.announceStatus("") // whoever is answered finds in Live what they asked for
	if a.kept > kept {
		return nil // the command is on the disk with the first append; what failed behind it has stopped the turn
	}
	return err
}

// ready reads the state if it is not there: at first use, and after an append failed.
func (a *Agent) ready() error {
	if a.st != nil {
		return nil
	}
	a.commits.Wait() // the tip must stand still
	st, err := load(a.host.ctx, a.log)
	if err != nil {
		return err
	}
	a.st, a.digest = st, nil
	a.epoch++
	return nil
}

// emit decides an event: it is folded at once and committed with what else is
// decided before the agent next waits, shows or starts anything.
func (a *Agent) emit(payloads ...event.Payload) {
	for _, p := range payloads {
		a.emitAs(event.NewID(), p)
	}
}

func (a *Agent) emitAs(id string, p event.Payload) {
	a.record(id, a.masked(p))
}

// record is emitAs for a payload that holds no secret any more.
func (a *Agent) record(id string, p event.Payload) {
	body, err := event.Encode(p)
	if err != nil && a.work.err == nil {
		a.work.err = err
	}
	a.work.Events = append(a.work.Events, store.NewEvent{
		ID: id, Type: string(p.EventType()), Payload: body, Streamed: p.EventType().Streamed(),
	})
	if titled, ok := p.(event.SessionTitled); ok {
		a.work.Title = &titled.Title
	}
	if a.work.At.IsZero() {
		a.work.At = a.log.Now() // what is folded is to the microsecond what a restart would read
	}
	a.work.structural = a.work.structural || !p.EventType().Streamed()
	a.st.apply(a.st.next, id, a.work.At, p)
}

// takeWork returns everything decided since the last time.
func (a *Agent) takeWork() (w work, some bool) {
	w, a.work = a.work, work{}
	w.From = a.st.next - int64(len(w.Events))
	a.digested(&w)
	return w, len(w.Events)+len(w.Put)+len(w.Take)+len(w.Calm)+len(w.Seen)+len(w.SeenNote) > 0 || w.Pinned != nil
}

// commit makes durable what was decided. When it fails the turn stops where it is:
// the log has it open, and the next stimulus resumes it.
func (a *Agent) commit() error {
	asking := a.asking
	w, some := a.takeWork()
	var committed []store.Event
	if w.err == nil && some {
		a.drives()
		committed, w.err = a.log.Append(context.Background(), w.Batch)
	}
	if w.err != nil {
		a.halt(w.err)
		return &AppendError{w.err}
	}
	if some {
		a.kept++
	}
	asking.written(w.streamed)
	if some {
		a.announce(&w, committed)
	}
	a.begun.answer(nil) // behind the news: whoever is answered finds in Live what they asked for
	a.begun = nil
	return nil
}

// stream hands streamed pieces to the store without waiting for the disk. They
// keep their order, and when one append fails all behind it fail too, because
// each names the seq that it expects.
func (a *Agent) stream() {
	if a.st == nil {
		return
	}
	if a.work.structural {
		_ = a.commit() // a failed append has stopped the turn; watchers hear of the event in its place
		return
	}
	asking, epoch := a.asking, a.epoch
	w, some := a.takeWork()
	if w.err != nil {
		a.halt(w.err)
	}
	if w.err != nil || !some {
		return
	}
	a.commits.Add(1)
	a.log.Submit(w.Batch, func(_ []store.Event, err error) {
		defer a.commits.Done()
		if err == nil {
			asking.written(w.streamed)
			return
		}
		a.post(func() {
			if a.epoch == epoch && a.st != nil {
				a.halt(err)
			}
		})
	})
}

// halt stops what runs because the log cannot be written. The state is read again
// before the next command, from what the disk really holds.
func (a *Agent) halt(err error) {
	a.host.logger().Error("append failed, the turn stops where it is", "session", a.id, "err", err)
	a.cut(&AppendError{err})
	next, begun := a.next, a.begun
	a.next, a.begun = nil, nil
	a.st, a.titling = nil, false
	a.work = work{}
	a.rest()
	a.announceStatus("") // before anybody is answered
	next.answer(&AppendError{err})
	begun.answer(&AppendError{err})
	a.watchers.tell(&AppendError{err})
}

// cut ends the model requests and the tools under way; what they still report is ignored.
func (a *Agent) cut(cause error) {
	a.endCompaction(cause)
	if a.asking != nil {
		a.asking.end(cause)
		a.asking = nil
	}
	for _, j := range a.jobs {
		j.end(cause)
	}
	a.jobs = nil
}

// atRest returns a channel that is closed as soon as the agent, behind all the
// messages that it has by now, runs nothing that could end by itself: no turn, or
// one that waits for a person.
func (a *Agent) atRest() <-chan struct{} {
	rest := make(chan struct{})
	a.post(func() { a.resting = append(a.resting, rest) })
	return rest
}

func (a *Agent) announceRest() {
	if a.running && !a.waitsForPerson() {
		return
	}
	for _, waiting := range a.resting {
		close(waiting)
	}
	a.resting = nil
}

// drive makes this process responsible for the open turn.
func (a *Agent) drive() {
	if a.running {
		return
	}
	a.running = true
	a.host.retain(a)
}

// rest lets go of it: the turn has ended, or stays open for the next stimulus.
func (a *Agent) rest() {
	if !a.running {
		return
	}
	if a.next != nil {
		a.refuseStart(ErrDraining) // nothing else keeps a turn that was stopped from ending
	}
	a.running, a.resuming, a.cancel, a.fresh = false, false, nil, ""
	a.host.release(a)
}
