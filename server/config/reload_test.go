package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatWaitsForARestartIsNamedAndKept(t *testing.T) {
	old := load(t, "")
	next := load(t, "listen = \"127.0.0.1:9\"\ndatabase = \"x.db\"\nlog = \"json\"\ndurability = \"normal\"\nreplay_limit = 3")
	if diff := cmp.Diff([]string{"listen", "database", "durability", "log"}, Pin(old, next)); diff != "" {
		t.Error(diff)
	}
	if next.Listen != old.Listen || next.Database != old.Database || next.ReplayLimit != 3 {
		t.Errorf("pinned to listen %s, database %s, replay_limit %d", next.Listen, next.Database, next.ReplayLimit)
	}
	for _, text := range []string{ // what a part of the server was built with
		`heartbeat = "1s"`, `max_concurrent_replays = 9`, `allowed_origins = ["https://desk.example.org"]`,
		`approvals.enabled = false`, `tools.workspace = ["docs"]`, `tools.sandbox = "none"`, `tools.network = true`,
		`tools.env = []`, `tools.web = ["example.org"]`, `mcp = {files = {command = ["true"]}}`,
	} {
		key, _, _ := strings.Cut(text, " ")
		next := load(t, text)
		if diff := cmp.Diff([]string{key}, Pin(old, next)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		if got := Pin(old, next); got != nil {
			t.Errorf("%s is not kept: %q", text, got)
		}
	}
	if got := Pin(old, load(t, "max_agents = 3\nallowed_origins = []")); got != nil {
		t.Errorf("Pin of a limit = %q", got)
	}
}
