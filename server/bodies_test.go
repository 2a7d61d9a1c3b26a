package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hitchpost/server/auth"
	"hitchpost/server/config"
	"hitchpost/store"
	"hitchpost/turn"
)

// front is every route of a server, with that patience for bodies. The secret of its token
// is "secret".
func front(t *testing.T, patience time.Duration) *httptest.Server {
	t.Helper()
	cfg := config.ZeroConfig()
	quiet := slog.New(slog.DiscardHandler)
	st, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "log.db"), store.Options{Durability: store.Normal})
	if err != nil {
		t.Fatal(err)
	}
	host := turn.New(st, turn.Config{Log: quiet, MaxAgents: 10})
	s := &server{
		o: Options{Config: cfg, Log: quiet}, host: host, patience: patience,
		keys: auth.NewKeyring([]*auth.Token{auth.NewToken("me", "me", auth.DigestOf("secret"), nil, auth.All)}),
	}
	gate, err := auth.NewGate("127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.failures, err = auth.NewFailures(nil); err != nil {
		t.Fatal(err)
	}
	if err := s.mountWires(context.Background(), st, gate); err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(s.routes(gate))
	t.Cleanup(func() {
		s.rest.Drain()
		s.wire.Shutdown(context.Background())
		s.group.Shutdown(context.Background())
		served.Close()
		s.rest.Wait()
		host.Drain(0)
		st.Close()
	})
	return served
}

// guarantee 5
func TestABodyThatNeverEndsIsAnsweredAndItsConnectionClosed(t *testing.T) {
	at := front(t, 50*time.Millisecond).Listener.Addr().String()
	for _, c := range []struct {
		request, secret string
		status          int
	}{
		{"POST /api/v1/sessions", "secret", http.StatusBadRequest}, // it is read
		{"POST /api/v1/sessions", "wrong", http.StatusUnauthorized},
		{"GET /api/v1/sessions", "secret", http.StatusOK},
		{"GET /healthz", "", http.StatusOK},
		{"GET /readyz", "", http.StatusOK},
		{"GET /metrics", "", http.StatusOK},
		{"GET /", "", http.StatusOK},
		{"GET /nothing", "", http.StatusNotFound},
		{"GET /ws", "", http.StatusUpgradeRequired},
		{"GET /agents/a/ws", "secret", http.StatusUpgradeRequired},
		{"GET /agents/../a", "secret", http.StatusNotFound},
	} {
		for _, size := range []string{"Content-Length: 50", "Transfer-Encoding: chunked"} {
			conn, err := net.Dial("tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n%s\r\n\r\n5\r\n{", c.request, c.secret, size)
			conn.SetReadDeadline(time.Now().Add(30 * time.Second)) // reaching it is the failure
			r := bufio.NewReader(conn)
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Errorf("%s, %s: %v", c.request, size, err)
				continue
			}
			if resp.StatusCode != c.status {
				t.Errorf("%s, %s: answered %s, want %d", c.request, size, resp.Status, c.status)
			}
			io.Copy(io.Discard, resp.Body)
			if _, err := r.ReadByte(); err == nil {
				t.Errorf("%s, %s: the connection is still there", c.request, size)
			}
		}
	}
}

// guarantee 5
func TestARequestThatWaitsBehindItsBodyIsNotCutShort(t *testing.T) {
	patience := 50 * time.Millisecond
	waits := httptest.NewServer(inTime(patience, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != "all of it" {
			t.Errorf("the body is %q, %v", body, err)
		}
		select {
		case <-r.Context().Done():
			t.Error("the request was given up")
		case <-time.After(4 * patience):
		}
	})))
	defer waits.Close()
	for range 2 { // also the next one on the same connection
		resp, err := http.Post(waits.URL, "", strings.NewReader("all of it"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
}
