package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hitchpost/server/auth"
)

// write puts a file into a fresh folder and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Load(write(t, text))
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return c
}

// problems loads a bad file and returns its problems as "line key".
func problems(t *testing.T, text string) ([]string, *Error) {
	t.Helper()
	_, err := Load(write(t, text))
	var bad *Error
	if !errors.As(err, &bad) {
		t.Fatalf("Load = %v, want an *Error", err)
	}
	var found []string
	for _, p := range bad.Problems {
		found = append(found, fmt.Sprint(p.Line, " ", p.Key))
	}
	return found, bad
}

// guarantee 2
func TestAnEmptyFileIsTheDefaults(t *testing.T) {
	c := load(t, "# nothing\n")
	c.File = ""
	if diff := cmp.Diff(Default(), c, cmp.AllowUnexported(Secret{})); diff != "" {
		t.Error(diff)
	}
}

func TestEveryKindOfValueIsRead(t *testing.T) {
	c := load(t, `
listen = "localhost:1"
heartbeat = 20
replay_limit = 5
timeouts.stall = "1m30s"
timeouts.tool = 0.5
approvals = { enabled = false, expires = "1h" }
tools.env = []
[[tokens]]
name = "a"
token = "long enough"
[[tokens]]
name = "b"
token = "long enough too"
owner = "ann"
agents = ["ops-*"]
allow = ["watch"]
[agents.default.models]
titler = "local/some/model"
[agents.ops]
policy = []
models = { main = "local/big" }
[providers.local]
api = "openai"
base_url = "http://127.0.0.1:8080/v1"
[mcp."my_files"]
command = ["serve-files"]
env = { A = "b" }
`)
	want := Default()
	want.File = c.File
	want.Listen = "localhost:1"
	want.Heartbeat = Duration(20 * time.Second)
	want.ReplayLimit = 5
	want.Timeouts.Stall = Duration(90 * time.Second)
	want.Timeouts.Tool = Duration(500 * time.Millisecond)
	want.Approvals = Approvals{Expires: Duration(time.Hour)}
	want.Tools.Env = []string{}
	want.Tokens = []Token{
		{Name: "a", Owner: "me", Token: TokenHash{auth.DigestOf("long enough"), true}},
		{Name: "b", Owner: "ann", Token: TokenHash{auth.DigestOf("long enough too"), true},
			Agents: []string{"ops-*"}, Allow: []string{"watch"}},
	}
	want.Agents[DefaultAgent].Models["titler"] = "local/some/model"
	want.Agents["ops"] = Agent{
		System: "You are a careful assistant.",
		Policy: []string{},
		Models: map[string]string{"main": "local/big", "titler": "local/some/model"},
	}
	want.Providers["local"] = Provider{API: "openai", BaseURL: "http://127.0.0.1:8080/v1", Retries: 4}
	want.MCP["my_files"] = MCP{Command: []string{"serve-files"}, Env: map[string]string{"A": "b"},
		Approval: "policy", Timeout: Duration(30 * time.Second)}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(Secret{})); diff != "" {
		t.Error(diff)
	}
	if got := c.Agents[DefaultAgent].Models["main"]; got != "demo/guide" {
		t.Errorf("an agent of its own changed the default agent's main model to %q", got)
	}
}

