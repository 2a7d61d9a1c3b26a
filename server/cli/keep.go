package cli

import (
	"context"
	"fmt"

	"hitchpost/store"
	"hitchpost/turn/event"
)

type backupCommand struct {
	Dest string `arg:"" help:"File to write; it must not exist."`
}

// Run copies the log as it is at one moment, also beside a running server.
func (b *backupCommand) Run(ctx context.Context, p *Program, c *commands) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if err := store.Backup(ctx, cfg.Database, b.Dest); err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s is a verified copy of %s. Its log has an identity of its own: clients start again from seq 0.\n", b.Dest, cfg.Database)
	return nil
}

type verifyCommand struct {
	DB   string `arg:"" optional:"" help:"File to check (default: the configured database)."`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// verified is the answer of verify --json.
type verified struct {
	File     string   `json:"file"`
	OK       bool     `json:"ok"`
	LogID    string   `json:"log_id"`
	Sessions int      `json:"sessions"`
	Events   int      `json:"events"`
	Problems []string `json:"problems"`
}

// Run checks the log, also beside a running server. It fails when anything is wrong.
func (v *verifyCommand) Run(ctx context.Context, p *Program, c *commands) error {
	path := v.DB
	if path == "" {
		cfg, err := c.load()
		if err != nil {
			return err
		}
		path = cfg.Database
	}
	r, err := store.Verify(ctx, path, event.CheckCalls)
	if err != nil {
		return err
	}
	if v.JSON {
		if err := p.json(verified{path, r.Err() == nil, r.LogID, r.Sessions, r.Events, append([]string{}, r.Problems...)}); err != nil {
			return err
		}
		return r.Err()
	}
	fmt.Fprintf(p.Stdout, "%s: %d sessions, %d events\n", path, r.Sessions, r.Events)
	for _, problem := range r.Problems {
		fmt.Fprintln(p.Stdout, problem)
	}
	if len(r.Problems) > 0 {
		return fmt.Errorf("%s is damaged: %d problems; restore a backup", path, len(r.Problems))
	}
	return nil
}
