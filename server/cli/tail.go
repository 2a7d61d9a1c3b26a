package cli

import (
	"context"
	"fmt"

	"hitchpost/server/client"
)

type tailCommand struct {
	target
	Agent   string `arg:"" help:"Agent to follow."`
	FromSeq *int64 `name:"from-seq" placeholder:"N" help:"First event to print (default: the next one to come)."`
}

// Run prints events as they came until it is interrupted.
func (t *tailCommand) Run(ctx context.Context, p *Program, c *commands) error {
	if t.FromSeq != nil && *t.FromSeq < 0 {
		return usagef("--from-seq must not be negative")
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	a, err := t.dial(ctx, c, t.Agent)
	if err != nil {
		return err
	}
	defer a.Close()
	from := a.Hello().LastSeq + 1
	if t.FromSeq != nil {
		from = *t.FromSeq
	}
	a.Subscribe(from)
	announce := connectionNews(p)
	for m, err := range a.Messages(ctx) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		announce(m)
		switch m := m.(type) {
		case client.Event:
			if _, err := p.Stdout.Write(append(m.Line, '\n')); err != nil {
				return err
			}
		case client.Truncated:
			fmt.Fprintf(p.Stderr, "events %d to %d are further back than the server replays (replay_limit)\n", m.Missing, m.From-1)
		case client.Refused:
			return refused(m)
		}
	}
	return nil
}
