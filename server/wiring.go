package server

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"hitchpost/server/agentsocket"
	"hitchpost/server/config"
	"hitchpost/turn"
	"hitchpost/turn/model"
	"hitchpost/turn/model/anthropic"
	"hitchpost/turn/model/demo"
	"hitchpost/turn/model/httpstream"
	"hitchpost/turn/model/openai"
	"hitchpost/turn/redact"
	"hitchpost/turn/tool"
	"hitchpost/turn/tool/files"
	"hitchpost/turn/tool/todo"
	"hitchpost/turn/tool/web"
)

// demoPause stands between two chunks of the demo model, so that a stream can be seen.
const demoPause = 15 * time.Millisecond

// Bounds of one inbox (Agent Socket v1 has none; see agentsocket/PROTOCOL.md).
const (
	inboxTexts = 1000
	inboxBytes = 8 << 20
)

func limits(cfg *config.Config) agentsocket.Limits {
	return agentsocket.Limits{Replay: cfg.ReplayLimit, Queue: cfg.QueueLimit}
}

// agents makes the host's configuration.
func agents(cfg *config.Config, tools *tool.Set, log *slog.Logger) turn.Config {
	return turn.Config{
		Agents:      definitions(cfg),
		Providers:   providers(cfg),
		Tools:       tools,
		MaxSteps:    cfg.MaxSteps,
		MaxAgents:   cfg.MaxAgents,
		InboxTexts:  inboxTexts,
		InboxBytes:  inboxBytes,
		ToolTimeout: cfg.Timeouts.Tool.Std(),
		ResultLimit: cfg.Tools.ResultLimit,
		Resume:      turn.Resume(cfg.Resume),
		Approvals:   cfg.Approvals.Enabled,
		Expires:     cfg.Approvals.Expires.Std(),
		Compaction:  int64(cfg.Compaction.Budget),
		Redact:      Masks(cfg),
		Log:         log,
	}
}

// Masks is what no event and no log line may hold: the keys that are sent elsewhere, and what the
// patterns match. Tokens are known by their hash alone.
func Masks(cfg *config.Config) *redact.Redactor {
	var values []string
	for _, p := range cfg.Providers {
		values = append(values, p.APIKey.Reveal())
	}
	for _, m := range cfg.MCP {
		values = append(values, m.Bearer.Reveal())
	}
	var patterns []*regexp.Regexp
	for _, p := range cfg.Secrets.Patterns {
		patterns = append(patterns, regexp.MustCompile(p)) // checked when it was read
	}
	return redact.New(values, patterns)
}

func definitions(cfg *config.Config) map[string]turn.Definition {
	out := map[string]turn.Definition{}
	for name, a := range cfg.Agents {
		out[name] = turn.Definition{System: a.System, Policy: a.Policy, Models: a.Models}
	}
	return out
}

func providers(cfg *config.Config) map[string]model.Client {
	out := map[string]model.Client{config.DemoProvider: demo.New(demoPause)}
	for name, p := range cfg.Providers {
		out[name] = provider(p, model.Timeouts{
			Connect:   cfg.Timeouts.Connect.Std(),
			FirstByte: cfg.Timeouts.FirstByte.Std(),
			Stall:     cfg.Timeouts.Stall.Std(),
		})
	}
	return out
}

func provider(p config.Provider, timeouts model.Timeouts) model.Client {
	c := httpstream.Config{
		BaseURL: p.BaseURL, APIKey: p.APIKey.Reveal(), Retries: p.Retries, MaxTokens: p.MaxTokens, Timeouts: timeouts,
	}
	if p.API == config.APIAnthropic {
		return anthropic.New(c)
	}
	return openai.New(c)
}

// mount gathers the tools, the host's own among them. The workspace stays open as
// long as they are used.
func mount(cfg *config.Config, own ...tool.Tool) (*tool.Set, *files.Workspace, error) {
	fetcher, err := web.New(cfg.Tools.Web)
	if err != nil {
		return nil, nil, fmt.Errorf("tools.web: %w", err)
	}
	workspace, err := files.Open(cfg.Tools.Workspace, ownFiles(cfg)...)
	if err != nil {
		return nil, nil, err
	}
	tools, err := tool.NewSet(slices.Concat(own, workspace.Tools(), fetcher.Tools(), []tool.Tool{todo.Tool()}))
	if err != nil {
		workspace.Close()
		return nil, nil, err
	}
	return tools, workspace, nil
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
