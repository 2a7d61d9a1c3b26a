package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"hitchpost/server/client"
	"hitchpost/turn/event"
)

type chatCommand struct {
	target
	Agent string `arg:"" optional:"" default:"main" help:"Agent to talk with (default: main)."`
}

// maxLine bounds a line of input, in bytes: what one frame of the protocol carries.
const maxLine = 1 << 20

// commandTimeout bounds the wait for a connection to send a verdict or a cancel over.
const commandTimeout = 5 * time.Second

// Run talks until the input ends. From a terminal a line may be sent at any time and
// is read by the turn under way; from a pipe each line waits for the turn before it.
func (t *chatCommand) Run(ctx context.Context, p *Program, c *commands) error {
	a, err := t.dial(ctx, c, t.Agent)
	if err != nil {
		return err
	}
	defer a.Close()
	ctx, cancel := context.WithCancel(ctx)
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)

	h := &conversation{
		program: p, agent: a, name: t.Agent,
		screen: p.screen(p.Stdout), announce: connectionNews(p),
		terminal: isTerminal(p.Stdin), first: true,
	}
	messages, pumped := pump(ctx, a)
	defer func() { cancel(); <-pumped }()
	hello := a.Hello()
	h.running, h.standing = busy(hello.Status), hello.Pending
	h.open = openTurn{shown: hello.LastSeq, tip: -1}
	a.Subscribe(hello.LastSeq + 1)
	fmt.Fprintf(p.Stderr, "%s is %s. Ctrl-C cancels a turn; the end of the input (Ctrl-D) leaves, and the agent goes on.\n", t.Agent, orIdle(hello.Status))
	h.ask()
	return h.talk(ctx, messages, readLines(ctx, p.Stdin), interrupts)
}

func busy(status string) bool {
	return status == "running" || status == "waiting_approval" || status == "stopping"
}

func orIdle(status string) string {
	if status == "" {
		return "there"
	}
	return strings.ReplaceAll(status, "_", " for ")
}

// conversation is the state of a chat, owned by talk.
type conversation struct {
	program  *Program
	agent    *client.Agent
	name     string
	screen   *screen
	announce func(client.Message)
	terminal bool
	first    bool // no Connected was seen yet
	open     openTurn

	running   bool
	cancelled bool             // Ctrl-C was pressed in this turn
	standing  []client.Pending // approvals to answer, oldest first
	sent      *follower        // the last line that was sent, until its turn ended
	ended     bool             // no more input
}

// received is what Next returned.
type received struct {
	message client.Message
	err     error
}

