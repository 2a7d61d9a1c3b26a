package rest

import (
	"cmp"
	"net/http"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
)

func inboxRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/sessions/{session}/inbox", verbs: auth.Watch, serve: listInbox,
			about:   "Lists the texts that wait to be read, in order of arrival.",
			answers: append([]answer{ok([]protocol.InboxItem{})}, refused(http.StatusNotFound)...),
		},
		{
			method: http.MethodDelete, path: "/sessions/{session}/inbox/{input}", verbs: auth.Inject, serve: withdraw,
			about:   "Withdraws a text that nobody has read.",
			answers: append([]answer{noContent("Withdrawn.")}, refused(http.StatusNotFound)...),
		},
	}
}

func listInbox(c *call) error {
	log, release, err := c.log()
	if err != nil {
		return err
	}
	defer release()
	waiting, err := log.Inbox(c.ctx)
	if err != nil {
		return err
	}
	items := make([]protocol.InboxItem, len(waiting))
	for i, in := range waiting {
		items[i] = protocol.InboxItem{
			// The agent socket's texts have no queue of their own and wait as next_turn does.
			InputID: in.ID, Queue: cmp.Or(protocol.Queue(in.Queue), protocol.QueueNextTurn), Text: in.Text, Wake: in.Wake, QueuedAt: protocol.Time(in.QueuedAt),
		}
	}
	return c.answer(http.StatusOK, items)
}

func withdraw(c *call) error {
	a, release, err := c.agent()
	if err != nil {
		return err
	}
	defer release()
	if err := a.Withdraw(c.lasting(), c.r.PathValue("input")); err != nil {
		return err
	}
	return c.done(http.StatusNoContent)
}
