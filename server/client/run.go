package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/coder/websocket"

	"hitchpost/turn/event"
)

// run owns the connection from hello to hello until nothing can be mended.
func (a *Agent) run(conn *websocket.Conn, hello Hello) {
	defer close(a.done)
	wait := a.options.MinWait
	for {
		err := a.serve(conn, hello)
		if trouble := (*ServerError)(nil); !errors.As(err, &trouble) || trouble.Code != CodeInternal {
			wait = a.options.MinWait // only a hello leads here, and one of a server in trouble counts for nothing
		}
		for conn = nil; conn == nil; {
			if final := (*finalError)(nil); errors.As(err, &final) {
				a.end(final.error)
			}
			if a.life.Err() != nil {
				return
			}
			pause := jittered(wait)
			wait = min(2*wait, a.options.MaxWait)
			if !a.deliver(delivery{message: Lost{Cause: err, Wait: pause}}) || !a.sleep(pause) {
				return
			}
			conn, hello, err = a.connect(a.life)
		}
		a.install(conn, hello)
	}
}

// jittered spreads clients that lost their server at the same moment.
func jittered(wait time.Duration) time.Duration {
	return wait/2 + rand.N(wait/2+1)
}

func (a *Agent) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-a.life.Done():
		return false
	}
}

// deliver hands a message to Next.
func (a *Agent) deliver(d delivery) bool {
	select {
	case a.out <- d:
		return true
	case <-a.life.Done():
		return false
	}
}

// install makes a connection the current one and brings it up to date: the injects
// that may not have arrived, and what was subscribed.
func (a *Agent) install(conn *websocket.Conn, hello Hello) {
	a.wire.Lock()
	defer a.wire.Unlock()
	a.mu.Lock()
	a.conn, a.hi = conn, hello
	if hello.LogID != "" {
		a.log = hello.LogID
	}
	var frames []any
	for _, in := range a.sent {
		frames = append(frames, in)
	}
	if a.sub.on { // after the injects: what it brings shows that they were handled
		a.sub.asked, a.sub.awaiting = a.sub.next, true
		frames = append(frames, subscribeFrame(a.sub.next))
	}
	close(a.up)
	a.mu.Unlock()
	for _, f := range frames {
		if writeFrame(a.life, conn, f) != nil {
			return // the reader meets the same fault and the next connection starts over
		}
	}
}

// serve reads the connection to its end and says what ended it.
func (a *Agent) serve(conn *websocket.Conn, hello Hello) error {
	// The end of a context that a read has cuts the socket. It must not be the Agent's,
	// or its close frame would never be out.
	reading, cut := context.WithCancel(context.Background())
	hungUp := make(chan struct{})
	stop := context.AfterFunc(a.life, func() {
		defer close(hungUp)
		silent := time.AfterFunc(closeTimeout, cut)
		defer silent.Stop()
		conn.Close(websocket.StatusNormalClosure, "")
	})
	defer func() {
		cut()
		conn.CloseNow()
		if !stop() {
			<-hungUp
		}
		a.mu.Lock()
		a.conn, a.up = nil, make(chan struct{})
		a.mu.Unlock()
	}()
	if !a.deliver(delivery{message: Connected{hello}}) {
		return context.Cause(a.life)
	}
	for {
		raw, err := readFrame(reading, conn)
		if err != nil {
			return err
		}
		if err := a.handle(raw); err != nil {
			return err
		}
	}
}

// handle takes one frame after hello. An error ends the connection.
func (a *Agent) handle(raw []byte) error {
	f, err := decodeFrame(raw)
	if err != nil {
		return &finalError{err}
	}
	switch {
	case f.Seq != nil:
		return a.take(*f.Seq, raw)
	case f.Type == "replay_truncated":
		return a.truncated(f)
	case f.Type == "error":
		switch f.Code {
		case CodeBadFrame, CodeNotRunning, CodeStaleCall, CodeUnsupported:
			a.deliver(delivery{message: Refused{&ServerError{f.Code, f.Message}}})
			return nil
		}
		return farewell(f)
	}
	return nil // a protocol frame of a later day
}

// take delivers an event if it is the next one. Others are duplicates, or left over
// from a subscription that was replaced (Agent Socket v1, subscribe).
func (a *Agent) take(seq int64, raw []byte) error {
	a.mu.Lock()
	s := &a.sub
	number := s.number
	switch {
	case !s.on || seq < s.next || seq > s.next && s.awaiting:
		a.mu.Unlock()
		return nil
	case seq > s.next:
		next := s.next
		a.mu.Unlock()
		return &finalError{fmt.Errorf("%w (seq %d came, %d was next)", ErrGap, seq, next)}
	}
	a.mu.Unlock()

	var e Event
	if err := json.Unmarshal(raw, &e); err != nil {
		return &finalError{fmt.Errorf("%w: event %d: %v", ErrProtocol, seq, err)}
	}
	e.Line = raw
	a.mu.Lock()
	if s.number != number { // replaced meanwhile
		a.mu.Unlock()
		return nil
	}
	s.next, s.awaiting = seq+1, false
	a.seen = max(a.seen, seq)
	a.acknowledge(e)
	a.mu.Unlock()
	a.deliver(delivery{e, number})
	return nil
}

// truncated moves the cursor to where the server's replay begins.
func (a *Agent) truncated(f frame) error {
	a.mu.Lock()
	s := &a.sub
	if !s.on || f.Requested != s.asked || f.From <= s.next {
		a.mu.Unlock()
		return nil // of a subscription that was replaced
	}
	t, number := Truncated{Missing: s.next, From: f.From}, s.number
	s.next = f.From
	a.mu.Unlock()
	a.deliver(delivery{t, number})
	return nil
}

// acknowledge forgets the inject that an event shows to have arrived. a.mu is held.
func (a *Agent) acknowledge(e Event) {
	if len(a.sent) == 0 || e.Type != event.UserMessageType && e.Type != event.ContextInjectedType {
		return
	}
	var p struct {
		InputID string `json:"input_id"`
	}
	if json.Unmarshal(e.Payload, &p) == nil && p.InputID != "" {
		a.forget(p.InputID)
	}
}
