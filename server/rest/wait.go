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

// await answers with the outcome of a run, when it has ended or waits for a verdict, or
// with how it stands when the time is up.
func (c *call) await(log *store.Log, id string, seconds int64) error {
	ctx, release, err := c.attach(log.Session())
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
	for !w.over {
		events, err := t.read(ctx)
		if err == nil && len(events) == 0 { // all there is was seen: what stands now, stands
			if len(w.Interrupted) > 0 {
				break
			}
			select {
			case <-t.moved:
				continue
			case <-ctx.Done():
				err = context.Cause(ctx)
			}
		}
		if errors.Is(err, errTimeUp) {
			break
		}
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
	}
	c.w.Header().Set("Preference-Applied", "wait="+strconv.FormatInt(seconds, 10))
	return c.answer(w.status(), w.RunOutcome)
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
