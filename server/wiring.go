package server

import (
	"log/slog"
	"regexp"
	"time"

	"hitchpost/server/agentsocket"
	"hitchpost/server/config"
	"hitchpost/server/runwire"
	"hitchpost/turn"
	"hitchpost/turn/model"
	"hitchpost/turn/model/anthropic"
	"hitchpost/turn/model/demo"
	"hitchpost/turn/model/httpstream"
	"hitchpost/turn/model/openai"
	"hitchpost/turn/redact"
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

func wireLimits(cfg *config.Config) runwire.Limits {
	return runwire.Limits{Replay: cfg.ReplayLimit, Queue: cfg.QueueLimit}
}

// agents makes the host's configuration.
func agents(cfg *config.Config, hands *hands, log *slog.Logger) turn.Config {
	return turn.Config{
		Agents:      definitions(cfg),
		Providers:   providers(cfg),
		Tools:       hands.Tools,
		Ready:       hands.Ready,
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

// letGo closes what providers keep open that others have taken the place of. A request
// under way is not touched; its connection is closed when it is through.
func letGo(replaced map[string]model.Client) {
	for _, client := range replaced {
		if idle, ok := client.(interface{ Close() }); ok { // the demo model has none
			idle.Close()
		}
	}
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
