package wsconn

import (
	"net/http"
	"strings"
)

// Asked tells whether a request asks for a socket. One that does not is answered; how
// says what its sender should do.
func Asked(w http.ResponseWriter, r *http.Request, how string) bool {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "a socket is opened with GET", http.StatusMethodNotAllowed)
		return false
	}
	if !strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Upgrade"), ",")), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		http.Error(w, "this is a WebSocket: "+how, http.StatusUpgradeRequired)
		return false
	}
	return true
}
