package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"time"

	"hitchpost/server"
	"hitchpost/server/config"
	"hitchpost/store"
	"hitchpost/turn/event"
)

type doctorCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// finding is one thing that was looked at.
type finding struct {
	What   string `json:"what"`
	Status string `json:"status"` // ok, fault, or note: nothing to mend
	Detail string `json:"detail"`
}

const (
	statusOK    = "ok"
	statusFault = "fault"
	statusNote  = "note"

	probeTimeout = 5 * time.Second // for one server to answer
)

// Run looks at everything a server would use here, and fails if something is at fault.
func (d *doctorCommand) Run(ctx context.Context, p *Program, c *commands) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	file := cfg.File
	if file == "" {
		file = "none, the defaults hold"
	}
	found := slices.Concat(
		[]finding{{"configuration", statusOK, file}, database(ctx, cfg), containment(cfg)},
		modelServers(ctx, cfg), mcpServers(ctx, cfg, p), localModels(ctx),
	)
	if d.JSON {
		err = p.json(found)
	} else {
		for _, f := range found {
			fmt.Fprintf(p.Stdout, "%-5s %s: %s\n", f.Status, f.What, f.Detail)
		}
	}
	faults := 0
	for _, f := range found {
		if f.Status == statusFault {
			faults++
		}
	}
	if err == nil && faults > 0 {
		err = fmt.Errorf("%d of %d checks found a fault", faults, len(found))
	}
	return err
}

func database(ctx context.Context, cfg *config.Config) finding {
	what := "database " + cfg.Database
	if _, err := os.Stat(cfg.Database); errors.Is(err, fs.ErrNotExist) {
		return finding{what, statusNote, "not there yet; the first start makes it"}
	}
	r, err := store.Verify(ctx, cfg.Database, event.CheckCalls)
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		return finding{what, statusFault, err.Error()}
	}
	return finding{what, statusOK, fmt.Sprintf("%d sessions, %d events, whole", r.Sessions, r.Events)}
}

// containment is what would hold the commands of Bash.
func containment(cfg *config.Config) finding {
	says, err := server.ProbeSandbox(cfg)
	if err != nil {
		return finding{"sandbox", statusFault, err.Error()}
	}
	return finding{"sandbox", statusNote, says}
}

// modelServers asks each configured provider for an answer, of whatever kind; no key is sent.
func modelServers(ctx context.Context, cfg *config.Config) []finding {
	var out []finding
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		provider := cfg.Providers[name]
		f := finding{"provider " + name, statusOK, provider.BaseURL + " answers"}
		if status, err := probe(ctx, provider.BaseURL); err != nil {
			f.Status, f.Detail = statusFault, fmt.Sprintf("%s does not answer: %v", provider.BaseURL, err)
		} else {
			f.Detail += fmt.Sprintf(" (HTTP %d without a key)", status)
		}
		out = append(out, f)
	}
	return out
}

// mcpServers starts each MCP server and lists its tools.
func mcpServers(ctx context.Context, cfg *config.Config, p *Program) []finding {
	var out []finding
	states, err := server.ProbeMCP(ctx, cfg, p.logger(cfg))
	if err != nil {
		return []finding{{"MCP servers", statusFault, err.Error()}}
	}
	for _, s := range states {
		f := finding{"MCP server " + s.Name, statusOK, fmt.Sprintf("%d tools", s.Tools)}
		if s.Err != nil {
			f.Status, f.Detail = statusFault, s.Err.Error()
		}
		out = append(out, f)
	}
	return out
}

// localModels looks for model servers that people run on their own machines.
func localModels(ctx context.Context) []finding {
	var out []finding
	for _, known := range []struct{ name, url string }{
		{"Ollama", "http://127.0.0.1:11434/v1"},
		{"LM Studio", "http://127.0.0.1:1234/v1"},
		{"llama.cpp", "http://127.0.0.1:8080/v1"},
		{"vLLM", "http://127.0.0.1:8000/v1"},
	} {
		if status, err := probe(ctx, known.url+"/models"); err == nil && status == http.StatusOK {
			out = append(out, finding{"local model server", statusNote, fmt.Sprintf("perhaps %s: base_url = %q", known.name, known.url)})
		}
	}
	return out
}

func probe(ctx context.Context, url string) (status int, err error) {
	ctx, done := context.WithTimeout(ctx, probeTimeout)
	defer done()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}
