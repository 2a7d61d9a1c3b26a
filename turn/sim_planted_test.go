package turn

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var foundBreach = regexp.MustCompile(`seed \d+: broken promise: .*`)

// TestTheSimulationFindsAPlantedBug builds the package anew with one line of it made
// wrong, as a slip would, and expects that a seed tells which promise breaks.
func TestTheSimulationFindsAPlantedBug(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("it builds the package three times")
	}
	for _, bug := range []struct {
		name, file, right, wrong, promise string
		within                            int // histories that it may take to be found
	}{
		{
			name: "an ack before the commit", file: "agent.go", within: 5,
			right:   "committed, w.err = a.log.Append(context.Background(), w.Batch)",
			wrong:   "a.log.Submit(w.Batch, func([]store.Event, error) {})",
			promise: "what was acknowledged is in the log",
		},
		{
			name: "a verdict spent twice", file: "turn.go", within: 60,
			right:   "!c.denied() && c != decided",
			wrong:   "c.verdict == nil && c != decided",
			promise: "a verdict is spent once",
		},
		{
			name: "a lost inbox row", file: "../store/statements.go", within: 15,
			right:   "UPDATE inbox SET wake = 0 WHERE",
			wrong:   "DELETE FROM inbox WHERE",
			promise: "what was acknowledged is in the log",
		},
	} {
		t.Run(bug.name, func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command("go", "test", "-overlay", plant(t, bug.file, bug.right, bug.wrong),
				"-run", "TestNoHistoryBreaksAPromise", ".", fmt.Sprint("-sim.seeds=", bug.within)).CombinedOutput()
			found := foundBreach.FindAllString(string(out), -1)
			if err == nil || len(found) == 0 {
				t.Fatalf("%d seeds did not find it: %v\n%s", bug.within, err, out)
			}
			t.Logf("%d of %d seeds find it; the first: %s", len(found), bug.within, found[0])
			if !strings.Contains(strings.Join(found, "\n"), bug.promise) {
				t.Errorf("no seed tells %q:\n%s", bug.promise, strings.Join(found, "\n"))
			}
		})
	}
}

// plant returns an overlay in which a file has a line made wrong.
func plant(t *testing.T, file, right, wrong string) string {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(source), right) != 1 {
		t.Fatalf("%s does not hold %q once; plant the bug elsewhere", file, right)
	}
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "planted.go")
	if err := os.WriteFile(bad, []byte(strings.Replace(string(source), right, wrong, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: bad}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	return list
}
