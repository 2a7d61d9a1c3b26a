package rest

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
	"hitchpost/turn"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

func runRoutes() []route {
	return []route{
		{
			method: http.MethodPost, path: "/sessions/{session}/runs", verbs: auth.Inject, serve: createRun,
			about: "Starts a run. One that is parked gives way to it; one that a crash left open goes on with the input.",
			params: []param{
				header("Prefer", "wait=N waits up to N seconds (at most 600) for the outcome.", text),
				header("Idempotency-Key", "A request that repeats it is answered with the run that the first one started.", text),
			},
			body: protocol.NewRun{},
			answers: append([]answer{
				{status: http.StatusCreated, about: "Started.", body: protocol.RunOutcome{}},
				{status: http.StatusOK, about: "Waited for: it has its final output, or calls wait for a verdict.", body: protocol.RunOutcome{}},
				{status: http.StatusAccepted, about: "Waited for, and it is running still.", body: protocol.RunOutcome{}},
				{status: http.StatusBadGateway, about: "Waited for, and it failed or was cancelled.", body: protocol.RunOutcome{}},
			}, refused(http.StatusNotFound, http.StatusConflict)...),
		},
		{
			method: http.MethodGet, path: "/runs/{run}", verbs: auth.Watch, serve: getRun,
			about:   "Shows a run.",
			answers: append([]answer{ok(protocol.Run{})}, refused(http.StatusNotFound)...),
		},
		{
			method: http.MethodGet, path: "/runs/{run}/events", verbs: auth.Watch, serve: streamRun,
			about: "Streams the frames of a run: id is the seq, event the type, data the frame. It ends after the terminal frame, not at a pause.",
			params: []param{
				query("from_seq", "A cursor: everything up to and including it is known.", natural),
				header("Last-Event-ID", "The same, as a browser sends it when it comes back; it goes before from_seq.", natural),
			},
			answers: append([]answer{
				{status: http.StatusOK, about: "The frames behind the cursor.", media: mediaEvents},
				noContent("The run is over and the cursor has it all."),
			}, refused(http.StatusBadRequest, http.StatusNotFound)...),
		},
		{
			method: http.MethodPost, path: "/runs/{run}/cancel", verbs: auth.Inject, serve: cancelRun,
			about:   "Stops a run. One that has ended stays as it is.",
			params:  []param{query("mode", "abort, as without it: now, in the middle of the stream. graceful: when the step is finished.", text)},
			answers: append([]answer{accepted()}, refused(http.StatusBadRequest, http.StatusNotFound)...),
		},
		{
			method: http.MethodPost, path: "/runs/{run}/inject", verbs: auth.Inject, serve: injectRun,
			about: "Puts a text into the inbox of an open run's session.",
			body:  protocol.InjectRequest{},
			answers: append([]answer{accepted()},
				refused(http.StatusNotFound, http.StatusConflict)...),
		},
	}
}

func createRun(c *call) error {
	wait, waits, err := c.wait()
	if err != nil {
		return err
	}
	if waits && !c.token.May(auth.Watch) {
		return refuse(http.StatusForbidden, "this token may not watch, and Prefer: wait shows what a run says")
	}
	key, err := c.key()
	if err != nil {
		return err
	}
	in, err := decode[protocol.NewRun](c)
	if err != nil {
		return err
	}
	a, release, err := c.agent()
	if err != nil {
		return err
	}
	defer release()
	id, err := a.StartRun(c.lasting(), turn.NewRun{Input: in.Input, Agent: in.Agent, Key: key})
	if err != nil {
		return err
	}
	c.w.Header().Set("Location", Base+"/runs/"+url.PathEscape(id))
	if waits {
		return c.await(a.Log(), id, wait)
	}
	x, run, err := c.server.book.Run(c.lasting(), c.token, id)
	if err != nil {
		return err
	}
	now, err := c.server.book.RunObject(c.lasting(), x, run)
	if err != nil {
		return err
	}
	return c.answer(http.StatusCreated, protocol.RunOutcome{RunID: id, SessionID: x.ID, Status: now.Status})
}

func getRun(c *call) error {
	x, run, err := c.server.book.Run(c.ctx, c.token, c.r.PathValue("run"))
	if err != nil {
		return err
	}
	now, err := c.server.book.RunObject(c.ctx, x, run)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, now)
}

func cancelRun(c *call) error {
	mode := protocol.Mode(c.query("mode"))
	switch mode {
	case "", protocol.ModeAbort, protocol.ModeGraceful:
	default:
		return invalid("mode is %.40q; it must be %s or %s", mode, protocol.ModeAbort, protocol.ModeGraceful)
	}
	if err := c.server.book.Cancel(c.lasting(), c.token, c.r.PathValue("run"), mode); err != nil {
		return err
	}
	return c.done(http.StatusAccepted)
}

func injectRun(c *call) error {
	in, err := decode[protocol.InjectRequest](c)
	if err != nil {
		return err
	}
	switch in.Queue {
	case protocol.QueueSteer, protocol.QueueNextTurn, protocol.QueueFollowUp:
	default:
		return invalid("queue is %.40q; it must be %s, %s or %s", in.Queue, protocol.QueueSteer, protocol.QueueNextTurn, protocol.QueueFollowUp)
	}
	if strings.TrimSpace(in.Input) == "" {
		return invalid("input is blank")
	}
	if err := c.server.book.Inject(c.lasting(), c.token, c.r.PathValue("run"), in.Queue, in.Input); err != nil {
		return err
	}
	return c.done(http.StatusAccepted)
}

// upstream tells a model's failure from ours.
func upstream(err error) error {
	var failure *model.Error
	if errors.As(err, &failure) {
		return refuse(http.StatusBadGateway, "%s: %s", failure.Code, failure.Message)
	}
	return err
}

// failed says why a run that was waited for has no output.
func failed(code event.Code, message string) *protocol.RESTProblem {
	return &protocol.RESTProblem{Code: protocol.RESTUpstream, Message: string(code) + ": " + message}
}
