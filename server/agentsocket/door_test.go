package agentsocket

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"hitchpost/server/auth"
	"hitchpost/server/wiretest"
	"hitchpost/store"
)

// request sends a plain HTTP request and returns the answer.
func (w *world) request(method, target string, header http.Header) (int, http.Header, string) {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.http.Listener.Addr().String())
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	if header.Get("Host") == "" {
		header.Set("Host", w.http.Listener.Addr().String())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nConnection: close\r\n", method, target) // the target as it is, undecoded
	header.Write(&b)
	io.WriteString(conn, b.String()+"\r\n")
	raw, err := io.ReadAll(conn)
	if err != nil {
		w.t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(raw), "\r\n\r\n")
	status, fields, _ := strings.Cut(head, "\r\n")
	var code int
	fmt.Sscanf(status, "HTTP/1.1 %d", &code)
	got := http.Header{}
	for line := range strings.SplitSeq(fields, "\r\n") {
		name, value, _ := strings.Cut(line, ": ")
		got.Add(name, value)
	}
	return code, got, body
}

// Agent Socket v1: GET /agents/{agent_id}/ws; one segment, decoded once.
func TestThePathNamesOneAgentDecodedOnce(t *testing.T) {
	w := newWorld(t, settings{})
	for target, want := range map[string]int{
		"/agents/a/ws":         426,
		"/agents/a/ws?x=1":     426,
		"/agents/%41-_.:@9/ws": 426,
		"/agents/" + strings.Repeat("a", 128) + "/ws": 426,
		"/agents/" + strings.Repeat("a", 129) + "/ws": 404,
		"/agents//ws":       404,
		"/agents/./ws":      404,
		"/agents/../ws":     404,
		"/agents/%2e%2E/ws": 404,
		"/agents/%2e/ws":    404,
		"/agents/a%2fb/ws":  404,
		"/agents/a/b/ws":    404,
		"/agents/%00/ws":    404,
		"/agents/%2541/ws":  404, // decoded once it holds a percent sign
		"/agents/a%20b/ws":  404,
		"/agents/%C3%A9/ws": 404,
		"/agents/a/ws/":     404,
		"/agents/a":         404,
		"/agents/ws":        404,
		"/agents/a/WS":      404,
		"/":                 404,
	} {
		if code, _, body := w.request("GET", target, http.Header{}); code != want || body == "" {
			t.Errorf("GET %s = %d %q, want %d and a sentence", target, code, body, want)
		}
	}
	if all, err := w.store.Sessions(context.Background()); err != nil || len(all) != 0 {
		t.Errorf("sessions after all that: %v, %v", all, err)
	}
}

func TestOnlyGetWithAnUpgradeOpensASocket(t *testing.T) {
	w := newWorld(t, settings{})
	if code, header, body := w.request("GET", "/agents/a/ws", http.Header{}); code != 426 || header.Get("Upgrade") != "websocket" || !strings.Contains(body, "WebSocket") {
		t.Errorf("GET without upgrade = %d %v %q", code, header, body)
	}
	for _, method := range []string{"POST", "HEAD", "PUT", "DELETE", "OPTIONS"} {
		if code, header, _ := w.request(method, "/agents/a/ws", http.Header{}); code != 405 || header.Get("Allow") != "GET" {
			t.Errorf("%s = %d, Allow %q; want 405, GET", method, code, header.Get("Allow"))
		}
	}
}

func TestAForeignPageIsRefusedBeforeTheUpgrade(t *testing.T) {
	w := newWorld(t, settings{})
	upgrade := func(more ...string) http.Header {
		h := http.Header{"Upgrade": {"websocket"}, "Authorization": {"Bearer secret-all"}}
		h.Set(more[0], more[1])
		return h
	}
	for _, h := range []http.Header{upgrade("Origin", "https://evil.example"), upgrade("Origin", "null"), upgrade("Host", "evil.example")} {
		if code, _, body := w.request("GET", "/agents/a/ws", h); code != 403 || body == "" {
			t.Errorf("%v = %d %q, want 403", h, code, body)
		}
	}
	_, err := w.store.Session(context.Background(), "a")
	if err == nil {
		t.Error("a refused request created a session")
	}
}