func pump(ctx context.Context, a *client.Agent) (<-chan received, <-chan struct{}) {
	out, done := make(chan received), make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range a.Messages(ctx) {
			select {
			case out <- received{m, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, done
}

// typed is a line of input, or the error that ended it (io.EOF at its end).
type typed struct {
	text string
	err  error
}

// readLines reads the input. Its goroutine ends with the context at the next line, or
// with the process: a read of a terminal cannot be called back.
func readLines(ctx context.Context, from io.Reader) <-chan typed {
	out := make(chan typed)
	go func() {
		lines := bufio.NewScanner(from)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			select {
			case out <- typed{text: lines.Text()}:
			case <-ctx.Done():
				return
			}
		}
		err := lines.Err()
		if err == nil {
			err = io.EOF
		}
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a line of more than %d bytes cannot be sent", maxLine)
		}
		select {
		case out <- typed{err: err}:
		case <-ctx.Done():
		}
	}()
	return out
}

func (h *conversation) talk(ctx context.Context, messages <-chan received, lines <-chan typed, interrupts <-chan os.Signal) error {
	for {
		if h.ended && (!h.busy() || h.terminal) {
			h.screen.endLine()
			return nil
		}
		if h.ended && len(h.standing) > 0 {
			return fmt.Errorf("the input ended while %s waits for approval; hitchpost chat %[2]s asks again", h.standing[0].Name, h.name)
		}
		var err error
		select {
		case m := <-messages:
			err = h.take(m)
		case line := <-h.when(lines):
			err = h.line(ctx, line)
		case <-interrupts:
			if h.cancelled || !h.running {
				h.screen.endLine()
				return nil
			}
			h.screen.note("cancelling… (Ctrl-C again leaves)")
			h.cancelled = h.command(ctx, func(ctx context.Context) error { return h.agent.Cancel(ctx, "cancelled in the terminal") })
		}
		if err != nil {
			h.screen.endLine()
			return err
		}
	}
}

// busy tells whether something has yet to come that input from a pipe waits for.
func (h *conversation) busy() bool { return h.running || h.sent != nil }

// when gives the input if a line can be taken now.
func (h *conversation) when(lines <-chan typed) <-chan typed {
	if h.ended || !h.terminal && h.busy() && len(h.standing) == 0 {
		return nil
	}
	return lines
}

// line takes one line of input: an answer while an approval stands, else a text.
func (h *conversation) line(ctx context.Context, line typed) error {
	text := strings.TrimSpace(line.text)
	switch {
	case line.err == io.EOF:
		h.ended = true
		return nil
	case line.err != nil:
		return line.err
	case len(h.standing) > 0:
		h.answer(ctx, text)
		return nil
	case text == "":
		h.prompt()
		return nil
	}
	id, err := h.agent.Inject(line.text, true, "")
	if err != nil {
		fmt.Fprintln(h.program.Stderr, err)
		return nil
	}
	h.sent = &follower{id: id}
	return nil
}

// answer decides the oldest standing approval. Should the verdict be lost with the
// connection, the next hello tells that the approval still stands.
func (h *conversation) answer(ctx context.Context, text string) {
	call := h.standing[0]
	send := func(ctx context.Context) error { return h.agent.Deny(ctx, call.CallID, text) }
	switch strings.ToLower(text) {
	case "":
		h.ask()
		return
	case "y", "yes":
		send = func(ctx context.Context) error { return h.agent.Approve(ctx, call.CallID) }
	case "n", "no":
		text = ""
	}
	if h.command(ctx, send) {
		h.standing = h.standing[1:]
	}
	if len(h.standing) > 0 {
		h.ask()
	}
}

// command sends a frame that is not sent again by itself.
func (h *conversation) command(ctx context.Context, send func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	err := send(ctx)
	if err != nil {
		fmt.Fprintf(h.program.Stderr, "not sent: %v; try again when connected\n", err)
	}
	return err == nil
}

// take shows a message and follows what it changes.
func (h *conversation) take(m received) error {
	if m.err != nil {
		return m.err
	}
	h.announce(m.message)
	switch m := m.message.(type) {
	case client.Connected:
		h.reconnected(m.Hello)
	case client.Refused:
		h.refused(m)
	case client.Truncated:
		h.screen.note("(events %d to %d are further back than the server replays)", m.Missing, m.From-1)
		h.running, h.sent = busy(h.agent.Hello().Status), nil
		h.ask()
	case client.Event:
		h.event(m)
	}
	if h.open.left() {
		h.leftOpen()
	}
	return nil
}

// leftOpen goes on without the turn that a restart of the server cut: the next text
// resumes it. One that is on its way does so already.
func (h *conversation) leftOpen() {
	h.open.tip = -1
	if h.sent != nil && !h.sent.read {
		return
	}
	h.running, h.sent = false, nil
	h.screen.note("(the server left the turn open; the next text resumes it)")
	h.prompt()
}

// reconnected takes over the approvals that stand. The first hello was asked about when
// the chat began.
func (h *conversation) reconnected(hello client.Hello) {
	if h.first {
		h.first = false
		return
	}
	h.open.connected(hello)
	h.standing = hello.Pending
	if len(h.standing) > 0 {
		h.ask()
	}
}

// refused tells what the server did not do. The answer does not say to which frame; a
// text that is still on its way is the one that could not be queued.
func (h *conversation) refused(m client.Refused) {
	h.screen.note("(not done: %s)", m.Error())
	if h.sent != nil && !h.sent.read && (m.Code == client.CodeBadFrame || m.Code == client.CodeUnsupported) {
		h.agent.Forget(h.sent.id)
		h.sent = nil
	}
	h.ask()
}

func (h *conversation) event(e client.Event) {
	h.screen.event(e)
	h.open.event(e)
	switch e.Type {
	case event.TurnStartType, event.StepStartType:
		h.running = true
	case event.ApprovalRequestedType:
		r := payload[event.ApprovalRequested](e)
		if h.stands(r.CallID) < 0 { // a hello may have told of it
			h.standing = append(h.standing, client.Pending{CallID: r.CallID, Name: r.Name, Args: r.Args})
			if len(h.standing) == 1 {
				h.ask()
			}
		}
	case event.ApprovalResolvedType:
		h.decided(payload[event.ApprovalResolved](e).CallID)
	case event.TurnEndType:
		h.running, h.cancelled, h.standing = false, false, nil
	}
	h.outcome(e)
}

// stands gives the place of an approval among those to answer, or -1.
func (h *conversation) stands(callID string) int {
	return slices.IndexFunc(h.standing, func(p client.Pending) bool { return p.CallID == callID })
}

// decided takes an approval away that was decided elsewhere.
func (h *conversation) decided(callID string) {
	i := h.stands(callID)
	if i < 0 {
		return
	}
	h.standing = slices.Delete(h.standing, i, i+1)
	if i == 0 && len(h.standing) > 0 {
		h.ask()
	}
}

// outcome tells how the turn of the last line ended.
func (h *conversation) outcome(e client.Event) {
	f := h.sent
	if f == nil {
		f = &follower{} // of a turn that somebody else started, only its end is of interest
	}
	o := f.event(e)
	if o.done || o.left {
		h.sent = nil
		if o.err != nil {
			h.screen.note("(%v)", o.err)
		}
		if o.left {
			h.screen.note("(cancelled)")
		}
	}
	if e.Type == event.DiagnosticType && o.done {
		h.running = false
	}
	if !h.busy() {
		h.prompt()
	}
}

// ask shows what is asked for now: a verdict, or a text.
func (h *conversation) ask() {
	if len(h.standing) == 0 {
		h.prompt()
		return
	}
	call := h.standing[0]
	h.screen.question(call.Name, call.Args)
	fmt.Fprint(h.screen.notes, "  allow it? y, n, or why not: ")
	h.screen.midLine = true
}

// prompt invites a text, on a terminal and while nothing runs.
func (h *conversation) prompt() {
	if h.terminal && !h.running && len(h.standing) == 0 {
		fmt.Fprint(h.screen.text, "> ")
		h.screen.midLine = true
	}
}
