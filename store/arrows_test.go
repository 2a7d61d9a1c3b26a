package store_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTheArrowsPointDown: server → turn → store, and never the other way. store knows
// no turn; turn knows no server and no socket, and no SQL but what store hides.
func TestTheArrowsPointDown(t *testing.T) {
	for _, rule := range []struct {
		of    string // packages
		what  string // go list template
		never []string
	}{
		{of: "hitchpost/store/...", what: `{{join .Deps "\n"}}`, never: []string{"hitchpost/turn", "hitchpost/server", "github.com/coder/websocket"}},
		{of: "hitchpost/turn/...", what: `{{join .Deps "\n"}}`, never: []string{"hitchpost/server", "github.com/coder/websocket"}},
		{of: "hitchpost/turn/...", what: `{{join .Imports "\n"}}`, never: []string{"database/sql", "modernc.org/sqlite"}},
	} {
		out, err := exec.Command("go", "list", "-f", rule.what, rule.of).CombinedOutput()
		if err != nil {
			t.Fatalf("go list %s: %v\n%s", rule.of, err, out)
		}
		for dep := range strings.Lines(string(out)) {
			dep = strings.TrimSpace(dep)
			for _, never := range rule.never {
				if dep == never || strings.HasPrefix(dep, never+"/") {
					t.Errorf("%s depends on %s", rule.of, dep)
				}
			}
		}
	}
}
