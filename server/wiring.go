package server

import (
	"log/slog"
	"time"

	"hitchpost/server/agentsocket"
	"hitchpost/server/config"
	"hitchpost/turn"
	"hitchpost/turn/model"
	"hitchpost/turn/model/anthropic"
	"hitchpost/turn/model/demo"
	"hitchpost/turn/model/httpstream"
	"hitchpost/turn/model/openai"
	"hitchpost/turn/tool"
	"hitchpost/turn/tool/files"
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
		Log:         log,
	}
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
	workspace, err := files.Open(cfg.Tools.Workspace)
	if err != nil {
		return nil, nil, err
	}
	tools, err := tool.NewSet(append(own, workspace.Tools()...))
	if err != nil {
		workspace.Close()
		return nil, nil, err
	}
	return tools, workspace, nil
}
