package rest

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path"
	"sync"
	"testing"

	"hitchpost/server/leaktest"
)

// TestMain fails when a test leaves a goroutine behind, and, after a whole run of
// them, when no test has seen a status that the document promises (guarantee 8).
func TestMain(m *testing.M) {
	code := leaktest.Run(m)
	if code == 0 && flag.Lookup("test.run").Value.String() == "" && seen.missing() {
		code = 1
	}
	os.Exit(code)
}

// seen is every status that was answered, by route.
var seen = statusBook{statuses: map[string]map[int]bool{}}

type statusBook struct {
	mu       sync.Mutex
	statuses map[string]map[int]bool
}

func (b *statusBook) note(route string, status int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.statuses[route] == nil {
		b.statuses[route] = map[int]bool{}
	}
	b.statuses[route][status] = true
}

// missing prints what the document has and no test saw, and what tests saw and it has not.
func (b *statusBook) missing() (any bool) {
	shared := map[int]bool{
		http.StatusUnauthorized: true, http.StatusForbidden: true, http.StatusTooManyRequests: true,
		http.StatusInternalServerError: true, http.StatusServiceUnavailable: true,
	}
	for _, r := range routes() {
		name := r.method + " " + Base + r.path
		documented := map[int]bool{}
		for _, a := range r.answers {
			documented[a.status] = true
			if !b.statuses[name][a.status] {
				fmt.Fprintf(os.Stderr, "%s: the document has %d, no test saw it\n", name, a.status)
				any = true
			}
		}
		for status := range b.statuses[name] {
			if !documented[status] && !shared[status] {
				fmt.Fprintf(os.Stderr, "%s answered %d, which the document does not have\n", name, status)
				any = true
			}
		}
	}
	return any
}

// recorder notes the statuses of a handler.
func recorder(s *Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recording{ResponseWriter: w}
		defer func() {
			_, pattern := s.mux.Handler(r)
			if path.Clean(r.URL.EscapedPath()) != r.URL.EscapedPath() {
				return // it names nothing
			}
			method := r.Method
			if method == http.MethodHead {
				method = http.MethodGet
			}
			seen.note(method+" "+pattern, rec.status)
		}()
		s.ServeHTTP(rec, r)
	})
}

type recording struct {
	http.ResponseWriter
	status int
}

func (r *recording) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recording) Unwrap() http.ResponseWriter { return r.ResponseWriter }
