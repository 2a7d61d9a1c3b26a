package wsconn

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestARequestThatAsksForNoSocketIsToldHow(t *testing.T) {
	for _, c := range []struct {
		method, upgrade string
		status          int
	}{
		{"GET", "", http.StatusUpgradeRequired},
		{"GET", "h2c", http.StatusUpgradeRequired},
		{"POST", "websocket", http.StatusMethodNotAllowed},
		{"GET", "WebSocket", http.StatusOK}, // not answered
		{"GET", "h2c, websocket", http.StatusOK},
	} {
		r, w := httptest.NewRequest(c.method, "/", nil), httptest.NewRecorder()
		r.Header.Set("Upgrade", c.upgrade)
		asked := Asked(w, r, "say please")
		if w.Code != c.status || asked != (c.status == http.StatusOK) {
			t.Errorf("%s %q: %d, %v", c.method, c.upgrade, w.Code, asked)
		}
		if how := strings.Contains(w.Body.String(), "say please"); how != (c.status == http.StatusUpgradeRequired) {
			t.Errorf("%s %q: %s", c.method, c.upgrade, w.Body)
		}
	}
}
