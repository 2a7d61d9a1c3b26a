package server

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hitchpost/server/config"
	"hitchpost/turn/redact"
	"hitchpost/turn/tool"
)

// opened is the roster of a configuration.
func opened(t *testing.T, cfg *config.Config) *tool.Set {
	t.Helper()
	hands, err := openHands(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hands.Close(); err != nil {
			t.Error(err)
		}
	})
	return hands.Tools()
}

// TestBashThatNothingHoldsIsOfferedOnlyWhereItAsksOrWasWrittenDown: neither a sandbox nor
// a person would stand between a model and this machine.
func TestBashThatNothingHoldsIsOfferedOnlyWhereItAsksOrWasWrittenDown(t *testing.T) {
	t.Chdir(t.TempDir())
	cfg := config.ZeroConfig()
	cfg.Tools.Sandbox = "none"
	for _, c := range []struct{ approvals, written, offered bool }{
		{true, false, true}, {false, false, false}, {false, true, true},
	} {
		cfg.Approvals.Enabled, cfg.Tools.SandboxWritten = c.approvals, c.written
		bash, ok := opened(t, cfg).Lookup("Bash")
		if ok != c.offered || ok && !bash.Asks() {
			t.Errorf("%+v: offered %v", c, ok)
		}
	}
}

func TestNoToolReachesTheServersOwnFilesInItsWorkspace(t *testing.T) {
	t.Chdir(t.TempDir()) // the default: workspace, database and configuration are in one folder
	cfg := config.ZeroConfig()
	cfg.File, cfg.TLSKey = config.FileName, "key.pem"
	own := []string{cfg.Database, cfg.Database + "-wal", cfg.Database + "-shm", cfg.Database + ".lock", config.TokenFile, cfg.File, cfg.TLSKey}
	for _, name := range own {
		if err := os.WriteFile(name, []byte("SECRET"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(cfg.Database, "alias.db"); err != nil {
		t.Fatal(err)
	}
	cfg.Database = "alias.db"
	tools := opened(t, cfg)
	for _, name := range append(own, "alias.db", "alias.db-wal", filepath.Join(".", config.TokenFile)) {
		for _, call := range []struct{ tool, args string }{
			{"Read", `{"file_path":"` + name + `"}`}, {"Write", `{"file_path":"` + name + `","content":"x"}`},
			{"Bash", `{"command":"cat '` + name + `'"}`},
			{"Edit", `{"file_path":"` + name + `","old_string":"SECRET","new_string":"x"}`}, {"Grep", `{"pattern":"SECRET","output_mode":"content"}`},
		} {
			run, ok := tools.Lookup(call.tool)
			if !ok {
				t.Fatalf("no tool %s", call.tool)
			}
			var r tool.Runner
			res := r.Run(t.Context(), run, tool.Call{Args: json.RawMessage(call.args)}, tool.Limits{})
			if call.tool != "Grep" && call.tool != "Bash" && res.Error == "" || strings.Contains(string(res.Content), "SECRET") {
				t.Errorf("%s %s: %s %s", call.tool, call.args, res.Content, res.Error)
			}
		}
	}
}

func TestWebFetchIsThereOnlyIfADomainIsListed(t *testing.T) {
	t.Chdir(t.TempDir())
	cfg := config.ZeroConfig()
	for _, listed := range [][]string{nil, {"example.org"}} {
		cfg.Tools.Web = listed
		tools := opened(t, cfg)
		if _, ok := tools.Lookup("WebFetch"); ok != (len(listed) > 0) {
			t.Errorf("with %v: %v", listed, tools.Names())
		}
	}
	cfg.Tools.Web = []string{"no domain"}
	if _, err := openHands(cfg, slog.New(slog.DiscardHandler)); err == nil || !strings.HasPrefix(err.Error(), "tools.web: ") {
		t.Errorf("a list that is none: %v", err)
	}
}

func TestConfiguredKeysAndPatternsAreMasked(t *testing.T) {
	cfg := config.ZeroConfig()
	cfg.Providers = map[string]config.Provider{"p": {APIKey: config.NewSecret("sk-provider-key")}}
	cfg.MCP = map[string]config.MCP{"m": {Bearer: config.NewSecret("mcp-bearer-token")}}
	cfg.Secrets.Patterns = []string{`pin \d{4}`}
	got := Masks(cfg).Text("sk-provider-key, mcp-bearer-token, pin 1234")
	if want := strings.Repeat(redact.Mark+", ", 2) + redact.Mark; got != want {
		t.Errorf("masked to %q", got)
	}
	if Masks(config.ZeroConfig()) != nil {
		t.Error("there is nothing to mask, and masking has a cost")
	}
}
