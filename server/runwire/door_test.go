package runwire

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
	"hitchpost/server/wiretest"
	"hitchpost/server/wsconn"
	"hitchpost/store"
)

// request asks for the upgrade in HTTP and returns the answer.
func (w *world) request(method string, header map[string]string) (int, string) {
	w.t.Helper()
	r := httptest.NewRequest(method, "http://127.0.0.1:1/ws", nil)
	r.RemoteAddr = "127.0.0.1:9"
	for name, value := range header {
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	rec := httptest.NewRecorder()
	w.server.ServeHTTP(rec, r)
	return rec.Code, rec.Body.String()
}

// Run wire, Connection: Origin and Host.
func TestAForeignPageIsRefusedBeforeTheUpgrade(t *testing.T) {
	w := newWorld(t, settings{})
	for name, c := range map[string]struct {
		header map[string]string
		want   int
	}{
		"no origin":       {nil, 426},
		"own origin":      {map[string]string{"Origin": "http://127.0.0.1:1"}, 426},
		"allowed origin":  {map[string]string{"Origin": "https://page.example"}, 426},
		"foreign origin":  {map[string]string{"Origin": "https://evil.example"}, 403},
		"null origin":     {map[string]string{"Origin": "null"}, 403},
		"rebound host":    {map[string]string{"Host": "evil.example", "Origin": "http://evil.example"}, 403},
		"localhost":       {map[string]string{"Host": "localhost:1"}, 426},
		"an allowed host": {map[string]string{"Host": "page.example"}, 426},
	} {
		if code, body := w.request("GET", c.header); code != c.want || body == "" {
			t.Errorf("%s: %d %q, want %d and a sentence", name, code, body, c.want)
		}
	}
	if code, _ := w.request("POST", nil); code != http.StatusMethodNotAllowed {
		t.Errorf("POST = %d", code)
	}
}

// Run wire, Connection: the first frame.
func TestTheFirstFrameIsTheTokenAndIsAnsweredByWhatItMayDo(t *testing.T) {
	w := newWorld(t, settings{})
	for secret, want := range map[string]string{
		"secret-all":    `{"type":"auth.ok","payload":{"owner":"me","allow":["watch","inject","approve","admin"],"agents":null,"log_id":"ID"}}`,
		"secret-narrow": `{"type":"auth.ok","payload":{"owner":"me","allow":["watch","inject","approve","admin"],"agents":["narrow-*"],"log_id":"ID"}}`,
		"secret-eye":    `{"type":"auth.ok","payload":{"owner":"me","allow":["watch"],"agents":null,"log_id":"ID"}}`,
	} {
		p := w.dial()
		p.send(authFrame(secret))
		if got := p.next(); got.line != strings.Replace(want, "ID", w.store.LogID(), 1) || w.store.LogID() == "" {
			t.Errorf("%s: %s, want %s", secret, got.line, want)
		}
	}
}

// A cursor does not hold in a backup that took the file's place, also where the log has
// grown beyond it since.
func TestAFileThatWasRestoredIsToldFromTheOneThatWas(t *testing.T) {
	w := newWorld(t, settings{})
	logID := func() string {
		p := w.dial()
		p.send(authFrame("secret-all"))
		var ok struct {
			Payload struct {
				LogID string `json:"log_id"`
			}
		}
		if err := json.Unmarshal([]byte(p.next().line), &ok); err != nil {
			t.Fatal(err)
		}
		return ok.Payload.LogID
	}
	before := logID()
	w.restart()
	if again := logID(); again != before {
		t.Errorf("the same file was %s and is %s", before, again)
	}
	w.stop()
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := store.Backup(context.Background(), w.path, backup); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(backup, w.path); err != nil {
		t.Fatal(err)
	}
	w.start()
	if restored := logID(); restored == before || restored == "" {
		t.Errorf("a backup is %s as the file was", restored)
	}
}

// Run wire, Connection: wrong or other first frame: close 1008 with a reason text.
func TestAnyOtherFirstFrameClosesWithAReason(t *testing.T) {
	w := newWorld(t, settings{})
	for first, reason := range map[string]string{
		authFrame("wrong"): "wrong",
		`{"type":"run.create","payload":{"session_id":"a"}}`: "first frame",
		`{"type":"auth"}`:                                  "first frame",
		`{"type":"auth","token":7}`:                        "first frame",
		`{"type":"auth","payload":{"token":"secret-all"}}`: "first frame",
		`nonsense`:                               "first frame",
		`["auth"]`:                               "first frame",
		`{"token":"x"}`:                          "first frame",
		authFrame(""):                            "wrong",
		"{\"type\":\"auth\",\"token\":\"\xff\"}": "first frame",
	} {
		p := w.dial()
		p.send(first)
		frames, code, got := p.rest()
		if len(frames) > 0 || code != websocket.StatusPolicyViolation || !strings.Contains(got, reason) || strings.Contains(got, "secret") {
			t.Errorf("%.60s: frames %v, close %d %q, want none and 1008 about %q", first, lines(frames), code, got, reason)
		}
	}
	p := w.dial()
	p.ws.Write(context.Background(), websocket.MessageBinary, []byte(authFrame("secret-all")))
	if _, code, _ := p.rest(); code != websocket.StatusPolicyViolation {
		t.Errorf("a binary first frame: close %d", code)
	}
}

// Run wire, Connection: within 10 s.
func TestASilentConnectionIsClosedAfterTenSeconds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	t.Parallel()
	w := newWorld(t, settings{})
	p := w.dial()
	began := time.Now()
	_, code, reason := p.rest()
	if took := time.Since(began); code != websocket.StatusPolicyViolation || !strings.Contains(reason, "10 seconds") || took < authTimeout-time.Second {
		t.Errorf("close %d %q after %v", code, reason, took)
	}
}

