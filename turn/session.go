package turn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"unicode/utf8"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// Open is Hold for whoever has seen to it that the session may be spoken to: it
// creates none and asks for no owner. store.ErrNotFound, store.ErrDeleted,
// ErrForeign while it is being deleted, ErrTooManyAgents. Whoever opens it releases it.
func (h *Host) Open(ctx context.Context, id string) (*Agent, error) {
	session, err := h.store.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	return h.hold(ctx, session)
}

// CreateSession creates a session of x's owner and returns it as it is stored. An
// empty id is minted; without a definition it is that of the id, else the default one; a
// title is an event, as a rename is. store.ErrExists, store.ErrDeleted; an *InvalidError
// names the member that makes no sense; ErrDraining; an *AppendError.
func (h *Host) CreateSession(ctx context.Context, x store.Session) (store.Session, error) {
	cfg := h.config()
	if x.ID == "" {
		x.ID = event.NewID()
	}
	if x.Agent == "" {
		x.Agent = cfg.definitionFor(x.ID)
	}
	if err := cfg.defined(x.Agent); err != nil {
		return store.Session{}, err
	}
	created := event.SessionCreated{}
	if x.ParentID != "" {
		created.ParentID = &x.ParentID
	}
	first := []event.Payload{created}
	if x.Title != "" {
		title, err := checkTitle(x.Title)
		if err != nil {
			return store.Session{}, err
		}
		x.Title = cfg.Redact.Text(title)
		first = append(first, event.SessionTitled{Title: x.Title})
	}
	switch err := h.bear(ctx, x, first...); {
	case errors.Is(err, store.ErrDeleted):
		return store.Session{}, store.ErrDeleted
	case errors.Is(err, store.ErrInvalid):
		return store.Session{}, &InvalidError{err.Error()}
	case errors.Is(err, store.ErrExists):
		if _, found := h.store.Session(ctx, x.ID); errors.Is(found, store.ErrNotFound) {
			return store.Session{}, err // somebody else's, in a transaction that has failed
		}
		return store.Session{}, store.ErrExists
	case err != nil:
		return store.Session{}, err
	}
	return h.store.Session(ctx, x.ID)
}

// definitionFor names the definition of a session that asks for none.
func (c *Config) definitionFor(id string) string {
	if _, ok := c.Agents[id]; ok {
		return id
	}
	return DefaultAgent
}

// defined refuses a definition that the configuration does not have.
func (c *Config) defined(name string) error {
	if _, ok := c.Agents[name]; !ok {
		return &InvalidError{fmt.Sprintf("no agent definition %q in the configuration; add [agents.%s] or use another", name, name)}
	}
	return nil
}

// Amend gives the session a title of 1 to 80 characters, on one line, after which no titler
// names it, and has lists show it first or no longer: both in one append. nil leaves as it is.
func (a *Agent) Amend(ctx context.Context, title *string, pinned *bool) error {
	if title != nil {
		checked, err := checkTitle(*title)
		if err != nil {
			return err
		}
		title = &checked
	}
	return a.do(ctx, func() error {
		if title != nil {
			a.emit(event.SessionTitled{Title: *title})
		}
		if pinned != nil {
			a.work.Pinned = pinned
		}
		return nil
	})
}

// checkTitle returns a title as it is kept.
func checkTitle(title string) (string, error) {
	title = oneLine(title)
	if n := utf8.RuneCountInString(title); n == 0 || n > titleLimit {
		return "", &InvalidError{fmt.Sprintf("a title has 1 to %d characters, this one has %d", titleLimit, n)}
	}
	return title, nil
}

// Policy returns the allow list in force: the session's own, else its definition's floor.
func (a *Agent) Policy(ctx context.Context) ([]string, error) {
	var out []string
	err := a.do(ctx, func() error {
		out = append([]string{}, a.policy()...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Models returns the provider/model of each role that has one.
func (a *Agent) Models(ctx context.Context) (map[string]string, error) {
	var out map[string]string
	err := a.do(ctx, func() error {
		out = map[string]string{}
		maps.Copy(out, a.host.config().Agents[a.definition()].Models)
		maps.Copy(out, a.st.models)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
