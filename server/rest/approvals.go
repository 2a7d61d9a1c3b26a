package rest

import (
	"net/http"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
	"hitchpost/turn"
)

func approvalRoutes() []route {
	decided := append([]answer{accepted()}, refused(http.StatusNotFound, http.StatusConflict)...)
	return []route{
		{
			method: http.MethodGet, path: "/approvals", verbs: auth.Watch, serve: listApprovals,
			about:   "Lists the calls that wait for a verdict, oldest first.",
			answers: []answer{ok([]protocol.Approval{})},
		},
		{
			method: http.MethodPost, path: "/approvals/{call}/approve", verbs: auth.Approve, serve: approve,
			about: "Lets a standing call run.", body: protocol.VerdictRequest{}, answers: decided,
		},
		{
			method: http.MethodPost, path: "/approvals/{call}/reject", verbs: auth.Approve, serve: reject,
			about: "Denies a standing call.", body: protocol.VerdictRequest{}, answers: decided,
		},
	}
}

func listApprovals(c *call) error {
	list, err := c.server.book.Approvals(c.ctx, c.token)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, list)
}

func approve(c *call) error { return c.decide(true) }
func reject(c *call) error  { return c.decide(false) }

func (c *call) decide(approve bool) error {
	in, err := decode[protocol.VerdictRequest](c)
	if err != nil {
		return err
	}
	v := turn.Verdict{RunID: in.RunID, CallID: c.r.PathValue("call"), Approve: approve}
	if !approve && in.Reason != "" {
		v.Reason = &in.Reason
	}
	if err := c.server.book.Decide(c.lasting(), c.token, v); err != nil {
		return err
	}
	return c.done(http.StatusAccepted)
}
