package health

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hitchpost/server/auth"
	"hitchpost/server/follow"
	"hitchpost/store"
	"hitchpost/turn"
)

// rig is a Server over a real file.
type rig struct {
	t     *testing.T
	path  string
	store *store.Store
	http  *httptest.Server
}

func newRig(t *testing.T, loopback bool, draining bool) *rig {
	t.Helper()
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "log.db")}
	var err error
	if r.store, err = store.Open(t.Context(), r.path, store.Options{}); err != nil {
		t.Fatal(err)
	}
	host := turn.New(r.store, turn.Config{Log: slog.New(slog.DiscardHandler)})
	listen := "0.0.0.0:1"
	if loopback {
		listen = "127.0.0.1:1"
	}
	gate, err := auth.NewGate(listen, nil)
	if err != nil {
		t.Fatal(err)
	}
	failures, err := auth.NewFailures(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{
		Store: r.store, Host: host, Slots: follow.NewSlots(4), Gate: gate, Failures: failures, Loopback: loopback,
		Keys: auth.NewKeyring([]*auth.Token{
			auth.NewToken("eye", "me", auth.DigestOf("secret-eye"), nil, auth.Watch),
			auth.NewToken("hand", "me", auth.DigestOf("secret-hand"), nil, auth.Inject),
		}),
		Draining: func() bool { return draining },
		Figures:  map[string]func() int64{"hitchpost_connections": func() int64 { return 7 }},
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", s.Ready)
	mux.HandleFunc("GET /metrics", s.Metrics)
	r.http = httptest.NewServer(mux)
	t.Cleanup(func() {
		r.http.Close()
		if err := host.Drain(0); err != nil {
			t.Error(err)
		}
		if err := r.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) get(path string, headers ...string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequest("GET", r.http.URL+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// guarantee 1, with a file that another program has locked. SQLite gives up after 5 s.
func TestReadyzSaysWhyTheLogCannotBeWrittenAndRecoversByItself(t *testing.T) {
	r := newRig(t, true, false)
	if status, body := r.get("/readyz"); status != http.StatusOK {
		t.Fatalf("at the start: %d %s", status, body)
	}
	other, err := sql.Open("sqlite", "file:"+filepath.ToSlash(r.path)+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	first := []store.NewEvent{{Type: "session/created", Payload: []byte(`{}`)}}
	if err := r.store.Create(t.Context(), store.Session{ID: "s", Owner: "me"}, first); err == nil {
		t.Fatal("a locked file was written")
	}
	if status, body := r.get("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "cannot be written") || !strings.Contains(body, "locked") {
		t.Errorf("while it is locked: %d %s", status, body)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		status, body := r.get("/readyz") // the look before may still be waiting for the lock
		if status == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after it was let go: %d %s", status, body)
		}
	}
	if _, err := r.store.Session(context.Background(), "s"); err == nil {
		t.Error("looking has made a session")
	}
}

// guarantee 1
func TestReadyzSaysThatTheServerGoes(t *testing.T) {
	if status, body := newRig(t, true, true).get("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "shutting down") {
		t.Errorf("%d %s", status, body)
	}
}

// guarantee 2
func TestMetricsTakeATokenOffLoopback(t *testing.T) {
	inside, outside := newRig(t, true, false), newRig(t, false, false)
	if status, body := inside.get("/metrics"); status != http.StatusOK || !strings.Contains(body, "hitchpost_connections 7\n") {
		t.Errorf("on loopback: %d %s", status, body)
	}
	if status, _ := inside.get("/metrics", "Host", "evil.example"); status != http.StatusForbidden {
		t.Errorf("from a rebound name: %d", status)
	}
	for _, header := range []string{"X-Forwarded-For", "Forwarded"} { // a proxy on this machine asks for somebody elsewhere
		if status, body := inside.get("/metrics", header, "for=203.0.113.9"); status != http.StatusUnauthorized || strings.Contains(body, "hitchpost_") {
			t.Errorf("through a proxy that says %s: %d", header, status)
		}
	}
	if status, _ := inside.get("/metrics", "X-Forwarded-For", "203.0.113.9", "Authorization", "Bearer secret-eye"); status != http.StatusOK {
		t.Errorf("through a proxy, with a token: %d", status)
	}
	for header, want := range map[string]int{
		"": http.StatusUnauthorized, "Bearer wrong": http.StatusUnauthorized, "Bearer secret-hand": http.StatusForbidden,
		"Bearer secret-eye": http.StatusOK,
	} {
		status, body := outside.get("/metrics", "Authorization", header)
		if status != want || status != http.StatusOK && strings.Contains(body, "hitchpost_") {
			t.Errorf("with %q: %d, want %d", header, status, want)
		}
	}
	for range auth.FailuresAMinute {
		outside.get("/metrics", "Authorization", "Bearer wrong")
	}
	if status, _ := outside.get("/metrics", "Authorization", "Bearer wrong"); status != http.StatusTooManyRequests {
		t.Errorf("one wrong token too many: %d", status)
	}
	if status, _ := outside.get("/metrics", "Authorization", "Bearer secret-eye"); status != http.StatusOK {
		t.Errorf("the right one then: %d", status)
	}
}
