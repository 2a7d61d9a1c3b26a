package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hitchpost/server/client"
	"hitchpost/turn/event"
)

type sendCommand struct {
	target
	Agent string `arg:"" help:"Agent to send to; it is created if it is new."`
	Text  string `arg:"" help:"The text."`
	Wait  bool   `default:"true" negatable:"" help:"Show the turn until it ends (default). --no-wait returns when the server has the text."`
	JSON  bool   `name:"json" help:"Print the turn's events as JSON, one a line."`
}

var errNotRead = errors.New("the running turn was cancelled before it read the text, which waits in the inbox")

// nextTurn is how long the turn that follows a cancelled one may take to begin.
const nextTurn = 2 * time.Second

// Run exits 0 when the turn that read the text completed.
func (s *sendCommand) Run(ctx context.Context, p *Program, c *commands) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	a, err := s.dial(ctx, c, s.Agent)
	if err != nil {
		return err
	}
	defer a.Close()
	if s.Wait {
		err = s.follow(ctx, p, a)
	} else {
		err = s.handOver(ctx, p, a)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted; %s goes on without you (hitchpost tail %[1]s shows it)", s.Agent)
	}
	return err
}

// follow shows everything from the text on until its turn has ended.
func (s *sendCommand) follow(ctx context.Context, p *Program, a *client.Agent) error {
	a.Subscribe(a.Hello().LastSeq + 1)
	id, err := a.Inject(s.Text, true, "")
	if err != nil {
		return &usageError{err}
	}
	waiting, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	last := time.AfterFunc(nextTurn, func() { giveUp(errNotRead) })
	last.Stop() // set off only by a turn that may have been the last
	defer last.Stop()
	f, screen, announce := follower{id: id}, p.screen(p.Stderr), connectionNews(p)
	open := openTurn{shown: a.Hello().LastSeq, tip: -1}
	for m, err := range a.Messages(waiting) {
		if err != nil {
			screen.endLine()
			return err
		}
		announce(m)
		switch m := m.(type) {
		case client.Connected:
			open.connected(m.Hello)
		case client.Refused:
			return refused(m)
		case client.Truncated:
			return fmt.Errorf("the connection was away for too long: events %d to %d cannot be shown; hitchpost tail %s --from-seq %d goes on from there",
				m.Missing, m.From-1, s.Agent, m.From)
		case client.Event:
			s.show(p, screen, m)
			open.event(m)
			o := f.event(m)
			switch {
			case o.done:
				return o.err
			case o.left:
				last.Reset(nextTurn)
			case m.Type == event.TurnStartType:
				last.Stop()
			}
		}
		if f.read && open.left() { // had it not been read, the inject would resume the turn
			screen.endLine()
			return errors.New("the server left the turn open; the next text resumes it")
		}
	}
	return nil
}

// show prints an event of the turn that reads the text, or of the one before it.
func (s *sendCommand) show(p *Program, screen *screen, e client.Event) {
	if s.JSON {
		p.Stdout.Write(append(e.Line, '\n'))
		return
	}
	screen.event(e)
	if e.Type == event.ApprovalRequestedType {
		r := payload[event.ApprovalRequested](e)
		screen.note("? %s waits for approval (hitchpost chat %s): %s", r.Name, s.Agent, r.Args) // in this order: the line may be cut
	}
}

// handOver waits until the server has handled the inject. It says nothing to one that
// it queues, but it takes the frames of a connection in order: what a subscribe
// behind the inject brings shows that the inject was dealt with.
func (s *sendCommand) handOver(ctx context.Context, p *Program, a *client.Agent) error {
	if _, err := a.Inject(s.Text, true, ""); err != nil {
		return &usageError{err}
	}
	a.Subscribe(a.Hello().LastSeq)
	announce := connectionNews(p)
	for m, err := range a.Messages(ctx) {
		if err != nil {
			return err
		}
		announce(m)
		switch m := m.(type) {
		case client.Refused:
			return refused(m)
		case client.Event, client.Truncated:
			return nil
		}
	}
	return nil
}

func refused(r client.Refused) error {
	if r.Code == client.CodeUnsupported {
		return fmt.Errorf("%s; does the token have the verbs watch and inject?", r.Error())
	}
	return errors.New(r.Error())
}

// connectionNews tells about lost and new connections, once each.
func connectionNews(p *Program) func(client.Message) {
	lost := false
	return func(m client.Message) {
		switch m := m.(type) {
		case client.Lost:
			if !lost {
				fmt.Fprintf(p.Stderr, "reconnecting… (%s)\n", short(m.Cause.Error()))
			}
			lost = true
		case client.Connected:
			if lost {
				fmt.Fprintln(p.Stderr, "connected again")
			}
			lost = false
		}
	}
}
