package server_test

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"hitchpost/turn/event"
)

// line is an event as tail prints it.
type line struct {
	Seq     int64
	Type    event.Type
	Payload struct {
		ID, Text, Status, Name string
		Error                  *json.RawMessage
	}
	raw string
}

// log reads the whole log of an agent from the file, beside the running server: a
// client of its own would supersede the one under test.
func (p *place) log(agent string) []line {
	p.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(p.dir, "hitchpost.db"))+"?mode=ro")
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT e.event FROM events e JOIN sessions s ON s.key = e.session WHERE s.id = ? ORDER BY e.seq", agent)
	if err != nil {
		p.t.Fatal(err)
	}
	defer rows.Close()
	var log []line
	for rows.Next() {
		var l line
		if err := rows.Scan(&l.raw); err != nil {
			p.t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(l.raw), &l); err != nil {
			p.t.Fatalf("the log holds %q: %v", l.raw, err)
		}
		if l.Seq != int64(len(log)) {
			p.t.Fatalf("seq %d where %d belongs", l.Seq, len(log))
		}
		log = append(log, l)
	}
	if err := rows.Err(); err != nil {
		p.t.Fatal(err)
	}
	return log
}

func types(log []line) string {
	var out []string
	for _, l := range log {
		if !l.Type.Streamed() {
			out = append(out, string(l.Type))
		}
	}
	return strings.Join(out, " ")
}

// TestSendStreamsATurnWithARealReadCall is the README's second shell.
func TestSendStreamsATurnWithARealReadCall(t *testing.T) {
	p := newPlace(t, "")
	if err := os.WriteFile(filepath.Join(p.dir, "README.md"), []byte("# A post for horses\n\ntext\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := p.serve()
	out, errs, code := p.run("send", "main", "read README.md and tell me the first heading")
	if code != 0 || !strings.Contains(out, "A post for horses") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	want := "session/created turn/start step/start user/message assistant/message tool/call tool/result step/end " +
		"step/start assistant/message step/end turn/end"
	if got := types(p.log("main")); !strings.HasPrefix(got, want) {
		t.Errorf("log:\n%s\nwant\n%s", got, want)
	}
	if code := s.term(); code != 0 {
		t.Errorf("the server left with %d", code)
	}
	for _, rest := range []string{"hitchpost.db-wal"} {
		if info, err := os.Stat(filepath.Join(p.dir, rest)); err == nil && info.Size() > 0 {
			t.Errorf("%s holds %d bytes after a clean stop", rest, info.Size())
		}
	}
}

// TestChatSurvivesARestartInMidConversation: no event is lost and none comes twice.
func TestChatSurvivesARestartInMidConversation(t *testing.T) {
	for name, stop := range map[string]func(*running){
		"kill -9": (*running).kill,
		"drain":   func(s *running) { s.term() },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, "[timeouts]\nshutdown = \"0s\"")
			s := p.serve()
			chat := p.command("chat", "main")
			stdin, err := chat.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, notes := &output{}, &output{}
			chat.Stdout, chat.Stderr = out, notes
			if err := chat.Start(); err != nil {
				t.Fatal(err)
			}
			defer chat.Process.Kill()
			io.WriteString(stdin, "think 2000\n")
			p.until("the stream is under way", func() bool { return len(out.String()) > 200 })
			stop(s)
			p.serve()
			p.until("the turn is there to be resumed", func() bool {
				log := p.log("main")
				return log[len(log)-1].Type != event.TurnEndType
			})
			io.WriteString(stdin, "help\n")
			stdin.Close()
			timer := time.AfterFunc(time.Minute, func() { chat.Process.Signal(syscall.SIGQUIT) }) // its stacks tell where it hangs
			defer timer.Stop()
			if err := chat.Wait(); err != nil {
				t.Fatalf("chat: %v\n%s\n%s", err, out, notes)
			}
			for _, text := range p.said("main") {
				if n := strings.Count(letters(out.String()), letters(text)); n != 1 {
					t.Errorf("chat printed %d times, want once:\n%s\nin\n%s", n, text, out)
				}
			}
		})
	}
}

