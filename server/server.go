package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"hitchpost/server/agentsocket"
	"hitchpost/server/auth"
	"hitchpost/server/config"
	"hitchpost/server/follow"
	"hitchpost/server/health"
	"hitchpost/server/rest"
	"hitchpost/server/runwire"
	"hitchpost/server/sessions"
	"hitchpost/server/web"
	"hitchpost/server/wsconn"
	"hitchpost/store"
	"hitchpost/turn"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// Options of Run.
type Options struct {
	Config  *config.Config
	Tokens  []*auth.Token
	Log     *slog.Logger
	Reloads <-chan Reload    // configurations to take over while running
	Ready   func(url string) // called once, when the server listens
}

// Reload is a configuration that takes the place of the one in force.
type Reload struct {
	Config *config.Config
	Tokens []*auth.Token
}

const (
	headerTimeout = 10 * time.Second // of a request's header
	idleTimeout   = 2 * time.Minute  // of a connection between two requests; WebSockets have their own
	farewellTime  = 2 * time.Second  // for telling every client that the server goes
)

// Run serves until ctx ends, then drains.
func Run(ctx context.Context, o Options) (err error) {
	cfg := o.Config
	st, err := store.Open(ctx, cfg.Database, store.Options{
		Durability: cfg.Durability, RecentEvents: max(recentEvents, cfg.QueueLimit), SearchText: event.SearchText,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	host := turn.New(st, turn.Config{Log: o.Log})
	hands, err := openHands(cfg, o.Log, host.TaskTool())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hands.Close()) }()
	made := agents(cfg, hands, o.Log)
	host.Reload(made)
	listener, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w; is another server there? (listen = %q)", err, cfg.Listen)
	}
	defer listener.Close()
	if err := st.SetHolder(listener.Addr().String()); err != nil { // on a full disk, say, on which the logs can still be read
		o.Log.Warn("a second server will not be told where this one listens", "err", err)
	}
	o.Config = bound(cfg, listener)
	s := &server{o: o, hands: hands, host: host, models: made.Providers, keys: auth.NewKeyring(o.Tokens), patience: bodyPatience}
	if err := s.host.Start(ctx); err != nil {
		return errors.Join(err, s.host.Drain(0)) // some turns may have begun
	}
	return s.serve(ctx, st, listener)
}

// bound is the configuration with the port that the system chose for port 0.
func bound(cfg *config.Config, listener net.Listener) *config.Config {
	host, _, errHost := net.SplitHostPort(cfg.Listen)
	_, port, errPort := net.SplitHostPort(listener.Addr().String())
	if errHost != nil || errPort != nil {
		return cfg
	}
	out := *cfg
	out.Listen = net.JoinHostPort(host, port)
	return &out
}

// recentEvents of a log are kept encoded while somebody has it open.
const recentEvents = 1024

// server is one life of the process.
type server struct {
	o        Options
	hands    *hands
	host     *turn.Host
	models   map[string]model.Client // the host's providers
	keys     *auth.Keyring
	failures *auth.Failures // credentials that were wrong, on every wire
	sockets  *agentsocket.Server
	group    *wsconn.Group // the agent sockets
	wire     *runwire.Server
	rest     *rest.Server
	health   *health.Server
	closing  sync.WaitGroup // what deleted sessions held open
	patience time.Duration  // with bodies
}

func (s *server) serve(ctx context.Context, st *store.Store, listener net.Listener) error {
	gate, err := auth.NewGate(s.o.Config.Listen, s.o.Config.AllowedOrigins)
	if err != nil {
		return err
	}
	if s.failures, err = auth.NewFailures(s.o.Config.TrustedProxies); err != nil {
		return err
	}
	if err := s.mountWires(ctx, st, gate); err != nil {
		return errors.Join(err, s.host.Drain(0))
	}
	defer s.host.Watch(s.changed)()
	front := &http.Server{
		Handler:           s.routes(gate),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- listen(front, listener, s.o.Config) }()
	s.o.Log.Info("serving", "address", listener.Addr().String(), "database", s.o.Config.Database)
	if s.o.Ready != nil {
		s.o.Ready(s.o.Config.URL())
	}
	for {
		select {
		case <-ctx.Done():
			return s.drain(front, ended)
		case err := <-ended:
			return errors.Join(err, s.drain(front, nil))
		case next := <-s.o.Reloads:
			s.reload(next)
		}
	}
}

