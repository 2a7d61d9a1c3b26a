package rest

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
	"hitchpost/server/sessions"
	"hitchpost/store"
	"hitchpost/turn"
	"hitchpost/turn/event"
)

func sessionRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/sessions", verbs: auth.Watch, serve: listSessions,
			about:   "Lists the sessions, pinned ones first, then by newest activity.",
			answers: []answer{ok([]protocol.Session{})},
		},
		{
			method: http.MethodPost, path: "/sessions", verbs: auth.Inject, serve: createSession,
			about: "Makes a session.",
			body:  protocol.NewSession{},
			answers: append([]answer{{status: http.StatusCreated, about: "Made.", body: protocol.Session{}}},
				refused(http.StatusConflict)...),
		},
		{
			method: http.MethodGet, path: "/sessions/{session}", verbs: auth.Watch, serve: getSession,
			about:   "Shows a session.",
			answers: append([]answer{ok(protocol.Session{})}, refused(http.StatusNotFound)...),
		},
		{
			method: http.MethodPatch, path: "/sessions/{session}", verbs: auth.Admin, serve: patchSession,
			about:   "Changes a session's title or pin.",
			body:    protocol.SessionPatch{},
			answers: append([]answer{ok(protocol.Session{})}, refused(http.StatusNotFound)...),
		},
		{
			method: http.MethodDelete, path: "/sessions/{session}", verbs: auth.Admin, serve: deleteSession,
			about:   "Deletes a session, its open run aborted first. Its id stays taken.",
			answers: append([]answer{noContent("Deleted.")}, refused(http.StatusNotFound)...),
		},
	}
}

func listSessions(c *call) error {
	list, err := c.server.book.List(c.ctx, c.token)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, list)
}

func getSession(c *call) error {
	x, err := c.server.book.Get(c.ctx, c.token, c.r.PathValue("session"))
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, x)
}

// lasting is for what is carried out whether its client waits for it or not.
func (c *call) lasting() context.Context { return context.WithoutCancel(c.ctx) }

// row finds the session that the path names.
func (c *call) row() (store.Session, error) {
	return c.server.book.Row(c.ctx, c.token, c.r.PathValue("session"))
}

// agent holds the agent of the session that the path names, until release.
func (c *call) agent() (a *turn.Agent, release func(), err error) {
	x, err := c.row()
	if err != nil {
		return nil, nil, err
	}
	if a, err = c.server.Host.Open(c.ctx, x.ID); err != nil {
		return nil, nil, err
	}
	return a, a.Release, nil
}

// log opens the log of the session that the path names, until release.
func (c *call) log() (log *store.Log, release func(), err error) {
	x, err := c.row()
	if err != nil {
		return nil, nil, err
	}
	if log, err = c.server.Store.OpenLog(c.ctx, x.ID); err != nil {
		return nil, nil, err
	}
	return log, log.Close, nil
}

func createSession(c *call) error {
	in, err := decode[protocol.NewSession](c)
	if err != nil {
		return err
	}
	id := in.ID
	switch {
	case id == "":
		id = event.NewID()
	case !sessions.ValidID(id):
		return invalid("the id %.140q is none; it must be %s", id, sessions.IDRule)
	}
	if !c.token.Reaches(id) {
		return unreached(in.ID)
	}
	x, err := c.server.Host.CreateSession(c.lasting(), store.Session{
		ID: id, Owner: c.token.Owner, Agent: in.Agent, Title: in.Title,
	})
	switch {
	case errors.Is(err, store.ErrExists), errors.Is(err, store.ErrDeleted):
		return refuse(http.StatusConflict, "the id %.140q is taken; choose another, or leave it out", id)
	case errors.Is(err, store.ErrInvalid):
		return invalid("%v", err)
	case err != nil:
		return err
	}
	return c.created(x)
}

// unreached refuses to make what the token could not reach.
func unreached(id string) error {
	if id == "" {
		return refuse(http.StatusForbidden, "this token reaches the sessions that it lists alone; give an id that it lists")
	}
	return refuse(http.StatusForbidden, "this token does not reach a session of the id %.140q", id)
}

// created answers with a session that was just made.
func (c *call) created(x store.Session) error {
	row, err := c.server.Store.Session(c.lasting(), x.ID)
	if err != nil {
		return err
	}
	made, err := c.server.book.Object(c.lasting(), row)
	if err != nil {
		return err
	}
	c.w.Header().Set("Location", Base+"/sessions/"+url.PathEscape(x.ID))
	return c.answer(http.StatusCreated, made)
}

func patchSession(c *call) error {
	in, err := decode[protocol.SessionPatch](c)
	if err != nil {
		return err
	}
	if in.Title == nil && in.Pinned == nil {
		return invalid("nothing is to be changed; give title, pinned or both")
	}
	a, release, err := c.agent()
	if err != nil {
		return err
	}
	defer release()
	if err := a.Amend(c.lasting(), in.Title, in.Pinned); err != nil {
		return err
	}
	return getSession(c)
}

func deleteSession(c *call) error {
	x, err := c.row()
	if err != nil {
		return err
	}
	if err := c.server.Host.Delete(c.lasting(), x.ID); err != nil {
		return err
	}
	return c.done(http.StatusNoContent)
}
