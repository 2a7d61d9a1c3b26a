package rest

import (
	"context"
	"sync"
)

// attachments are the requests that stay with a session: streams, and those that wait.
type attachments struct {
	mu        sync.Mutex
	bySession map[string]map[*attachment]struct{}
}

type attachment struct {
	end   context.CancelCauseFunc
	stirs chan struct{} // the session's status has changed since it was emptied
}

// attach returns a context that ends, with why, when the client goes, the token is taken
// away, the session is deleted or the server drains. release is to be called then.
func (c *call) attach(session string) (ctx context.Context, stirs <-chan struct{}, release func(), err error) {
	ctx, end := context.WithCancelCause(c.ctx)
	x := &attachment{end, make(chan struct{}, 1)}
	forget, ok := c.server.Keys.Register(c.token, session, func() { end(errRevoked) })
	if !ok { // a moment ago
		end(nil)
		return nil, nil, nil, errRevoked
	}
	leave := c.server.attached.add(session, x)
	release = func() {
		leave()
		forget()
		end(nil)
	}
	// Deleted before it was added: nobody has told, or will.
	if _, err := c.server.Store.Session(c.lasting(), session); err != nil {
		release()
		return nil, nil, nil, err
	}
	return ctx, x.stirs, release, nil
}

func (a *attachments) add(session string, x *attachment) (leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bySession[session] == nil {
		a.bySession[session] = map[*attachment]struct{}{}
	}
	a.bySession[session][x] = struct{}{}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.bySession[session], x)
		if len(a.bySession[session]) == 0 {
			delete(a.bySession, session)
		}
	}
}

// drop ends what stays with a session that was deleted.
func (a *attachments) drop(session string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for x := range a.bySession[session] {
		x.end(errGone)
	}
}

// stir tells those that stay with a session of a change of its status.
func (a *attachments) stir(session string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for x := range a.bySession[session] {
		select {
		case x.stirs <- struct{}{}:
		default:
		}
	}
}

// count is how many requests stay with sessions now.
func (a *attachments) count() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, xs := range a.bySession {
		n += len(xs)
	}
	return n
}