// Agent Socket v1: an unauthorized connection receives one error frame and is
// closed. guarantee 2
func TestWhoeverMayNotComeInGetsOneAnswerAndChangesNothing(t *testing.T) {
	w := newWorld(t, settings{})
	w.open("mine")
	w.open("gone")
	w.restart()
	deleteSession(t, w, "gone")
	answers := map[string]string{}
	for name, c := range map[string]struct{ agent, authorization string }{
		"wrong token":       {"mine", "Bearer wrong"},
		"no token":          {"mine", ""},
		"empty token":       {"mine", "Bearer "},
		"another scheme":    {"mine", "Basic secret-all"},
		"no scheme":         {"mine", "secret-all"},
		"token of another":  {"mine", "Bearer secret-narrow"},
		"unknown agent":     {"nobody", "Bearer wrong"},
		"unreached unknown": {"nobody", "Bearer secret-narrow"},
		"foreign session":   {"mine", "Bearer secret-other"},
		"deleted session":   {"gone", "Bearer secret-all"},
	} {
		ws, resp, err := websocket.Dial(context.Background(), w.address(c.agent), &websocket.DialOptions{
			HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
			HTTPHeader: http.Header{"Authorization": {c.authorization}},
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer ws.CloseNow()
		p := &peer{t, ws}
		frames, code := p.rest()
		resp.Header.Del("Date")
		resp.Header.Del("Sec-Websocket-Accept") // of the client's random key
		answers[fmt.Sprintf("%v %q %d", resp.Header, frames, code)] += name + "; "
		if len(frames) != 1 || !strings.HasPrefix(frames[0], `{"type":"error","code":"unauthorized","message":"`) || code != websocket.StatusPolicyViolation {
			t.Errorf("%s: %q, close code %d", name, frames, code)
		}
	}
	if len(answers) != 1 {
		t.Errorf("the answers can be told apart: %v", answers)
	}
	all, err := w.store.Sessions(context.Background())
	if err != nil || len(all) != 1 {
		t.Errorf("sessions after all that: %+v, %v; want the one", all, err)
	}
}

// deleteSession marks a session as deleted in the stopped file.
func deleteSession(t *testing.T, w *world, id string) {
	t.Helper()
	w.stop()
	db, err := sql.Open("sqlite", w.path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE sessions SET deleted_at = 1 WHERE id = ?", id); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	w.start()
}

func TestTheSchemeOfTheTokenIsReadInAnyCase(t *testing.T) {
	w := newWorld(t, settings{})
	for _, scheme := range []string{"Bearer", "bearer", "BEARER"} {
		ws, _, err := websocket.Dial(context.Background(), w.address("a"), &websocket.DialOptions{
			HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
			HTTPHeader: http.Header{"Authorization": {scheme + " secret-all"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer ws.CloseNow()
		if first := (&peer{t, ws}).next(); !strings.Contains(first, `"hello"`) {
			t.Errorf("%s: %s", scheme, first)
		}
	}
}

// A browser cannot set the header: the token rides in a subprotocol.
func TestATokenMayComeAsASubprotocolWhichIsNotSelected(t *testing.T) {
	w := newWorld(t, settings{})
	ws, _, err := websocket.Dial(context.Background(), w.address("a"), &websocket.DialOptions{
		HTTPClient:   &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		Subprotocols: []string{auth.Subprotocol, "bearer." + base64.RawURLEncoding.EncodeToString([]byte("secret-all"))},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if ws.Subprotocol() != auth.Subprotocol {
		t.Errorf("selected %q", ws.Subprotocol())
	}
	if first := (&peer{t, ws}).next(); !strings.Contains(first, `"log_id"`) {
		t.Errorf("hello = %s", first)
	}
}

// Agent Socket v1: connecting resumes the session with that id, or creates it on
// first connect; session/created guarantees at least 0.
func TestConnectingCreatesTheSessionOnceAndResumesItAfterwards(t *testing.T) {
	w := newWorld(t, settings{})
	want := `{"type":"hello","proto":1,"session_id":"s1","last_seq":0}`
	if got := w.dial("s1", "secret-all").next(); got != want {
		t.Errorf("first hello = %s, want %s", got, want)
	}
	p := w.dial("s1", "secret-all")
	if got := p.next(); got != want {
		t.Errorf("second hello = %s", got)
	}
	w.restart()
	p = w.dial("s1", "secret-all")
	if got := p.next(); got != want {
		t.Errorf("hello after a restart = %s", got)
	}
	p.send(subscribeFrom(0))
	if created := p.event(0); !strings.Contains(created, `"type":"session/created","payload":{"parent_id":null}`) {
		t.Errorf("event 0 = %s", created)
	}
	if s, err := w.store.Session(context.Background(), "s1"); err != nil || s.Owner != "me" {
		t.Errorf("session = %+v, %v; want owner me", s, err)
	}
}

// Agent Socket v1, hello: frozen members, and after them ours for who asks.
func TestHelloHasTheFrozenMembersAndMoreOnlyForWhoAsks(t *testing.T) {
	w := newWorld(t, settings{replay: 77})
	w.open("s1")
	want := `{"type":"hello","proto":1,"session_id":"s1","last_seq":0`
	if got := w.dial("s1", "secret-all").next(); got != want+"}" {
		t.Errorf("hello = %s", got)
	}
	more := fmt.Sprintf(`,"first_seq":0,"log_id":%q,"status":"idle","pending":[],"replay_limit":77}`, w.store.LogID())
	if got := w.dial("s1", "secret-all", auth.Subprotocol).next(); got != want+more {
		t.Errorf("hello of %s = %s, want %s", auth.Subprotocol, got, want+more)
	}
}

func TestHelloTellsWhatTheAgentIsDoing(t *testing.T) {
	w := newWorld(t, settings{})
	status := func() string {
		var h struct{ Status string }
		json.Unmarshal([]byte(w.dial("s1", "secret-all", auth.Subprotocol).next()), &h)
		return h.Status
	}
	w.model.Replies <- []string{"a", wait, "b"}
	w.join("s1").send(`{"type":"inject","text":"go","wake":true}`)
	<-w.model.Reached
	if got := status(); got != "running" {
		t.Errorf("status of a running agent = %q", got)
	}
	w.restart() // cuts the turn, which stays open
	if got := status(); got != "resumable" {
		t.Errorf("status after a restart = %q", got)
	}
}

// Agent Socket v1, unauthorized: rotating a token drops every live connection that
// presented the old one, with the same frame it would have got at the door.
func TestRotatingATokenDropsEveryLiveConnectionThatPresentedTheOldOne(t *testing.T) {
	w := newWorld(t, settings{})
	old1, old2, stays := w.join("a"), w.join("b"), w.dial("c", "secret-eye")
	stays.next()
	w.keys.Replace([]*auth.Token{
		auth.NewToken("all", "me", auth.DigestOf("secret-new"), nil, auth.All),
		wiretest.Token("eye", "me", nil, auth.Watch),
	})
	old1.ended(CodeUnauthorized, websocket.StatusPolicyViolation)
	old2.ended(CodeUnauthorized, websocket.StatusPolicyViolation)
	stays.send(subscribeFrom(0))
	stays.event(0)
	if got := w.dial("a", "secret-new").next(); !strings.Contains(got, "hello") {
		t.Errorf("the new token gets %s", got)
	}
	w.dial("a", "secret-all").ended(CodeUnauthorized, websocket.StatusPolicyViolation)
}

// max_agents: internal before hello, and nothing is created.
func TestOneAgentTooManyIsRefusedBeforeHelloAndNothingIsCreated(t *testing.T) {
	w := newWorld(t, settings{agents: 2})
	a, b := w.join("a"), w.join("b")
	w.dial("c", "secret-all").ended(CodeInternal, websocket.StatusInternalError)
	if _, err := w.store.Session(context.Background(), "c"); err != nil && !strings.Contains(err.Error(), store.ErrNotFound.Error()) || err == nil {
		t.Errorf("session c: %v, want not found", err)
	}
	a.ws.Close(websocket.StatusNormalClosure, "")
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if strings.Contains(w.dial("c", "secret-all").next(), "hello") {
			break // there is room now
		}
		if time.Now().After(deadline) {
			t.Fatal("no room although an agent has left")
		}
	}
	b.alive()
}

func TestADeletedSessionsConnectionIsDropped(t *testing.T) {
	w := newWorld(t, settings{})
	p, other := w.join("a"), w.join("b")
	w.server.Drop("a")
	w.server.Drop("nobody")
	p.ended(CodeUnauthorized, websocket.StatusPolicyViolation)
	other.alive()
}

// What a connection asks of a session that is gone is answered as Drop answers: which of
// the two comes first is a race that no client sees.
func TestAConnectionThatFindsItsSessionDeletedEndsAsUnauthorized(t *testing.T) {
	w := newWorld(t, settings{})
	for i, frame := range []string{
		subscribeFrom(0), `{"type":"inject","text":"x"}`, `{"type":"cancel","reason":"x"}`,
		`{"type":"approve","call_id":"c"}`, `{"type":"set_policy","patterns":[]}`,
	} {
		id := fmt.Sprintf("gone-%d", i)
		p := w.join(id)
		if err := w.host.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		p.send(frame)
		p.ended(CodeUnauthorized, websocket.StatusPolicyViolation)
	}
}