// said is what each step of the log streamed.
func (p *place) said(agent string) []string {
	var out []string
	for _, l := range p.log(agent) {
		switch l.Type {
		case event.StepStartType:
			out = append(out, "")
		case event.AssistantChunkType:
			out[len(out)-1] += l.Payload.Text
		}
	}
	return out
}

// letters leaves out what a screen adds: spaces, line ends, marks.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// TestADrainLeavesARunningTurnResumableAndExitsWith0: a deploy under load.
func TestADrainLeavesARunningTurnResumableAndExitsWith0(t *testing.T) {
	p := newPlace(t, "[timeouts]\nshutdown = \"100ms\"")
	s := p.serve()
	if _, errs, code := p.run("send", "--no-wait", "main", "think 2000"); code != 0 {
		t.Fatalf("send: %d\n%s", code, errs)
	}
	p.until("chunks come", func() bool { return len(p.chunks()) > 5 })
	if code := s.term(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.serve()
	log := p.log("main")
	if last := log[len(log)-1].Type; last != event.AssistantChunkType {
		t.Errorf("the log ends with %s, want the stream where it was cut", last)
	}
	if out, errs, code := p.run("send", "main", "help"); code != 0 {
		t.Errorf("resuming: exit %d\n%s\n%s", code, out, errs)
	}
	if n := strings.Count(types(p.log("main")), string(event.TurnStartType)); n != 1 {
		t.Errorf("%d turn/start, want 1", n)
	}
}

// TestAClientThatReadsNothingKeepsNoDrainFromExitingWith0: what waits for it is cut off,
// which is its own doing; a service manager would take another code for a crash.
func TestAClientThatReadsNothingKeepsNoDrainFromExitingWith0(t *testing.T) {
	p := newPlace(t, "[timeouts]\nshutdown = \"100ms\"")
	s := p.serve()
	s.runWire(secret)
	body := `{"input":"` + strings.Repeat("x", 900_000) + `"}`
	for i := range 16 { // more than the system keeps for a client; this one reads nothing
		id := fmt.Sprint("s", i)
		s.ask(secret, "POST", "/api/v1/sessions", `{"id":"`+id+`"}`)
		if status, answer := s.ask(secret, "POST", "/api/v1/sessions/"+id+"/runs", body); status != http.StatusCreated {
			t.Fatal(status, answer)
		}
	}
	if code := s.term(); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
}

// chunks are the streamed pieces in the log of main.
func (p *place) chunks() []line {
	var out []line
	for _, l := range p.log("main") {
		if l.Type.Streamed() {
			out = append(out, l)
		}
	}
	return out
}

// TestBackupAndVerifyRunBesideTheServer: the copy is whole, and has an identity of its own.
func TestBackupAndVerifyRunBesideTheServer(t *testing.T) {
	p := newPlace(t, "")
	s := p.serve()
	if _, errs, code := p.run("send", "main", "help"); code != 0 {
		t.Fatalf("send: %d\n%s", code, errs)
	}
	if out, errs, code := p.run("backup", "copy.db"); code != 0 {
		t.Fatalf("backup: %d\n%s\n%s", code, out, errs)
	}
	if _, errs, code := p.run("backup", "copy.db"); code != 1 || !strings.Contains(errs, "exists") {
		t.Errorf("a second backup over the first: %d %s", code, errs)
	}
	var reports [2]struct {
		OK     bool
		LogID  string `json:"log_id"`
		Events int
	}
	for i, file := range []string{"hitchpost.db", "copy.db"} {
		out, errs, code := p.run("verify", "--json", file)
		if err := json.Unmarshal([]byte(out), &reports[i]); err != nil || code != 0 || !reports[i].OK {
			t.Errorf("verify %s: %d\n%s\n%s", file, code, out, errs)
		}
	}
	if reports[0].Events != reports[1].Events || reports[0].LogID == reports[1].LogID {
		t.Errorf("the file and its copy: %+v", reports)
	}
	s.term()
	if err := os.WriteFile(filepath.Join(p.dir, "junk.db"), []byte("no database at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := p.run("verify", "junk.db"); code != 1 || errs == "" {
		t.Errorf("verify of junk: %d %s", code, errs)
	}
}

// TestASecondServerIsRefusedAndNamesTheHolder by pid and address.
func TestASecondServerIsRefusedAndNamesTheHolder(t *testing.T) {
	p := newPlace(t, "")
	p.serve()
	_, errs, code := p.run("serve")
	if code == 0 || !strings.Contains(errs, p.listen) || !strings.Contains(errs, "pid") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestRevocationReachesOpenConnections: Agent Socket v1, auth; a token removed by a
// reload drops its connections with unauthorized, and the others stay.
func TestRevocationReachesOpenConnections(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGHUP on Windows")
	}
	p := newPlace(t, "")
	p.configure("", secret, "another-secret-token-0123456789")
	s := p.serve()
	other := p.command("tail", "other")
	other.Env = append(other.Env, "HITCHPOST_TOKEN=another-secret-token-0123456789")
	errs, kept := &output{}, &output{}
	other.Stderr = errs
	stays := p.command("tail", "stays", "--from-seq", "0")
	stays.Stdout = kept
	for _, cmd := range []interface{ Start() error }{other, stays} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	defer stays.Process.Kill()
	p.until("both are connected", func() bool {
		_, figures := s.ask("", "GET", "/metrics", "")
		return kept.has("session/created") && strings.Contains(figures, "\nhitchpost_connections 2\n")
	})
	p.configure("", secret)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := other.Wait(); err == nil {
		t.Errorf("tail with a revoked token left with success")
	}
	if !errs.has("token") {
		t.Errorf("it said: %s", errs)
	}
	if _, _, code := p.run("send", "stays2", "help"); code != 0 {
		t.Errorf("the token that stayed: exit %d", code)
	}
	p.configure("nonsense = 1", secret)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	p.until("the broken file is reported", func() bool { return s.log.has("nonsense") })
	p.configure("", secret) // the command reads the same file
	if _, _, code := p.run("send", "stays3", "help"); code != 0 {
		t.Errorf("after a broken reload: exit %d", code)
	}
}

// TestNoTokenIsWrittenAnywhere: bug-reports A27; not in the log, the database or an event.
func TestNoTokenIsWrittenAnywhere(t *testing.T) {
	p := newPlace(t, "")
	s := p.serve()
	p.run("send", "main", "help")
	for _, url := range []string{"/", "/agents/main/ws", "/agents/main/ws?token=" + secret} {
		if resp, err := http.Get("http://" + p.listen + url); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
	s.term()
	if s.log.has(secret) {
		t.Errorf("the server's log holds the token:\n%s", s.log)
	}
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "hitchpost.toml" {
			continue
		}
		f, err := os.Open(filepath.Join(p.dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(bufio.NewReader(f))
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), secret) {
			t.Errorf("%s holds the token", e.Name())
		}
	}
}

func TestAPathThatNamesNothingIsNotRedirectedToOneThatDoes(t *testing.T) {
	s := newPlace(t, "").serve()
	asItIs := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, path := range []string{
		"/agents/../ws", "/agents/./ws", "/agents//ws", "//agents/main/ws", "/x/../agents/main/ws", "/agents/main/ws/", "/index.html", "/s/", "/nowhere",
	} {
		resp, err := asItIs.Get("http://" + s.listen + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s, want 404", path, resp.Status)
		}
	}
}

// TestAHostilePageReachesNothing: foreign Origin, null Origin and a rebound Host are refused.
func TestAHostilePageReachesNothing(t *testing.T) {
	p := newPlace(t, "")
	p.serve()
	for name, set := range map[string]func(*http.Request){
		"foreign origin": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"null origin":    func(r *http.Request) { r.Header.Set("Origin", "null") },
		"rebound host":   func(r *http.Request) { r.Host = "evil.example" },
	} {
		r, err := http.NewRequest("GET", "http://"+p.listen+"/agents/main/ws", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "websocket")
		r.Header.Set("Sec-WebSocket-Version", "13")
		r.Header.Set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
		set(r)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: status %d, want 403", name, resp.StatusCode)
		}
	}
}
