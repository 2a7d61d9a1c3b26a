package runwire

import (
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"hitchpost/server/agentsocket"
	"hitchpost/server/auth"
	"hitchpost/server/follow"
	"hitchpost/server/sessions"
	"hitchpost/server/wiretest"
	"hitchpost/server/wsconn"
	"hitchpost/store"
	"hitchpost/turn"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// Chunks of the model that are no text.
const (
	wait = wiretest.Wait
	ask  = wiretest.Ask
	ask2 = wiretest.Ask2
	look = wiretest.Look
	fail = wiretest.Fail
)

// settings of a world; zero values are the defaults of the server.
type settings struct {
	replay, queue, slots int
	heartbeat            time.Duration
	noApprovals          bool
	narrow               bool // small socket buffers, so that a client can be behind
}

// world is a server over real sockets and a real file, with a scripted model.
type world struct {
	t      testing.TB
	set    settings
	path   string
	model  *wiretest.Script
	keys   *auth.Keyring
	store  *store.Store
	host   *turn.Host
	group  *wsconn.Group // of the agent sockets
	slots  *follow.Slots
	server *Server
	http   *httptest.Server
}

func newWorld(t testing.TB, set settings) *world {
	t.Helper()
	w := &world{t: t, set: set, path: filepath.Join(t.TempDir(), "log.db"), model: wiretest.NewScript()}
	w.keys = auth.NewKeyring(standardTokens())
	w.start()
	t.Cleanup(w.stop)
	return w
}

func standardTokens() []*auth.Token {
	return []*auth.Token{
		wiretest.Token("all", "me", nil, auth.All),
		wiretest.Token("other", "you", nil, auth.All),
		wiretest.Token("narrow", "me", []string{"narrow-*"}, auth.All),
		wiretest.Token("eye", "me", nil, auth.Watch),
		wiretest.Token("hand", "me", nil, auth.Inject),
		wiretest.Token("judge", "me", nil, auth.Watch|auth.Approve),
	}
}

func or(n, standard int) int {
	if n == 0 {
		return standard
	}
	return n
}

func (w *world) config() turn.Config {
	cfg := wiretest.Config(w.t, w.model)
	cfg.InboxTexts, cfg.Approvals = 10, !w.set.noApprovals
	return cfg
}

func (w *world) start() {
	w.t.Helper()
	w.open()
	w.serve()
}

// open opens the file, which nobody serves yet.
func (w *world) open() {
	w.t.Helper()
	var err error
	if w.store, err = store.Open(context.Background(), w.path, store.Options{Durability: store.Normal}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) serve() {
	w.t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	w.host = turn.New(w.store, w.config())
	gate, err := auth.NewGate("127.0.0.1:0", []string{"https://page.example"})
	if err != nil {
		w.t.Fatal(err)
	}
	heartbeat := w.set.heartbeat
	if heartbeat == 0 {
		heartbeat = time.Hour
	}
	failures, err := auth.NewFailures([]string{"127.0.0.1"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.slots, w.group = follow.NewSlots(or(w.set.slots, 4)), wsconn.NewGroup(heartbeat)
	w.server, err = New(context.Background(), Options{
		Store: w.store, Host: w.host, Book: &sessions.Book{Store: w.store, Host: w.host}, Keys: w.keys, Gate: gate,
		Failures: failures, Group: wsconn.NewGroup(heartbeat), Slots: w.slots,
		Limits: Limits{Replay: or(w.set.replay, 10_000), Queue: or(w.set.queue, 256)}, Log: quiet,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.host.Start(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/ws", w.server)
	mux.Handle("/agents/", agentsocket.New(agentsocket.Options{
		Host: w.host, Keys: w.keys, Gate: gate, Group: w.group, Slots: w.slots, LogID: w.store.LogID(),
		Limits: agentsocket.Limits{Replay: 10_000, Queue: 256}, Log: quiet,
	}))
	w.http = httptest.NewUnstartedServer(mux)
	if w.set.narrow {
		w.http.Listener = wiretest.Narrow{Listener: w.http.Listener}
	}
	w.http.Start()
}

func (w *world) stop() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	w.server.Shutdown(ctx) // a client of a test that reads nothing is cut
	w.group.Shutdown(ctx)
	w.http.Close()
	if err := w.host.Drain(0); err != nil {
		w.t.Error(err)
	}
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) restart() { w.stop(); w.start() }

// create makes a session of an owner.
func (w *world) create(id, owner string) {
	w.t.Helper()
	if _, err := w.host.CreateSession(context.Background(), store.Session{ID: id, Owner: owner}); err != nil {
		w.t.Fatal(err)
	}
}

// log opens the log of a session.
func (w *world) log(session string) *store.Log {
	w.t.Helper()
	log, err := w.store.OpenLog(context.Background(), session)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(log.Close)
	return log
}

// do has the test do something with an agent, as another door would.
func (w *world) do(session string, fn func(ctx context.Context, a *turn.Agent) error) {
	w.t.Helper()
	a, err := w.host.Open(context.Background(), session)
	if err != nil {
		w.t.Fatal(err)
	}
	defer a.Release()
	if err := fn(context.Background(), a); err != nil {
		w.t.Fatal(err)
	}
}

// sql runs a statement on the file, beside the server.
func (w *world) sql(statement string) {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	for range 50 {
		if _, err = db.Exec(statement); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatal(err)
}
