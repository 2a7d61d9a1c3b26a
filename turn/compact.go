package turn

import (
	"context"
	"errors"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// Compacted is what became of a compaction.
type Compacted struct {
	Done         bool
	TokensBefore *int64 // of what was replaced, as the compactor's provider counted; nil when it did not tell
	TokensAfter  *int64 // of the summary, likewise
	Declined     string // why nothing was applied, when nothing failed either
}

// compaction is a summary under way. Nothing waits for it but the step whose
// request was too long, and whoever asked.
type compaction struct {
	end     context.CancelCauseFunc
	seen    int64    // the newest model-visible event when it began: what lands behind it is not in the summary
	refused *refused // nil when no turn waits for it
	waiting []chan<- compactionEnd
}

// refused is a step whose request did not fit the model's context.
type refused struct {
	step *step
	err  error
}

type compactionEnd struct {
	Compacted
	err error
}

// holdsTurn tells whether the open turn waits for the compaction.
func (c *compaction) holdsTurn() bool { return c != nil && c.refused != nil }

// Compact summarises the history now and waits for it; a compaction under way is
// joined. ErrTurnOpen while a turn is open. It declines, and says why, when there is
// nothing to summarise, when something was said meanwhile, and when the summary is
// empty or no shorter. An error of the model leaves the history as it is, too.
func (a *Agent) Compact(ctx context.Context) (Compacted, error) {
	done := make(chan compactionEnd, 1)
	err := a.do(ctx, func() error {
		switch {
		case a.host.isDraining():
			return ErrDraining
		case a.st.turn != nil:
			return ErrTurnOpen
		}
		if a.compacting == nil || a.compacting.seen != a.st.seen {
			if err := a.compact(nil); err != nil {
				return err
			}
		}
		a.compacting.waiting = append(a.compacting.waiting, done)
		return nil
	})
	if err != nil {
		return Compacted{}, err
	}
	select {
	case end := <-done:
		return end.Compacted, end.err
	case <-ctx.Done():
		return Compacted{}, context.Cause(ctx)
	}
}

// compactable tells whether a request failed in a way that a shorter history may
// mend: too long, nothing streamed, and tried for the first time in this turn.
func (a *Agent) compactable(k *asking, err error) bool {
	return overflow(err) && k.text.Len() == 0 && k.reasoning.Len() == 0 && !a.st.turn.compacted
}

func overflow(err error) bool {
	var e *model.Error
	return errors.As(err, &e) && e.Code == event.CodeContextOverflow
}

// compact begins a compaction, in the place of one that has become stale.
func (a *Agent) compact(why *refused) error {
	if err := a.commit(); err != nil {
		return err
	}
	a.endCompaction(nil)
	ctx, end := context.WithCancelCause(a.host.beside)
	c := &compaction{end: end, seen: a.st.seen, refused: why}
	a.compacting = c
	a.announceStatus(CompactionStarted)
	s, err := a.summarizer()
	a.spawn(func() func() {
		defer end(nil)
		var sum summary
		if err == nil {
			sum, err = s.summarize(ctx)
		}
		return func() { a.compacted(c, sum, err) }
	})
	return nil
}

// checkpointAt is the last seq that a checkpoint made now stands for: the question
// of an open turn stays in its own words.
func (a *Agent) checkpointAt() int64 {
	if t := a.st.turn; t != nil {
		return t.seq - 1
	}
	return a.st.next - 1
}

// compacted applies the summary, unless something was said that is not in it, and
// lets the step that waits for it ask again.
func (a *Agent) compacted(c *compaction, s summary, err error) {
	if a.compacting != c {
		return // cut before
	}
	a.compacting = nil
	if c.holdsTurn() && a.host.isDraining() {
		a.leave()
		a.announceStatus(CompactionFinished)
		return
	}
	out := Compacted{Declined: s.declined}
	if err == nil && s.declined == "" {
		out = a.checkpoint(c, s)
	}
	appendErr := a.commit()
	a.announceStatus(CompactionFinished)
	switch {
	case appendErr != nil: // it has stopped the turn
		out, err = Compacted{}, appendErr
	case c.holdsTurn() && out.Done:
		a.ask(c.refused.step)
	case c.holdsTurn():
		a.fail(overflowed(c.refused.err, out.Declined, err))
		_ = a.settle() // a failed append has stopped the turn
	case err != nil && !errors.Is(err, ErrDraining):
		a.host.logger().Warn("the history was not compacted", "session", a.id, "err", err)
	}
	c.answer(compactionEnd{out, err})
}

func (a *Agent) checkpoint(c *compaction, s summary) Compacted {
	if a.st.seen != c.seen {
		return Compacted{Declined: "something was said meanwhile"}
	}
	upto := a.checkpointAt()
	if s.shortened {
		upto = s.upto
	}
	a.emit(event.SessionCompacted{UptoSeq: upto, Summary: s.text, TokensBefore: s.before, TokensAfter: s.after})
	return Compacted{Done: true, TokensBefore: s.before, TokensAfter: s.after}
}

// overflowed says why the turn fails although a compaction was tried.
func overflowed(refusal error, declined string, err error) (event.Code, string) {
	code, message := failure(refusal)
	if err != nil {
		_, declined = failure(err)
	}
	return code, message + "; the history could not be compacted: " + declined
}

// endCompaction cuts a compaction under way; nothing of it is kept.
func (a *Agent) endCompaction(cause error) {
	c := a.compacting
	if c == nil {
		return
	}
	a.compacting = nil
	a.announceStatus(CompactionFinished)
	c.end(cause)
	if cause == nil {
		c.answer(compactionEnd{Compacted: Compacted{Declined: "something was said meanwhile"}})
		return
	}
	c.answer(compactionEnd{err: cause})
}

func (c *compaction) answer(end compactionEnd) {
	for _, waiting := range c.waiting {
		waiting <- end // buffered
	}
}
