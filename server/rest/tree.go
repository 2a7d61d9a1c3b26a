package rest

import (
	"net/http"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
	"hitchpost/turn"
	"hitchpost/turn/event"
)

func treeRoutes() []route {
	return []route{
		{
			method: http.MethodPost, path: "/sessions/{session}/branch", verbs: auth.Inject, serve: branch,
			about: "Moves the leaf to an entry, or with exclusive to its parent; what follows stands behind it.",
			body:  protocol.BranchRequest{},
			answers: append([]answer{ok(protocol.Branched{})},
				refused(http.StatusNotFound, http.StatusConflict)...),
		},
		{
			method: http.MethodPost, path: "/sessions/{session}/fork", verbs: auth.Inject | auth.Watch, serve: fork,
			about: "Copies a session up to an entry, or all of it. It runs nothing again, and may be asked for while the source runs.",
			body:  protocol.ForkRequest{},
			answers: append([]answer{{status: http.StatusCreated, about: "The copy.", body: protocol.Session{}}},
				refused(http.StatusNotFound)...),
		},
		{
			method: http.MethodPost, path: "/sessions/{session}/compact", verbs: auth.Admin, serve: compact,
			about: "Puts a summary in the place of the history, as the model reads it from now on. It waits for it.",
			answers: append([]answer{ok(protocol.CompactionResult{})},
				refused(http.StatusNotFound, http.StatusConflict, http.StatusBadGateway)...),
		},
	}
}

func branch(c *call) error {
	in, err := decode[protocol.BranchRequest](c)
	if err != nil {
		return err
	}
	a, release, err := c.agent()
	if err != nil {
		return err
	}
	defer release()
	leaf, previous, err := a.Branch(c.lasting(), in.EntryID, in.Exclusive)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, protocol.Branched{Leaf: leaf, PreviousLeaf: previous})
}

func fork(c *call) error {
	in, err := decode[protocol.ForkRequest](c)
	if err != nil {
		return err
	}
	if in.Exclusive && in.MessageID == "" {
		return invalid("exclusive needs a message_id, before which the copy ends")
	}
	x, err := c.row()
	if err != nil {
		return err
	}
	id := event.NewID()
	if !c.token.Reaches(id) {
		return refuse(http.StatusForbidden, "this token reaches the sessions that it lists alone, and a copy gets an id of its own")
	}
	made, err := c.server.Host.Fork(c.lasting(), x.ID, turn.ForkPoint{Entry: in.MessageID, Exclusive: in.Exclusive}, id)
	if err != nil {
		return err
	}
	return c.created(made)
}

func compact(c *call) error {
	a, release, err := c.agent()
	if err != nil {
		return err
	}
	defer release()
	ctx, _, leave, err := c.attach(c.r.PathValue("session"))
	if err != nil {
		return err
	}
	defer leave()
	done, err := a.Compact(ctx)
	if err != nil {
		return upstream(err)
	}
	return c.answer(http.StatusOK, protocol.CompactionResult{
		Compacted: done.Done, TokensBefore: done.TokensBefore, TokensAfter: done.TokensAfter, Reason: done.Declined,
	})
}
