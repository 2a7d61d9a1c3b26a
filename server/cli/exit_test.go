package cli

import (
	"os"
	"strings"
	"testing"
)

// guarantee 2
func TestExitCodesTellFailureFromAWrongCall(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("bad.toml", []byte("a = 1\nb = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for call_, want := range map[string]struct{ code, lines int }{
		"version":                         {0, 0},
		"config check":                    {0, 0},
		"config check -c bad.toml":        {2, 2},
		"config check --json -c bad.toml": {2, 2},
		"config check -c missing.toml":    {2, 1},
		"config check -c .":               {2, 1},
		"serve -c bad.toml":               {2, 2},
		"":                                {2, 1},
		"send":                            {2, 1},
		"tail main --from-seq x":          {2, 1},
		"send main hi --url http://127.0.0.1:1 --token t": {1, 1},
		"send main hi": {1, 1},
		"tail main --url https://elsewhere.example": {2, 1},
		"version --nonsense":                        {2, 1},
	} {
		code, _, stderr := call(t, nil, strings.Fields(call_)...)
		if code != want.code || strings.Count(stderr, "\n") != want.lines {
			t.Errorf("%q: exit %d, want %d; stderr, which should have %d lines: %s", call_, code, want.code, want.lines, stderr)
		}
	}
}
