package server_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hitchpost/server/protocol"
	"hitchpost/turn/event"
)

// listed is what the command sessions says.
func (p *place) listed() []protocol.Session {
	p.t.Helper()
	out, errs, code := p.run("sessions", "--json")
	var sessions []protocol.Session
	if err := json.Unmarshal([]byte(out), &sessions); err != nil || code != 0 {
		p.t.Fatalf("sessions: %d %v\n%s\n%s", code, err, out, errs)
	}
	return sessions
}

func TestSessionsListsWhatTheTokenReaches(t *testing.T) {
	p := newPlace(t, "")
	p.serve()
	if list := p.listed(); len(list) != 0 {
		t.Errorf("a new server lists %v", list)
	}
	for _, agent := range []string{"one", "two"} {
		if _, errs, code := p.run("send", agent, "help"); code != 0 {
			t.Fatalf("send: %d\n%s", code, errs)
		}
	}
	list := p.listed()
	if len(list) != 2 || list[0].ID != "two" || list[1].ID != "one" || list[0].Status != protocol.StatusIdle {
		t.Errorf("listed %+v, want two, then one, both idle", list)
	}
	out, _, code := p.run("sessions")
	if code != 0 || strings.Count(out, "\n") != 3 || !strings.HasPrefix(out, "SESSION") {
		t.Errorf("sessions: %d\n%s", code, out)
	}
	if _, errs, code := p.run("sessions", "--token", "wrong"); code != 1 || !strings.Contains(errs, "does not accept this token") {
		t.Errorf("with a wrong token: %d %s", code, errs)
	}
}

// TestCancelStopsATurn that runs, and one that a killed server left open.
func TestCancelStopsATurn(t *testing.T) {
	p := newPlace(t, "")
	s := p.serve()
	ends := func() int { return strings.Count(types(p.log("main")), string(event.TurnEndType)) }
	stop := func(what string) {
		t.Helper()
		before := ends()
		if _, errs, code := p.run("cancel", "main"); code != 0 {
			t.Fatalf("cancel of %s: %d\n%s", what, code, errs)
		}
		p.until("the turn has ended", func() bool { return ends() > before })
	}
	think := func(chunks int) {
		t.Helper()
		if _, errs, code := p.run("send", "--no-wait", "main", "think 2000"); code != 0 {
			t.Fatalf("send: %d\n%s", code, errs)
		}
		p.until("chunks come", func() bool { return len(p.chunks()) > chunks })
	}
	think(5)
	stop("a running turn")
	if _, errs, code := p.run("cancel", "main"); code != 1 || !strings.Contains(errs, "no open turn") {
		t.Errorf("cancel of an idle agent: %d %s", code, errs)
	}
	if _, errs, code := p.run("cancel", "nobody"); code != 1 || errs == "" {
		t.Errorf("cancel of an agent that is not there: %d %s", code, errs)
	}
	think(len(p.chunks()) + 5)
	s.kill()
	p.serve()
	if list := p.listed(); len(list) != 1 || list[0].Status != protocol.StatusResumable {
		t.Fatalf("after the kill: %+v, want main resumable", list)
	}
	stop("a turn that nobody runs")
	if n := ends(); n != 2 {
		t.Errorf("%d turn/end, want 2", n)
	}
}

func TestReloadAsksTheServerOfTheDatabase(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGHUP on Windows")
	}
	p := newPlace(t, "")
	if _, errs, code := p.run("reload"); code != 1 || !strings.Contains(errs, "no server") {
		t.Errorf("without a server: %d %s", code, errs)
	}
	s := p.serve()
	if _, errs, code := p.run("reload"); code != 0 {
		t.Fatalf("reload: %d %s", code, errs)
	}
	p.until("the server says so", func() bool { return s.log.has("configuration reloaded") })
	p.configure("nonsense = 1", secret)
	if _, errs, code := p.run("reload"); code != 2 || !strings.Contains(errs, "nonsense") {
		t.Errorf("with a broken file: %d %s", code, errs)
	}
}

// TestExportAndImportMoveSessions to another database, byte for byte, also beside the
// server that has them.
func TestExportAndImportMoveSessions(t *testing.T) {
	from := newPlace(t, "")
	from.serve()
	for _, agent := range []string{"one", "two"} {
		if _, errs, code := from.run("send", agent, "help"); code != 0 {
			t.Fatalf("send: %d\n%s", code, errs)
		}
	}
	all, errs, code := from.run("export")
	if code != 0 || strings.Count(all, `"hitchpost_export"`) != 2 {
		t.Fatalf("export: %d\n%s\n%s", code, all, errs)
	}
	if _, errs, code := from.run("import", "--owner", "me"); code != 1 || !strings.Contains(errs, "in use by another process") {
		t.Errorf("import beside the server: %d %s", code, errs)
	}
	file := filepath.Join(from.dir, "two.jsonl")
	if _, errs, code := from.run("export", "two", "-o", file); code != 0 {
		t.Fatalf("export -o: %d %s", code, errs)
	}
	if _, errs, code := from.run("export", "two", "-o", file); code != 2 || !strings.Contains(errs, "exists") {
		t.Errorf("export over a file: %d %s", code, errs)
	}
	if _, errs, code := from.run("export", "three", "-o", file+".3"); code != 1 || !strings.Contains(errs, "three") {
		t.Errorf("export of nothing: %d %s", code, errs)
	}
	if _, err := os.Stat(file + ".3"); err == nil {
		t.Error("a failed export left its file")
	}

	to := newPlace(t, "")
	if _, errs, code := to.run("import", file); code != 0 {
		t.Fatalf("import: %d %s", code, errs)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(t.TempDir(), "odd.jsonl") // an id that no path could name
	if err := os.WriteFile(odd, []byte(strings.ReplaceAll(string(text), `"session_id":"`, `"session_id":"no/`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := to.run("import", odd); code != 1 || !strings.Contains(errs, "line 1") || !strings.Contains(errs, `"no/`) {
		t.Errorf("import of an odd id: %d\n%s", code, errs)
	}
	if _, errs, code := to.run("import", file); code != 1 || !strings.Contains(errs, "exists already") {
		t.Errorf("import of what is there: %d %s", code, errs)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if again, errs, _ := to.run("export"); again != string(want) {
		t.Errorf("exported again:\n%s\nwant\n%s\n%s", again, want, errs)
	}
	to.serve()
	if list := to.listed(); len(list) != 1 || list[0].ID != "two" || list[0].Title == "" {
		t.Errorf("after the import: %+v", list)
	}
	if _, errs, code := to.run("send", "two", "help"); code != 0 {
		t.Errorf("the imported agent goes on: %d %s", code, errs)
	}
}

func TestBenchPrintsRatiosAndLeavesNothing(t *testing.T) {
	p := newPlace(t, "")
	out, errs, code := p.run("bench", "--json", "--dir", p.dir)
	var figures map[string]float64
	if err := json.Unmarshal([]byte(out), &figures); err != nil || code != 0 {
		t.Fatalf("bench: %d %v\n%s\n%s", code, err, out, errs)
	}
	for name, figure := range figures {
		if figure <= 0 {
			t.Errorf("%s is %v", name, figure)
		}
	}
	if entries, err := os.ReadDir(p.dir); err != nil || len(entries) != 1 {
		t.Errorf("left in the folder: %v %v", entries, err)
	}
}
