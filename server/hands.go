package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"hitchpost/server/config"
	"hitchpost/turn/tool"
	"hitchpost/turn/tool/files"
	"hitchpost/turn/tool/mcp"
	"hitchpost/turn/tool/sandbox"
	"hitchpost/turn/tool/shell"
	"hitchpost/turn/tool/todo"
	"hitchpost/turn/tool/web"
)

// hands are the tools of a server, and what they hold open.
type hands struct {
	tools  []tool.Tool // that are there as long as the server is
	mounts *mcp.Mounts // whose tools come and go
	roster atomic.Pointer[tool.Set]
	log    *slog.Logger
	closes []func() error
	forget []func(session string) // what is held open for one session

	listing sync.Mutex // is held while the roster is made anew
}

// openHands opens every tool that the configuration and this machine allow, beside
// the host's own.
func openHands(cfg *config.Config, log *slog.Logger, own ...tool.Tool) (_ *hands, err error) {
	h := &hands{tools: append(own, todo.Tool()), log: log}
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
	if err := h.openShell(cfg, log); err != nil {
		return nil, err
	}
	if _, err := tool.NewSet(h.tools); err != nil {
		return nil, err
	}
	return h, h.mount(cfg)
}

// mount connects to the MCP servers. They list their tools when they are up, which
// only the first request of an agent waits for.
func (h *hands) mount(cfg *config.Config) (err error) {
	opened := make(chan struct{})
	h.mounts, err = mcp.Open(context.Background(), mcpServers(cfg), mcp.Options{
		Log: h.log, BaseEnv: cfg.Tools.Env, OnChange: func() { <-opened; h.list() },
	})
	close(opened)
	if err != nil {
		return err
	}
	h.closes = append(h.closes, func() error { h.mounts.Close(); return nil })
	h.list()
	return nil
}

func mcpServers(cfg *config.Config) []mcp.ServerConfig {
	var servers []mcp.ServerConfig
	for _, name := range slices.Sorted(maps.Keys(cfg.MCP)) {
		m := cfg.MCP[name]
		servers = append(servers, mcp.ServerConfig{
			Name: name, Command: m.Command, Env: m.Env, URL: m.URL, Bearer: m.Bearer.Reveal(),
			Approval: tool.Approval(m.Approval), Timeout: m.Timeout.Std(),
		})
	}
	return servers
}

// ProbeMCP starts the configured MCP servers, tells how each stands, and ends them.
func ProbeMCP(ctx context.Context, cfg *config.Config, log *slog.Logger) ([]mcp.Status, error) {
	mounts, err := mcp.Open(ctx, mcpServers(cfg), mcp.Options{Log: log, BaseEnv: cfg.Tools.Env})
	if err != nil {
		return nil, err
	}
	defer mounts.Close()
	if err := mounts.Ready(ctx); err != nil {
		return nil, err
	}
	return mounts.Status(), nil
}

// list makes the roster anew. What MCP servers offer cannot spoil it: their tools
// have names of their own, and each was checked when it was listed.
func (h *hands) list() {
	h.listing.Lock() // what was read last is stored last
	defer h.listing.Unlock()
	set, err := tool.NewSet(slices.Concat(h.tools, h.mounts.Tools()))
	if err != nil {
		h.log.Error("the roster of tools stays as it was", "err", err)
		return
	}
	h.roster.Store(set)
}

// Ready waits until every MCP server has listed its tools or had its time to.
func (h *hands) Ready(ctx context.Context) error {
	if err := h.mounts.Ready(ctx); err != nil {
		return err
	}
	h.list()
	return nil
}

// openShell adds Bash, where it can be had. Without a sandbox it always asks, so
// where nothing asks it is offered only if the operator wrote that down.
func (h *hands) openShell(cfg *config.Config, log *slog.Logger) error {
	box, err := sandboxOf(cfg)
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
	h.forget = append(h.forget, sh.Close)
	h.tools = append(h.tools, sh.Tools()...)
	return nil
}

func sandboxOf(cfg *config.Config) (*sandbox.Sandbox, error) {
	return sandbox.New(sandbox.Config{
		Mode: cfg.Tools.Sandbox, Workspace: cfg.Tools.Workspace, Network: cfg.Tools.Network, Protected: ownFiles(cfg),
	})
}

// ProbeSandbox says in words what would hold commands, and fails as a start would.
func ProbeSandbox(cfg *config.Config) (string, error) {
	box, err := sandboxOf(cfg)
	if err != nil {
		return "", err
	}
	return box.String(), nil
}

// Tools is the roster that models are offered from.
func (h *hands) Tools() *tool.Set { return h.roster.Load() }

// Forget ends what the tools hold open for a session that was deleted.
func (h *hands) Forget(session string) {
	for _, forget := range h.forget {
		forget(session)
	}
}

// Close ends what the tools hold open, the last opened first.
func (h *hands) Close() error {
	var errs []error
	for _, closes := range slices.Backward(h.closes) {
		errs = append(errs, closes())
	}
	return errors.Join(errs...)
}

// ownFiles are the server's own, which no tool may reach, although the workspace is
// the folder that they lie in by default. The configuration is one of them also while
// there is none: the next start would read what an agent put there.
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
	own = append(own, cmp.Or(cfg.File, config.FileName))
	if cfg.TLSKey != "" {
		own = append(own, cfg.TLSKey)
	}
	return append(own, cfg.SecretFiles...)
}
