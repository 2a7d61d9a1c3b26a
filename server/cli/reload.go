package cli

import (
	"context"
	"fmt"

	"hitchpost/store"
)

type reloadCommand struct{}

// Run asks the server of this configuration's database to read its configuration
// again. A configuration with mistakes is not sent on its way: this command names them.
func (*reloadCommand) Run(_ context.Context, p *Program, c *commands) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	pid, err := store.Holder(cfg.Database)
	if err != nil {
		return err
	}
	if pid == 0 {
		return fmt.Errorf("no server has %s open; start one with `hitchpost serve`", cfg.Database)
	}
	if err := askToReload(pid); err != nil {
		return fmt.Errorf("ask process %d to reload: %w", pid, err)
	}
	fmt.Fprintf(p.Stderr, "process %d reads its configuration again; its log says what changed\n", pid)
	return nil
}
