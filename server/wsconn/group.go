package wsconn

import (
	"context"
	"sync"
	"time"
)

const (
	// MissedPings is how many pings in a row a caught-up peer may leave unanswered.
	MissedPings = 3

	// DrainRate is the slowest reading, in bytes a second, that is told apart from
	// silence: what was written a moment ago can fill megabytes of the system's
	// buffers, and the ping stands behind it.
	DrainRate = 16 << 10

	// slices is into how many parts a heartbeat is divided. Each connection belongs
	// to one, so 10,000 connections are not pinged in the same instant.
	slices = 20
)

// Group is all connections of a server: it counts them, pings them, ends them.
type Group struct {
	heartbeat time.Duration
	stop      chan struct{}
	ticking   sync.WaitGroup

	mu     sync.Mutex
	conns  [slices]map[*Conn]struct{}
	now    int // the slice that was pinged last
	closed bool
	live   sync.WaitGroup
}

// NewGroup pings each connection every heartbeat.
func NewGroup(heartbeat time.Duration) *Group {
	g := &Group{heartbeat: heartbeat, stop: make(chan struct{})}
	for i := range g.conns {
		g.conns[i] = map[*Conn]struct{}{}
	}
	g.ticking.Go(g.tick)
	return g
}

// Len is how many connections are alive.
func (g *Group) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, s := range g.conns {
		n += len(s)
	}
	return n
}

// Enter counts a request that may become a connection, until leave: what it does
// for its client, before and after Accept, Shutdown waits for too. ok is false once
// Shutdown has begun.
func (g *Group) Enter() (leave func(), ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, false
	}
	g.live.Add(1)
	return g.live.Done, true
}

func (g *Group) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// add counts c, unless the group takes no connection any more.
func (g *Group) add(c *Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.live.Add(1)
	c.slice = g.now // a whole heartbeat ahead
	g.conns[c.slice][c] = struct{}{}
	return true
}

func (g *Group) remove(c *Conn) {
	g.mu.Lock()
	delete(g.conns[c.slice], c)
	g.mu.Unlock()
	g.live.Done()
}

func (g *Group) tick() {
	t := time.NewTicker(max(g.heartbeat/slices, time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-g.stop:
			return
		case <-t.C:
			g.mu.Lock()
			g.now = (g.now + 1) % slices
			for c := range g.conns[g.now] {
				c.beat(g.heartbeat)
			}
			g.mu.Unlock()
		}
	}
}

// beat sends a ping, or ends a peer that has answered none for too long.
func (c *Conn) beat(heartbeat time.Duration) {
	if c.state.Load() != idle {
		c.missed.Store(0) // it is being written to: WriteStall judges it
	}
	draining := time.Duration(c.sent.Load()/DrainRate) * time.Second
	if n := c.missed.Add(1); n > MissedPings+int32(draining/heartbeat) {
		c.End(Silent, nil)
		return
	}
	c.Ping()
}

// alive notes a sign of life.
func (c *Conn) alive() {
	c.missed.Store(0)
	c.sent.Store(0)
}

// ping tells whether the library shall answer the peer's ping. A peer that floods us
// with pings and takes no answers shall not fill our memory with them.
func (c *Conn) ping(context.Context, []byte) bool { return !c.cork.flooded() }

// pong takes the peer's answer to a ping.
func (c *Conn) pong(_ context.Context, payload []byte) {
	c.alive()
	c.mu.Lock()
	arrived := c.arrived
	if len(payload) != 1 || payload[0] != c.probe {
		arrived = nil
	}
	if arrived != nil {
		c.arrived = nil
	}
	c.mu.Unlock()
	if arrived != nil {
		arrived()
	}
}

// Shutdown ends every connection with ShuttingDown, takes no new one, and returns
// when the last has ended, and whoever is at the door has left it. When ctx ends
// first, those that are left are cut.
func (g *Group) Shutdown(ctx context.Context) error {
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		close(g.stop)
	}
	g.each(func(c *Conn) { c.End(ShuttingDown, nil) })
	g.mu.Unlock()
	g.ticking.Wait()

	done := make(chan struct{})
	go func() {
		g.live.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	g.each(func(c *Conn) { c.cork.Conn.Close() })
	g.mu.Unlock()
	<-done
	return context.Cause(ctx)
}

// each calls fn for every connection. The caller holds mu.
func (g *Group) each(fn func(*Conn)) {
	for _, s := range g.conns {
		for c := range s {
			fn(c)
		}
	}
}
