package turn

import (
	"context"
	"slices"
	"time"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// Inject is a text for the agent.
type Inject struct {
	Text  string
	Wake  bool
	ID    string // the client's own id: a repeated one is a no-op. "" for none
	Queue string // "" = that of the agent socket: it rides into the next step there is, and never makes one
}

// Inject takes a text. A waking one starts a turn of an idle agent or resumes the
// turn that the log has open; any other waits in the inbox for the next step.
// Which of them it is and its record are one decision, so no burst can start two
// turns or drop a text. It may fail with ErrInboxFull, ErrDraining or an *AppendError.
func (a *Agent) Inject(ctx context.Context, in Inject) error {
	return a.do(ctx, func() error { return a.inject(ctx, in) })
}

func (a *Agent) inject(ctx context.Context, in Inject) error {
	if a.host.isDraining() {
		return ErrDraining
	}
	if in.ID != "" {
		seen, err := a.log.SeenInput(ctx, in.ID)
		if err != nil {
			return err
		}
		if seen {
			a.again(in)
			return nil
		}
	}
	in.Text = a.host.config().Redact.Text(in.Text) // before it waits anywhere
	if in.Wake && a.st.turn == nil {
		if _, err := a.mainModel(); err != nil && a.inboxFull(in.Text) {
			return ErrInboxFull // the turn would be rejected, and its text wait here
		}
		a.begin(&in)
		return nil
	}
	wakes := in.Wake && !a.running
	if !wakes && a.inboxFull(in.Text) {
		return ErrInboxFull
	}
	if wakes {
		a.resume(nil) // before the text: a cancel that it finds there is older
	}
	a.enqueue(in)
	return nil
}

// again takes a text that came before. It is not recorded twice, but if a crash left it
// waiting in an open turn, it is the stimulus of that turn: its sender, who was cut off
// too and cannot know what had arrived, would wait for ever.
func (a *Agent) again(in Inject) {
	waits := slices.ContainsFunc(a.st.inbox, func(text store.Input) bool { return text.ClientID && text.ID == in.ID })
	if waits && in.Wake && a.st.turn != nil && !a.running {
		a.resume(nil)
	}
}

func (a *Agent) inboxFull(text string) bool {
	cfg := a.host.config()
	bytes := len(text)
	for _, waiting := range a.st.inbox {
		bytes += len(waiting.Text)
	}
	return len(a.st.inbox) >= cfg.InboxTexts || bytes > cfg.InboxBytes
}

func (a *Agent) enqueue(in Inject) {
	text := store.Input{
		Position: a.lastPosition() + 1, ID: in.ID, Queue: in.Queue, Text: in.Text,
		Wake: in.Wake, QueuedAt: time.Now(), ClientID: in.ID != "",
	}
	if text.ID == "" {
		text.ID = event.NewID()
	}
	a.st.inbox = append(a.st.inbox, text)
	a.work.Put = append(a.work.Put, text)
}

func (a *Agent) lastPosition() int64 {
	if len(a.st.inbox) == 0 {
		return 0
	}
	return a.st.inbox[len(a.st.inbox)-1].Position
}

// readInbox takes the waiting texts of the queues that read tells into the step that
// begins, in order of arrival.
func (a *Agent) readInbox(read func(queue string) bool) {
	var left []store.Input
	for _, text := range a.st.inbox {
		if !read(text.Queue) {
			left = append(left, text)
			continue
		}
		injected := event.ContextInjected{Text: text.Text, Queue: text.Queue}
		if text.ClientID || text.Queue != socketQueue {
			injected.InputID = text.ID
		}
		a.emit(injected)
		a.take(text)
	}
	a.st.inbox = left
}

// take removes a text that was read from the stored inbox. One that came in the
// same append never gets there.
func (a *Agent) take(text store.Input) {
	at := slices.IndexFunc(a.work.Put, func(put store.Input) bool { return put.Position == text.Position })
	if at < 0 {
		a.work.Take = append(a.work.Take, text.Position)
		return
	}
	a.work.Put = slices.Delete(a.work.Put, at, at+1)
	if text.ClientID {
		a.work.Seen = append(a.work.Seen, text.ID)
	}
}

// calm makes the texts up to a position wait for another stimulus.
func (a *Agent) calm(upto int64) {
	for i := range a.st.inbox {
		text := &a.st.inbox[i]
		if text.Wake && text.Position <= upto {
			text.Wake = false
			a.work.Calm = append(a.work.Calm, text.Position)
		}
	}
}

// woken tells whether a text waits that wants a turn of its own.
func (a *Agent) woken() bool {
	for _, text := range a.st.inbox {
		if text.Wake {
			return true
		}
	}
	return false
}
