package server

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"hitchpost/server/config"
	"hitchpost/turn/tool"
	"hitchpost/turn/tool/files"
	"hitchpost/turn/tool/sandbox"
	"hitchpost/turn/tool/shell"
	"hitchpost/turn/tool/todo"
	"hitchpost/turn/tool/web"
)

// hands are the tools of a server, and what they hold open.
type hands struct {
	tools  []tool.Tool
	closes []func() error
}

// openHands opens every tool that the configuration and this machine allow, beside
// the host's own.
func openHands(cfg *config.Config, log *slog.Logger, own ...tool.Tool) (_ *hands, err error) {
	h := &hands{tools: append(own, todo.Tool())}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	workspace, err := files.Open(cfg.Tools.Workspace, ownFiles(cfg)...)
	if err != nil {
		return nil, err
	}
	h.closes = append(h.closes, workspace.Close)
	fetcher, err := web.New(cfg.Tools.Web)
	if err != nil {
		return nil, fmt.Errorf("tools.web: %w", err)
	}
	h.tools = slices.Concat(h.tools, workspace.Tools(), fetcher.Tools())
	return h, h.openShell(cfg, log)
}

// openShell adds Bash, where it can be had. Without a sandbox it always asks, so
// where nothing asks it is offered only if the operator wrote that down.
func (h *hands) openShell(cfg *config.Config, log *slog.Logger) error {
	box, err := sandbox.New(sandbox.Config{
		Mode: cfg.Tools.Sandbox, Workspace: cfg.Tools.Workspace, Network: cfg.Tools.Network, Protected: ownFiles(cfg),
	})
	if err != nil {
		return err
	}
	if !box.Holds() && !cfg.Approvals.Enabled && !cfg.Tools.SandboxWritten {
		log.Warn("Bash is not offered: no sandbox holds it here and approvals are off; write sandbox = \"none\" to offer it all the same", "sandbox", box.String())
		return nil
	}
	sh, err := shell.New(shell.Options{Sandbox: box, Env: cfg.Tools.Env, Log: log})
	if err != nil {
		log.Warn("Bash is not offered", "err", err)
		return nil
	}
	log.Info("sandbox of Bash", "holds", box.Holds(), "sandbox", box.String())
	h.closes = append(h.closes, func() error { sh.CloseAll(); return nil })
	h.tools = append(h.tools, sh.Tools()...)
	return nil
}

// Set is the roster that models are offered from.
func (h *hands) Set() (*tool.Set, error) { return tool.NewSet(h.tools) }

// Close ends what the tools hold open, the last opened first.
func (h *hands) Close() error {
	var errs []error
	for _, closes := range slices.Backward(h.closes) {
		errs = append(errs, closes())
	}
	return errors.Join(errs...)
}

// ownFiles are the server's own, which no tool may reach, although the workspace is
// the folder that they lie in by default.
func ownFiles(cfg *config.Config) []string {
	own := []string{filepath.Join(filepath.Dir(cfg.Database), config.TokenFile)}
	databases := []string{cfg.Database}
	if real, err := filepath.EvalSymlinks(cfg.Database); err == nil {
		databases = append(databases, real) // SQLite keeps its side files there
	}
	for _, path := range databases {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal", ".lock"} {
			own = append(own, path+suffix)
		}
	}
	for _, path := range []string{cfg.File, cfg.TLSKey} {
		if path != "" {
			own = append(own, path)
		}
	}
	return own
}
