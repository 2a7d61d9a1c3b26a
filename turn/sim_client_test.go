package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hitchpost/turn/event"
)

// text is something that clients said, and what they were told about it.
type text struct {
	session, body, id string
	run               bool // it is given to a run of its own, with the id as key
	taken             bool // one of its sendings was acknowledged
	unknown           bool // the process died before it answered one
	refused           bool // one was refused
}

// verdict is a decision that was acknowledged.
type verdict struct {
	session, callID string
	approve         bool
}

// command is what a client asks of an agent. Its answer is heard unless the process
// dies first.
type command struct {
	n       int
	life    *life
	what    string
	done    bool
	outcome string // "" until it is done, and when it was told
}

// send has a client hold the session's agent and give it a command. answered is called
// with s.mu held; heard=false: the process died before.
func (s *sim) send(session, what string, give func(*Agent) error, answered func(err error, heard bool)) {
	c := &command{n: len(s.commands), life: s.life, what: what}
	s.commands = append(s.commands, c)
	life := s.life
	go func() {
		ctx := context.Background()
		a, err := life.host.Hold(ctx, session, "me")
		if err == nil {
			err = give(a)
			a.Release()
		}
		heard := !life.disk.gone()
		s.mu.Lock()
		defer s.mu.Unlock()
		c.done = true
		if heard && err != nil && !expected(err) {
			s.breach("a refusal has a name", "%s: %v", what, err)
		}
		answered(err, heard)
		c.outcome = outcome(err, heard)
	}()
}

// expected tells whether a command may be refused like that.
func expected(err error) bool {
	var failed *AppendError
	var invalid *InvalidError
	for _, named := range []error{ErrNotRunning, ErrTurnOpen, ErrStaleCall, ErrInboxFull, ErrDraining} {
		if errors.Is(err, named) {
			return true
		}
	}
	return errors.As(err, &failed) || errors.As(err, &invalid)
}

func outcome(err error, heard bool) string {
	var failed *AppendError
	switch {
	case !heard:
		return "no answer"
	case errors.As(err, &failed):
		return "not written"
	case err != nil:
		return err.Error()
	}
	return "ok"
}

func (s *sim) inject(x *text, wake bool) {
	what := fmt.Sprintf("inject %q id %q wake %v", x.body, x.id, wake)
	s.send(x.session, what, func(a *Agent) error {
		return a.Inject(context.Background(), Inject{Text: x.body, Wake: wake, ID: x.id})
	}, x.heard)
}

// heard keeps what the sender of a text was told.
func (x *text) heard(err error, heard bool) {
	switch {
	case !heard:
		x.unknown = true
	case err == nil:
		x.taken = true
	default:
		x.refused = true
	}
}

// startRun asks for a run; one whose text is nil has nothing new to say.
func (s *sim) startRun(session string, x *text) {
	r, what := NewRun{}, "run with nothing new"
	if x != nil {
		x.run = true
		r, what = NewRun{Input: x.body, Key: x.id}, fmt.Sprintf("run %q key %q", x.body, x.id)
	}
	s.send(session, what, func(a *Agent) error {
		_, err := a.StartRun(context.Background(), r)
		return err
	}, func(err error, heard bool) {
		s.stops[session]++ // it may supersede one
		if x != nil {
			x.heard(err, heard)
		}
	})
}

// injectInto gives a text to the newest turn, if that is open.
func (s *sim) injectInto(x *text, queue string) {
	s.send(x.session, fmt.Sprintf("inject %q id %q into the run, %s", x.body, x.id, queue), func(a *Agent) error {
		mark, found, err := a.Log().Newest(context.Background(), -1, string(event.TurnStartType))
		if err != nil || !found {
			return ErrNotRunning
		}
		return a.InjectInto(context.Background(), mark.ID, Inject{Text: x.body, ID: x.id, Queue: queue})
	}, x.heard)
}

// newText is a text that no other is like.
func (s *sim) newText(session string, named bool) *text {
	x := &text{session: session, body: fmt.Sprintf("%s text-%d.", session, len(s.texts))}
	if named {
		x.id = fmt.Sprintf("in-%d", len(s.texts))
	}
	s.texts = append(s.texts, x)
	return x
}

func (s *sim) decide(session, callID string, approve bool) {
	v := Verdict{CallID: callID, Approve: approve}
	s.send(session, fmt.Sprintf("decide %s %v", callID, approve), func(a *Agent) error {
		return a.Decide(context.Background(), v)
	}, func(err error, heard bool) {
		if err == nil && heard {
			s.verdicts = append(s.verdicts, verdict{session, callID, approve})
		}
	})
}

func (s *sim) stop(session string, how Stop) {
	s.send(session, fmt.Sprintf("stop %q resumable %v", how.Mode, how.Resumable), func(a *Agent) error {
		return a.Stop(context.Background(), how)
	}, func(err error, heard bool) {
		if err == nil || !heard {
			s.stops[session]++ // so many turns may end cancelled
		}
	})
}

func (s *sim) narrow(session string, patterns []string) {
	mark := fmt.Sprintf("mark-%d", len(s.commands))
	s.send(session, "policy "+strings.Join(patterns, ","), func(a *Agent) error {
		return a.SetPolicy(context.Background(), append(patterns, mark), "")
	}, func(err error, heard bool) {
		if err == nil && heard {
			s.marks[mark] = session
		}
	})
}

func (s *sim) repoint(session, spec string) {
	s.send(session, "model "+spec, func(a *Agent) error {
		return a.SetModel(context.Background(), RoleMain, spec)
	}, func(error, bool) {})
}

func (s *sim) compact(session string) {
	s.send(session, "compact", func(a *Agent) error {
		_, err := a.Compact(context.Background())
		if err != nil && !expected(err) {
			return &AppendError{err} // the model's, or the shutdown's: nothing was kept
		}
		return err
	}, func(error, bool) {})
}

// unanswered returns the commands of this life that have no answer yet.
func (s *sim) unanswered() []*command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.commands), func(c *command) bool { return c.done || c.life != s.life })
}

// hear tells the answers that came, in the order of their commands.
func (s *sim) hear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.commands {
		if c.outcome != "" {
			s.tell("   #%d %s: %s", c.n, c.what, c.outcome)
			c.outcome = ""
		}
	}
}
