package config

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

func example(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../config.example.toml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// uncommented is the example with its commented tables switched on.
func uncommented(t *testing.T) string {
	return regexp.MustCompile(`(?m)^#(\[|[a-z_]+ = )`).ReplaceAllString(example(t), "$1")
}

func TestTheExampleAsItStandsIsTheDefaults(t *testing.T) {
	c := load(t, example(t))
	c.File, c.Tools.SandboxWritten = "", false
	if diff := cmp.Diff(Default(), c, cmp.AllowUnexported(Secret{})); diff != "" {
		t.Error(diff)
	}
}

// keysOf lists the keys a struct has in a file, with * for the names of tables.
func keysOf(t reflect.Type, key string) []string {
	switch {
	case t.Implements(reflect.TypeFor[value]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[value]()):
		return []string{key}
	case t.Kind() == reflect.Struct:
		var keys []string
		for f := range t.Fields() {
			if tag := f.Tag.Get("toml"); tag != "-" {
				keys = append(keys, keysOf(f.Type, strings.TrimPrefix(key+"."+tag, "."))...)
			}
		}
		return keys
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		return keysOf(t.Elem(), key+".*")
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return keysOf(t.Elem(), key)
	}
	return []string{key}
}

func TestTheExampleShowsEveryKey(t *testing.T) {
	var tree map[string]any
	md, err := toml.Decode(uncommented(t), &tree)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, key := range md.Keys() {
		if len(key) > 1 && (key[0] == "agents" || key[0] == "providers" || key[0] == "mcp") {
			key[1] = "*"
		}
		shown[strings.Join(key, ".")] = true
	}
	for _, key := range keysOf(reflect.TypeFor[Config](), "") {
		if !shown[key] {
			t.Errorf("config.example.toml does not show %s", key)
		}
	}
}

func TestTheExamplesCommentedTablesShowTheDefaultsToo(t *testing.T) {
	t.Setenv("HITCHPOST_TOKEN", "a token of the test")
	t.Setenv("OPENROUTER_API_KEY", "a key of the test")
	t.Setenv("TRACKER_TOKEN", "a bearer of the test")
	full := load(t, uncommented(t))
	bare := load(t, `
tokens = [{ name = "laptop", token = "env:HITCHPOST_TOKEN", agents = ["main", "ops-*"] }]
[providers.openrouter]
api = "openai"
base_url = "https://openrouter.ai/api/v1"
api_key = "env:OPENROUTER_API_KEY"
[mcp]
files.command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]
tracker.url = "https://tracker.example.org/mcp"
tracker.bearer = "env:TRACKER_TOKEN"
`)
	full.File, bare.File, full.Tools.SandboxWritten = "", "", false
	if diff := cmp.Diff([]string{"watch", "inject", "approve", "admin"}, full.Tokens[0].Allow); diff != "" {
		t.Error(diff) // what left out means: auth.All, as TestEveryFormOfATokenIsKeptAsItsHash holds
	}
	full.Tokens[0].Allow = nil
	files := full.MCP["files"]
	if len(files.Env) != 0 {
		t.Errorf("the example sets variables: %v", files.Env)
	}
	files.Env = nil
	full.MCP["files"] = files
	if diff := cmp.Diff(bare, full, cmp.AllowUnexported(Secret{})); diff != "" {
		t.Error(diff)
	}
}
