package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"hitchpost/turn/tool"
)

// Mounts is the mounted servers.
type Mounts struct {
	servers []*server // by name
	end     context.CancelCauseFunc
	wg      sync.WaitGroup
}

var errClosed = errors.New("the mcp servers are being stopped")

// Open starts to connect all servers and returns at once. The error tells everything
// that is wrong with their configuration; nothing was started then. The end of ctx
// ends the connections as Close does, which waits for it.
func Open(ctx context.Context, configs []ServerConfig, o Options) (*Mounts, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.OnChange == nil {
		o.OnChange = func() {}
	}
	var faults []error
	names := map[string]bool{}
	for _, c := range configs {
		faults = append(faults, c.Check())
		if names[c.Name] {
			faults = append(faults, fmt.Errorf("mcp server %q: there are two of this name", c.Name))
		}
		names[c.Name] = true
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	m := &Mounts{}
	ctx, m.end = context.WithCancelCause(ctx)
	for _, c := range configs {
		m.servers = append(m.servers, newServer(ctx, c, o))
	}
	slices.SortFunc(m.servers, func(a, b *server) int { return strings.Compare(a.cfg.Name, b.cfg.Name) })
	for _, s := range m.servers {
		m.wg.Go(s.manage)
	}
	return m, nil
}

// Tools is the present roster of all servers, sorted by name. Where two servers and
// tools come to the same name, the first server's stands.
func (m *Mounts) Tools() []tool.Tool {
	var all []tool.Tool
	for _, s := range m.servers {
		all = append(all, s.roster()...)
	}
	slices.SortStableFunc(all, func(a, b tool.Tool) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b tool.Tool) bool { return a.Name == b.Name })
}

// Ready waits until every server has listed its tools, cannot be started at all, or
// has had its timeout to do so. The error is the end of ctx.
func (m *Mounts) Ready(ctx context.Context) error {
	for _, s := range m.servers {
		select {
		case <-s.ready:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Status is how a server stands.
type Status struct {
	Name  string
	Tools int   // on the roster
	Err   error // why it is not connected, nil when it is
}

// Status is how each server stands now, by name.
func (m *Mounts) Status() []Status {
	var all []Status
	for _, s := range m.servers {
		all = append(all, s.status())
	}
	return all
}

// Close ends all calls and connections and waits until every server's processes and
// goroutines are gone.
func (m *Mounts) Close() {
	m.end(errClosed)
	m.wg.Wait()
}
