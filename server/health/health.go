package health

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"hitchpost/server/auth"
	"hitchpost/server/follow"
	"hitchpost/store"
	"hitchpost/turn"
)

// readyPatience is how long a look at the file may take.
const readyPatience = 2 * time.Second

// Options is what a Server looks at.
type Options struct {
	Store    *store.Store
	Host     *turn.Host
	Slots    *follow.Slots
	Keys     *auth.Keyring
	Gate     *auth.Gate
	Failures *auth.Failures
	Loopback bool // the server is reached from this machine alone
	Draining func() bool
	Figures  map[string]func() int64 // the other parts' own, by the name they are shown under
}

// Server answers /readyz and /metrics.
type Server struct {
	o   Options
	set *metrics.Set
}

// New returns a Server.
func New(o Options) *Server {
	s := &Server{o: o, set: metrics.NewSet()}
	written := func(pick func(store.Stats) uint64) func() int64 {
		return func() int64 { return int64(pick(o.Store.Stats())) }
	}
	busy := func(pick func(turn.Load) int) func() int64 {
		return func() int64 { return int64(pick(o.Host.Load())) }
	}
	for name, figure := range map[string]func() int64{
		"hitchpost_commits_total":         written(func(x store.Stats) uint64 { return x.Commits }), // each is one sync, with durability full
		"hitchpost_appends_total":         written(func(x store.Stats) uint64 { return x.Appends }),
		"hitchpost_events_total":          written(func(x store.Stats) uint64 { return x.Events }),
		"hitchpost_commit_failures_total": written(func(x store.Stats) uint64 { return x.Failures }),
		"hitchpost_agents":                busy(func(x turn.Load) int { return x.Agents }),
		"hitchpost_turns_running":         busy(func(x turn.Load) int { return x.Running }),
		"hitchpost_compactions_running":   busy(func(x turn.Load) int { return x.Compacting }),
		"hitchpost_replay_slots_taken":    func() int64 { taken, _ := o.Slots.Load(); return taken },
		"hitchpost_replay_slots_waiting":  func() int64 { _, waiting := o.Slots.Load(); return waiting },
	} {
		s.add(name, figure)
	}
	for name, figure := range o.Figures {
		s.add(name, figure)
	}
	return s
}

func (s *Server) add(name string, figure func() int64) {
	s.set.NewGauge(name, func() float64 { return float64(figure()) })
}

// Ready answers GET /readyz.
func (s *Server) Ready(w http.ResponseWriter, r *http.Request) {
	ctx, done := context.WithTimeout(r.Context(), readyPatience)
	defer done()
	w.Header().Set("Cache-Control", "no-store")
	if s.o.Draining() {
		http.Error(w, "the server is shutting down", http.StatusServiceUnavailable)
		return
	}
	if err := s.o.Store.Writable(ctx); err != nil {
		http.Error(w, fmt.Sprintf("the log cannot be written: %v", err), http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ready\n")
}

// Metrics answers GET /metrics.
func (s *Server) Metrics(w http.ResponseWriter, r *http.Request) {
	if err := s.o.Gate.Check(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if !(s.o.Loopback && isDirect(r)) && !s.admit(w, r) {
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.set.WritePrometheus(w)
	metrics.WriteProcessMetrics(w)
}

// isDirect tells whether a request came here without a proxy, behind which somebody on
// another machine may stand.
func isDirect(r *http.Request) bool {
	return r.Header.Get("X-Forwarded-For") == "" && r.Header.Get("Forwarded") == ""
}

// admit asks for a token that may watch; what it refuses is answered.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	secret := auth.Secret(r)
	token, ok := s.o.Keys.Lookup(secret)
	addr := s.o.Failures.Address(r)
	switch {
	case ok && token.May(auth.Watch):
		return true
	case ok:
		http.Error(w, "this token may not watch", http.StatusForbidden)
	case secret != "" && !s.o.Failures.Allow(addr):
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many wrong tokens within a minute", http.StatusTooManyRequests)
	default:
		if secret != "" {
			s.o.Failures.Failed(addr)
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="hitchpost"`)
		http.Error(w, "metrics take a token here; send it as Authorization: Bearer", http.StatusUnauthorized)
	}
	return false
}
