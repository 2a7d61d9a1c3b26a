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
	"hitchpost/turn/tool/sandbox"
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

// TestNoToolReachesTheFilesThatSecretsAreReadFrom: file:PATH beside the workspace's own
// files is as much a secret as the text itself.
func TestNoToolReachesTheFilesThatSecretsAreReadFrom(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"laptop.token": "SECRET-token-0123456789", "key": "SECRET-key", "bearer": "SECRET-bearer",
		"my.toml": `[[tokens]]
name = "laptop"
token = "file:laptop.token"
[providers.far]
api = "openai"
base_url = "https://far.example.org/v1"
api_key = "file:key"
[mcp.tracker]
url = "http://127.0.0.1:1/mcp"
bearer = "file:bearer"
`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load("my.toml")
	if err != nil {
		t.Fatal(err)
	}
	tools := opened(t, cfg)
	for _, name := range []string{"laptop.token", "key", "bearer", "my.toml"} {
		if got := callTool(t, tools, "Read", map[string]string{"file_path": name}); !strings.Contains(got, "server's own files") {
			t.Errorf("Read %s: %s", name, got)
		}
		if got := callTool(t, tools, "Bash", map[string]string{"command": "cat " + name}); strings.Contains(got, "SECRET") && holds(t) {
			t.Errorf("Bash reads %s: %s", name, got)
		}
	}
}

// TestAnAgentCannotMakeTheConfigurationOfTheNextStart: a server without one would read
// there what commands to start.
func TestAnAgentCannotMakeTheConfigurationOfTheNextStart(t *testing.T) {
	t.Chdir(t.TempDir())
	tools := opened(t, config.ZeroConfig())
	got := callTool(t, tools, "Write", map[string]string{"file_path": config.FileName, "content": "[mcp.x]\ncommand = [\"anything\"]\n"})
	if !strings.Contains(got, "server's own files") {
		t.Errorf("Write: %s", got)
	}
	callTool(t, tools, "Bash", map[string]string{"command": "echo >" + config.FileName})
	if _, err := os.Stat(config.FileName); err == nil && holds(t) {
		t.Error("a command made it")
	}
}

// callTool is the text of a tool's result, or of its error.
func callTool(t *testing.T, tools *tool.Set, name string, args map[string]string) string {
	t.Helper()
	run, ok := tools.Lookup(name)
	if !ok {
		t.Fatalf("no tool %s", name)
	}
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	var r tool.Runner
	res := r.Run(t.Context(), run, tool.Call{Session: "s", Args: text}, tool.Limits{})
	return string(res.Content) + res.Error
}

// holds tells whether commands are contained on this machine.
func holds(t *testing.T) bool {
	t.Helper()
	box, err := sandbox.New(sandbox.Config{Workspace: []string{t.TempDir()}})
	return err == nil && box.Holds()
}
