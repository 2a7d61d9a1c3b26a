package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"hitchpost/server/auth"
	"hitchpost/server/project"
	"hitchpost/server/protocol"
	"hitchpost/store"
)

// errTimeUp ends a wait that its client has bounded.
var errTimeUp = errors.New("the time to wait is over")

// await answers with the outcome of a run, when it has ended, waits for a verdict or was
// left open by a failure, or with how it stands when the time is up.
func (c *call) await(log *store.Log, id string, seconds int64) error {
	ctx, stirs, release, err := c.attach(log.Session())
	if err != nil {
		return err
	}
	defer release()
	ctx, done := context.WithTimeoutCause(ctx, time.Duration(seconds)*time.Second, errTimeUp)
	defer done()
	run, err := project.Find(c.lasting(), log, id)
	if err != nil {
		return err
	}
	p, err := project.Behind(c.lasting(), log, run.First-1)
	if err != nil {
		return err
	}
	t := c.server.follow(log, run.First)
	defer t.stop()
	w := waited{RunOutcome: protocol.RunOutcome{RunID: id, SessionID: log.Session(), Status: protocol.RunStatusRunning}}
	if err := w.wait(ctx, c, t, p, stirs); err != nil && !errors.Is(err, errTimeUp) {
		return err
	}
	c.w.Header().Set("Preference-Applied", "wait="+strconv.FormatInt(seconds, 10))
	return c.answer(w.status(), w.RunOutcome)
}

// wait reads the run until there is an outcome.
func (w *waited) wait(ctx context.Context, c *call, t *tail, p *project.Projector, stirs <-chan struct{}) error {
	for !w.over {
		driven := c.server.Host.Live(w.SessionID).Running
		events, err := t.read(ctx)
		if err != nil {
			return err
		}
		if !c.token.May(auth.Watch) {
			return errNarrowed
		}
		for _, ev := range events {
			for _, f := range p.Next(ev) {
				w.note(f)
			}
		}
		switch {
		case len(events) > 0: // there may be more
			continue
		case len(w.Interrupted) > 0: // what stands now, stands
			return nil
		case !driven: // and its end, which would have been in the log by then, is not
			w.Status = protocol.RunStatusResumable
			return nil
		}
		select {
		case <-t.moved:
		case <-stirs:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// waited is what the frames of a run have told so far.
type waited struct {
	protocol.RunOutcome
	over bool
}

func (w *waited) note(f project.Frame) {
	if f.Run != w.RunID {
		return
	}
	switch f.Type {
	case protocol.TypeRunStarted:
		w.Interrupted, w.Status = nil, protocol.RunStatusRunning
	case protocol.TypeRunInterrupted:
		w.Interrupted, w.Status = payload[protocol.RunInterrupted](f).Pending, protocol.RunStatusInterrupted
	}
	if !f.Terminal() {
		return
	}
	w.over, w.Interrupted = true, nil
	switch f.Type {
	case protocol.TypeRunOutput:
		output := payload[protocol.RunOutput](f).FinalOutput
		w.FinalOutput, w.Status = &output, protocol.RunStatusCompleted
	case protocol.TypeRunError:
		e := payload[protocol.RunError](f)
		w.Status, w.Error = protocol.RunStatusError, failed(e.Code, e.Message)
	case protocol.TypeRunCancelled:
		x := payload[protocol.RunCancelled](f)
		message := fmt.Sprintf("the run was cancelled: %s", x.Reason)
		if x.Message != nil {
			message += ": " + *x.Message
		}
		w.Status, w.Error = protocol.RunStatusCancelled, &protocol.RESTProblem{Code: protocol.RESTUpstream, Message: message}
	}
}

func (w *waited) status() int {
	switch {
	case w.Error != nil:
		return http.StatusBadGateway
	case w.over, len(w.Interrupted) > 0:
		return http.StatusOK
	}
	return http.StatusAccepted
}

// payload reads back the payload of a frame that we made.
func payload[P protocol.ServerPayload](f project.Frame) P {
	var frame struct{ Payload P }
	_ = json.Unmarshal(f.Line, &frame)
	return frame.Payload
}