func listen(front *http.Server, listener net.Listener, cfg *config.Config) error {
	var err error
	if cfg.TLSCert != "" {
		err = front.ServeTLS(listener, cfg.TLSCert, cfg.TLSKey)
	} else {
		err = front.Serve(listener)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// mountWires makes the handlers of every surface.
func (s *server) mountWires(ctx context.Context, st *store.Store, gate *auth.Gate) (err error) {
	cfg := s.o.Config
	slots := follow.NewSlots(cfg.MaxConcurrentReplays)
	s.group = wsconn.NewGroup(cfg.Heartbeat.Std())
	s.sockets = agentsocket.New(agentsocket.Options{
		Host: s.host, Keys: s.keys, Gate: gate, Group: s.group, Slots: slots,
		LogID: st.LogID(), Limits: limits(cfg), Log: s.o.Log,
	})
	s.wire, err = runwire.New(ctx, runwire.Options{
		Store: st, Host: s.host, Book: &sessions.Book{Store: st, Host: s.host}, Keys: s.keys, Gate: gate, Failures: s.failures,
		Group: wsconn.NewGroup(cfg.Heartbeat.Std()), Slots: slots, Limits: wireLimits(cfg), Log: s.o.Log,
	})
	if err != nil {
		return errors.Join(err, s.group.Shutdown(ctx))
	}
	s.rest = rest.New(rest.Options{
		Store: st, Host: s.host, Keys: s.keys, Gate: gate, Failures: s.failures, Slots: slots,
		Heartbeat: cfg.Heartbeat.Std(), Log: s.o.Log,
	})
	s.health = health.New(health.Options{
		Store: st, Host: s.host, Slots: slots, Keys: s.keys, Gate: gate, Failures: s.failures,
		Loopback: auth.Loopback(cfg.Listen), Draining: s.rest.Draining, Figures: s.figures(),
	})
	return nil
}

// figures are those of the wires.
func (s *server) figures() map[string]func() int64 {
	figures := map[string]func() int64{
		"hitchpost_connections":  func() int64 { return int64(s.group.Len() + s.wire.Group.Len()) },
		"hitchpost_rest_streams": s.rest.Attached,
	}
	for hundred := 2; hundred <= 5; hundred++ {
		figures[fmt.Sprintf(`hitchpost_rest_answers_total{status="%dxx"}`, hundred)] = func() int64 { return s.rest.Answered(hundred) }
	}
	return figures
}

// changed hears of every change of a session. It must not block.
func (s *server) changed(c turn.Change) {
	if !c.Deleted {
		return
	}
	s.sockets.Drop(c.Session)
	s.closing.Go(func() { s.hands.Forget(c.Session) })
}

func (s *server) routes(gate *auth.Gate) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/agents/", s.sockets)
	mux.Handle("/ws", s.wire)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.health.Ready)
	mux.HandleFunc("GET /metrics", s.health.Metrics)
	mux.Handle("/", web.Handler(gate.Check))
	return inTime(s.patience, asWritten(s.rest, mux))
}

// asWritten keeps ServeMux from mending a path such as /agents/../ws by a redirect: it
// names nothing (Agent Socket v1, 404 for every other path). REST looks for itself, and
// answers in its own words.
func asWritten(api *rest.Server, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		written := r.URL.EscapedPath()
		if written == rest.Base || strings.HasPrefix(written, rest.Base+"/") {
			api.ServeHTTP(w, r)
			return
		}
		if clean := path.Clean(written); written != clean && written != clean+"/" {
			http.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// reload takes over a configuration that has been checked. Tokens go last, so that
// a connection dropped for its token comes back to the new limits.
func (s *server) reload(next Reload) {
	made := agents(next.Config, s.hands, s.o.Log)
	s.host.Reload(made)
	letGo(s.models)
	s.models = made.Providers
	s.sockets.SetLimits(limits(next.Config))
	s.wire.SetLimits(wireLimits(next.Config))
	if err := s.failures.SetProxies(next.Config.TrustedProxies); err != nil { // checked when it was read
		s.o.Log.Error("trusted_proxies stay as they were", "err", err)
	}
	s.keys.Replace(next.Tokens)
	s.o.Config = next.Config
}

// drain takes no frame and begins no turn any more, tells the clients, lets running
// steps end within the grace, and cuts the rest, which stays resumable.
func (s *server) drain(front *http.Server, ended <-chan error) error {
	s.o.Log.Info("shutting down")
	ctx, done := context.WithTimeout(context.Background(), farewellTime)
	defer done()
	s.rest.Drain()
	wire := make(chan error, 1)
	go func() { wire <- s.wire.Shutdown(ctx) }()
	cut := errors.Join(s.group.Shutdown(ctx), <-wire)
	var err error
	if late := front.Shutdown(ctx); late != nil { // answers under way; who takes none is cut
		cut, err = late, front.Close()
	}
	if cut != nil { // their doing, and no failure of the server
		s.o.Log.Info("clients that took no farewell were cut off")
	}
	if ended != nil {
		err = errors.Join(err, <-ended)
	}
	s.rest.Wait()
	err = errors.Join(err, s.host.Drain(s.o.Config.Timeouts.Shutdown.Std()))
	s.closing.Wait() // behind the drain, which waits for deletions too
	return err
}