// Run wire, Connection: more than 10 failed credentials a minute.
func TestTheEleventhWrongTokenIsRefusedBeforeTheUpgradeAndARightOneCostsNothing(t *testing.T) {
	w := newWorld(t, settings{})
	from := func(addr string) *peer { return w.dial("X-Forwarded-For", addr) }
	for range 30 {
		p := from("192.0.2.1")
		p.send(authFrame("secret-all"))
		p.of(protocol.TypeAuthOK)
		p.ws.CloseNow()
	}
	for range auth.FailuresAMinute {
		p := from("192.0.2.1")
		p.send(authFrame("wrong"))
		if _, code, _ := p.rest(); code != websocket.StatusPolicyViolation {
			t.Fatalf("close %d", code)
		}
	}
	_, answer, err := websocket.Dial(context.Background(), w.address(), &websocket.DialOptions{HTTPHeader: http.Header{"X-Forwarded-For": {"192.0.2.1"}}})
	if err == nil || answer.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the eleventh: %v, %v; want 429", answer, err)
	}
	p := from("192.0.2.2") // another address is not concerned
	p.send(authFrame("secret-all"))
	p.of(protocol.TypeAuthOK)
}

// Reliability: revoking a token works at once, also when idle.
//
// guarantee 10
func TestAWithdrawnOrNarrowedTokenEndsItsConnectionsAlsoIdleOnes(t *testing.T) {
	for name, replace := range map[string]func([]*auth.Token) []*auth.Token{
		"revoked": func(all []*auth.Token) []*auth.Token { return all[1:] },
		"narrowed": func(all []*auth.Token) []*auth.Token {
			all[0] = wiretest.Token("all", "me", []string{"b"}, auth.All)
			return all
		},
		"watching taken": func(all []*auth.Token) []*auth.Token {
			all[0] = wiretest.Token("all", "me", nil, auth.Inject)
			return all
		},
	} {
		w := newWorld(t, settings{})
		p, eye := w.join("secret-all"), w.join("secret-eye")
		w.keys.Replace(replace(standardTokens()))
		_, code, reason := p.rest()
		if code != websocket.StatusPolicyViolation || !strings.Contains(reason, "withdrawn") {
			t.Errorf("%s: close %d %q", name, code, reason)
		}
		eye.alive()
	}
}

// Server spec: verbs taken from a token are missing from the next frame on.
//
// guarantee 5
func TestAVerbThatIsTakenAwayIsMissingFromTheNextFrameOn(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	all := standardTokens()
	all[0] = wiretest.Token("all", "me", nil, auth.Watch)
	w.keys.Replace(all)
	p.say(protocol.RunCreate{SessionID: "a", Input: "hi"})
	if f := p.refusal(protocol.CodeForbidden); f.Payload.SessionID != "a" {
		t.Errorf("refused with %s", f.line)
	}
}