// guarantee 1
func TestAllProblemsAreReportedInOneRunByKeyAndLine(t *testing.T) {
	got, _ := problems(t, `listen = "0.0.0.0:7420"
heartbeet = "20s"
heartbeat = "20 seconds"
replay_limit = -1
queue_limit = "many"
durability = "fast"
tls_cert = "cert.pem"
allowed_origins = [
  "https://fine.example",
  "nonsense", # with a comment ] inside
]
Listen = "x"

[agents.default]
policy = ["Read", "[oops"]
[agents."my agent".models]
main = "nowhere/model"
titler = "demo"
[providers.x]
api = "smoke"
base_url = "here"
api_key = "env:HITCHPOST_TEST_UNSET"
retries = -2
[timeouts]
stall = "-3s"
connect = true
extra = """
heartbeat = 3
"""
first_byte = 0
[mcp.m]
approval = "sometimes"
[tools]
result_limit = 0
workspace = []
[secrets]
patterns = ["(", "fine"]
`)
	want := []string{
		"1 listen", "2 heartbeet", "3 heartbeat", "4 replay_limit", "5 queue_limit", "6 durability",
		"7 tls_cert", "8 allowed_origins[1]", "12 Listen",
		"15 agents.default.policy[1]",
		`17 agents."my agent".models.main`, `18 agents."my agent".models.titler`,
		"20 providers.x.api", "21 providers.x.base_url", "22 providers.x.api_key", "23 providers.x.retries",
		"25 timeouts.stall", "26 timeouts.connect", "27 timeouts.extra", "30 timeouts.first_byte",
		"31 mcp.m", "32 mcp.m.approval",
		"34 tools.result_limit", "35 tools.workspace", "37 secrets.patterns[0]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestProblemsOfTokensNameTheirEntry(t *testing.T) {
	t.Setenv("HITCHPOST_TEST_TOKEN", "the same secret")
	got, bad := problems(t, `[[tokens]]
name = "a"
token = "the same secret"
[[tokens]]
name = "a"
token = "env:HITCHPOST_TEST_TOKEN"
allow = ["watch", "fly"]
[[tokens]]
token = "sha256:zz"
nme = "c"
[[tokens]]
name = "d"
owner = ""
[[tokens]]
name = "e"
token = "env:HITCHPOST_TEST_UNSET"
agents = "main"
[[tokens]]
name = "f"
token = "file:/no/such/file"
[[tokens]]
name = "g"
token = "short"
`)
	want := []string{
		"5 tokens[1].name", "6 tokens[1].token", "7 tokens[1].allow[1]",
		"8 tokens[2].name", "9 tokens[2].token", "10 tokens[2].nme",
		"11 tokens[3].token", "13 tokens[3].owner",
		"16 tokens[4].token", "17 tokens[4].agents",
		"20 tokens[5].token", "23 tokens[6].token",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, say := range []string{"HITCHPOST_TEST_UNSET is not set", "/no/such/file", "did you mean name?"} {
		if !strings.Contains(bad.Error(), say) {
			t.Errorf("the error does not say %q:\n%s", say, bad)
		}
	}
	if strings.Contains(bad.Error(), "the same secret") {
		t.Errorf("the error quotes a token:\n%s", bad)
	}
}

func TestWhatIsNotTOMLIsReportedByLine(t *testing.T) {
	got, bad := problems(t, "listen = \"127.0.0.1:1\"\nheartbeat = 20s\n")
	if len(got) != 1 || !strings.HasPrefix(got[0], "2 ") {
		t.Errorf("problems = %q\n%v", got, bad)
	}
}

func TestAProblemTellsWhatToDo(t *testing.T) {
	for text, say := range map[string]string{
		`heartbeat = "20"`:                        `write one as "20s"`,
		`heartbeat = 0`:                           "at least 100ms",
		`listen = "0.0.0.0:7420"`:                 "hitchpost token new",
		`listen = "127.0.0.1"`:                    "host:port",
		`listen = "127.0.0.1:99999"`:              "host:port",
		`tls_key = "k"`:                           "needs tls_cert",
		`max_agent = 3`:                           "did you mean max_agents?",
		`approvals.on = true`:                     "the keys here are enabled, expires",
		`zzz = 1`:                                 "hitchpost config example",
		`agents.default.models.main = "gpt"`:      "write provider/model",
		`agents.default.models.main = "x/y"`:      `unknown provider "x"; add [providers.x]`,
		`agents = 3`:                              "must be a table, not an integer",
		`replay_limit = 1.5`:                      "must be an integer, not a number with a fraction",
		`timeouts.tool = "9000h"`:                 "longer than a year",
		`providers.demo.api = "openai"`:           "is built in",
		`mcp.a = {command = ["a"], url = "b"}`:    "keep one",
		`tools.sandbox = "docker"`:                `must be "auto", "landlock" or "none", not "docker"`,
		`trusted_proxies = ["proxy.example.org"]`: "10.0.0.0/8",
	} {
		if _, bad := problems(t, text); !strings.Contains(bad.Error(), say) {
			t.Errorf("%s: %q does not say %q", text, bad, say)
		}
	}
}

func TestAWrongValueIsReportedOnce(t *testing.T) {
	for _, text := range []string{`heartbeat = "soon"`, `replay_limit = "x"`, `durability = 3`, `tokens = 3`, `tools.workspace = [3]`, `timeouts.tool = -1`} {
		if got, _ := problems(t, text); len(got) != 1 {
			t.Errorf("%s: %d problems: %q", text, len(got), got)
		}
	}
}

// guarantee 3
func TestEveryFormOfATokenIsKeptAsItsHash(t *testing.T) {
	file := write(t, "  from a file\n")
	t.Setenv("HITCHPOST_TEST_TOKEN", "from the environment")
	c := load(t, `tokens = [
{name = "1", token = "a literal one"},
{name = "2", token = "env:HITCHPOST_TEST_TOKEN"},
{name = "3", token = '''file:`+file+`'''},
{name = "4", token = "`+HashLine(NewSecret("known elsewhere"))+`", allow = []},
]`)
	ring := auth.NewKeyring(c.AuthTokens())
	for name, secret := range map[string]string{"1": "a literal one", "2": "from the environment", "3": "from a file", "4": "known elsewhere"} {
		tok, ok := ring.Lookup(secret)
		if !ok || tok.Name != name {
			t.Errorf("token %s does not open with its text", name)
		} else if want := name != "4"; tok.May(auth.All) != want || tok.May(auth.Watch) != want {
			t.Errorf("token %s has not the verbs it lists", name)
		}
	}
	if shown := fmt.Sprintf("%+v %#v", c, c); strings.Contains(shown, "a literal one") {
		t.Error("the configuration holds a token's text")
	}
}

// guarantee 4
func TestAProvidersKeyIsNeverShown(t *testing.T) {
	c := load(t, `[providers.x]
api = "openai"
base_url = "https://x.example"
api_key = "sk-hidden"
[mcp.y]
url = "https://y.example"
bearer = "sk-hidden"
`)
	if c.Providers["x"].APIKey.Reveal() != "sk-hidden" {
		t.Fatal("the key was not read")
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "provider", c.Providers["x"], "key", c.Providers["x"].APIKey)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", c)
	encoded, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("%v %+v %#v %s %q %s %s", c, c, c, c.Providers["x"].APIKey, c.Providers["x"].APIKey, log.String(), encoded)
	if strings.Contains(shown, "sk-hidden") {
		t.Errorf("the key is shown: %s", shown)
	}
}

func TestFindTakesTheFlagThenTheFolderThenNothing(t *testing.T) {
	named := write(t, "replay_limit = 7")
	t.Chdir(t.TempDir())
	c, err := Find("")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ZeroConfig(), c, cmp.AllowUnexported(Secret{})); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(FileName, []byte("replay_limit = 8"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = Find(""); err != nil || c.ReplayLimit != 8 || c.File != FileName {
		t.Errorf("Find() = %+v, %v", c, err)
	}
	if c, err = Find(named); err != nil || c.ReplayLimit != 7 {
		t.Errorf("Find(named) = %+v, %v", c, err)
	}
	if _, err = Find("missing.toml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Find(missing.toml) = %v, want that it does not exist", err)
	}
}

func TestZeroConfigAsksBeforeAnythingIsChanged(t *testing.T) {
	c := ZeroConfig()
	if p := c.Agents[DefaultAgent].Policy; len(p) != 1 || p[0] != "*" || !c.Approvals.Enabled || !auth.Loopback(c.Listen) {
		t.Errorf("policy %q, approvals %v, listen %s", p, c.Approvals.Enabled, c.Listen)
	}
	if p := Default().Agents[DefaultAgent].Policy; len(p) == 1 {
		t.Error("ZeroConfig changed the defaults")
	}
}

func TestTheURLCanBeDialledFromThisMachine(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:7420": "http://127.0.0.1:7420", ":80": "http://127.0.0.1:80", "0.0.0.0:1": "http://127.0.0.1:1",
		"[::]:2": "http://127.0.0.1:2", "[::1]:3": "http://[::1]:3", "box.lan:4": "http://box.lan:4",
	} {
		if got := (&Config{Listen: listen}).URL(); got != want {
			t.Errorf("URL of %s = %s, want %s", listen, got, want)
		}
	}
}

func FuzzLoadNeverPanicsAndAlwaysNamesALine(f *testing.F) {
	f.Add("listen = 3\n[[tokens]]\nname='a'\n")
	f.Add("a.\"b\\\"c\".d = \"\"\"\n x \"\"\"\" # \n[x]\ny=[{z=1}]")
	example, err := os.ReadFile("../../config.example.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	f.Fuzz(func(t *testing.T, text string) {
		_, err := parse("fuzz.toml", strings.ReplaceAll(text, "file:", "")) // reads no file that a corpus names
		var bad *Error
		if err != nil && !errors.As(err, &bad) {
			t.Fatalf("parse = %v, no *Error", err)
		}
		if bad == nil {
			return
		}
		for _, p := range bad.Problems {
			if p.Line > strings.Count(text, "\n")+1 {
				t.Errorf("line %d of %d: %s", p.Line, strings.Count(text, "\n")+1, p.Key)
			}
		}
	})
}
