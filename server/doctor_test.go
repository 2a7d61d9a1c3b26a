package server_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestDoctorTellsWhatWorksAndFailsForWhatDoesNot: a provider that answers, one that does
// not, and an MCP server that cannot be started.
func TestDoctorTellsWhatWorksAndFailsForWhatDoesNot(t *testing.T) {
	up := httptest.NewServer(http.NotFoundHandler())
	defer up.Close()
	p := newPlace(t, `
[providers.up]
api = "openai"
base_url = "`+up.URL+`"
[providers.down]
api = "openai"
base_url = "http://127.0.0.1:1/v1"
api_key = "a-key-that-nobody-sees"
[mcp.gone]
command = ["there-is-no-such-command"]
`)
	out, errs, code := p.run("doctor", "--json")
	if code != 1 || strings.Contains(out+errs, "a-key-that-nobody-sees") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	var found []struct{ What, Status string }
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	status := map[string]string{}
	for _, f := range found {
		status[f.What] = f.Status
	}
	for what, want := range map[string]string{
		"configuration": "ok", "database hitchpost.db": "note", "sandbox": "note",
		"provider up": "ok", "provider down": "fault", "MCP server gone": "fault",
	} {
		if status[what] != want {
			t.Errorf("%s is %q, want %q\n%s", what, status[what], want, out)
		}
	}
}

// TestDoctorTellsWhatHoldsCommandsAsTheServerWouldRunThem: what the configuration says
// counts, and not what the machine could do.
func TestDoctorTellsWhatHoldsCommandsAsTheServerWouldRunThem(t *testing.T) {
	for name, c := range map[string]struct {
		config, want string
		code         int
	}{
		"switched off": {"[tools]\nsandbox = \"none\"", `note  sandbox: commands are not contained`, 0},
		"no workspace": {"[tools]\nworkspace = [\"nowhere\"]", `fault sandbox: workspace nowhere: `, 1},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := newPlace(t, c.config).run("doctor")
			if code != c.code || !strings.Contains(out, c.want) {
				t.Errorf("exit %d\n%s\n%s", code, out, errs)
			}
		})
	}
}