// Run wire, Connection: a token that lists agents reaches only those.
//
// guarantee 1
func TestATokenThatListsSessionsHearsOnlyThose(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("narrow-1", "me")
	w.create("wide", "me")
	all, narrow := w.join("secret-all"), w.join("secret-narrow")
	hidden := all.start("wide", "hi")
	all.toEnd(hidden)
	narrow.say(protocol.RunSubscribe{RunID: hidden})
	foreign := narrow.refusal(protocol.CodeRunNotFound)
	narrow.say(protocol.RunSubscribe{RunID: "0123456789abcdef"})
	unknown := narrow.refusal(protocol.CodeRunNotFound)
	if strings.ReplaceAll(foreign.line, hidden, "0123456789abcdef") != unknown.line {
		t.Errorf("told apart:\n%s\n%s", foreign.line, unknown.line)
	}
	narrow.say(protocol.RunCreate{SessionID: "wide", Input: "x"})
	narrow.refusal(protocol.CodeSessionNotFound)
	seen := all.start("narrow-1", "hi")
	for _, f := range narrow.until(ended(seen)) {
		if f.Payload.SessionID == "wide" || f.Payload.RunID == hidden {
			t.Errorf("heard %s", f.line)
		}
	}
}

func TestAConnectionThatMayNotWatchHearsNothing(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	hand, all := w.join("secret-hand"), w.join("secret-all")
	hand.say(protocol.RunCreate{SessionID: "a", Input: "hi"})
	all.until(func(f received) bool { return f.Seq != 0 && f.Type.Terminal() })
	if heard := hand.alive(); len(heard) > 0 {
		t.Errorf("heard %s", lines(heard))
	}
}

// Run wire, Connection: a ping every heartbeat.
func TestAnIdleConnectionIsPinged(t *testing.T) {
	w := newWorld(t, settings{heartbeat: 50 * time.Millisecond})
	pings := make(chan struct{}, 100)
	ws, _, err := websocket.Dial(context.Background(), w.address(), &websocket.DialOptions{
		OnPingReceived: func(context.Context, []byte) bool { pings <- struct{}{}; return true },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	p := &peer{t, ws}
	go p.rest()
	p.send(authFrame("secret-all"))
	for range wsconn.MissedPings { // so many come, whenever they are answered
		<-pings
	}
}

// Run wire, Connection: a frame over 1 MiB: close 1009.
func TestAFrameOverOneMiBCloses1009(t *testing.T) {
	w := newWorld(t, settings{})
	for size, want := range map[int]websocket.StatusCode{1 << 20: 0, 1<<20 + 1: websocket.StatusMessageTooBig} {
		p := w.join("secret-all")
		head := `{"type":"run.create","payload":{"session_id":"none","input":"`
		p.send(head + strings.Repeat("x", size-len(head)-3) + `"}}`)
		if want == 0 {
			p.refusal(protocol.CodeSessionNotFound)
			continue
		}
		if _, code, _ := p.rest(); code != want {
			t.Errorf("%d bytes: close %d, want %d", size, code, want)
		}
	}
}

// Run wire, Connection: shutdown, persisted frames first, then 1001.
//
// guarantee 10
func TestShutdownSendsWhatIsPersistedAndThen1001(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	p := w.join("secret-all")
	w.model.Replies <- []string{"one", "two", wait}
	p.say(protocol.RunCreate{SessionID: "a", Input: "hi"})
	<-w.model.Reached
	run := w.object("a").LiveRunID
	w.await(run, func(s *stream) bool { return s.reader != nil }) // a client has a second for the rest
	log := w.log("a")
	for n := 0; n < 2; { // both pieces are on the disk
		tip, _ := log.Tip()
		pieces, err := log.Streamed(context.Background(), 0, tip)
		if err != nil {
			t.Fatal(err)
		}
		n = len(pieces)
	}
	go w.server.Shutdown(context.Background())
	all, code, _ := p.rest()
	if code != websocket.StatusGoingAway {
		t.Errorf("close %d, want 1001", code)
	}
	want := text(reference(t, log, run, 0))
	if got := lines(only(run, all)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestAConnectionThatComesDuringShutdownIsTurnedAway(t *testing.T) {
	w := newWorld(t, settings{})
	w.server.Shutdown(context.Background())
	_, answer, err := websocket.Dial(context.Background(), w.address(), nil)
	if err == nil || answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%v, %v; want 503", answer, err)
	}
}
