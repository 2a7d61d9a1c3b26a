package runwire

import (
	"context"
	"database/sql"
	"encoding/json"
	"log/slog"
	"net"
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
	"hitchpost/server/wsconn"
	"hitchpost/store"
	"hitchpost/turn"
	"hitchpost/turn/model"
	"hitchpost/turn/tool"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

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
	model  *script
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
	w := &world{t: t, set: set, path: filepath.Join(t.TempDir(), "log.db"), model: newScript()}
	w.keys = auth.NewKeyring(standardTokens())
	w.start()
	t.Cleanup(w.stop)
	return w
}

func standardTokens() []*auth.Token {
	return []*auth.Token{
		token("all", "secret-all", "me", nil, auth.All),
		token("other", "secret-other", "you", nil, auth.All),
		token("narrow", "secret-narrow", "me", []string{"narrow-*"}, auth.All),
		token("eye", "secret-eye", "me", nil, auth.Watch),
		token("hand", "secret-hand", "me", nil, auth.Inject),
		token("judge", "secret-judge", "me", nil, auth.Watch|auth.Approve),
	}
}

func token(name, secret, owner string, agents []string, allow auth.Verbs) *auth.Token {
	return auth.NewToken(name, owner, auth.DigestOf(secret), agents, allow)
}

func or(n, standard int) int {
	if n == 0 {
		return standard
	}
	return n
}

func (w *world) config() turn.Config {
	tools, err := tool.NewSet([]tool.Tool{
		{
			Name: "ask", Approval: tool.Always, Schema: json.RawMessage(`{"type":"object"}`),
			Run: func(context.Context, tool.Call) tool.Result { return tool.Text("done") },
		},
		{
			Name: "look", Approval: tool.Never, Schema: json.RawMessage(`{"type":"object"}`),
			Run: func(context.Context, tool.Call) tool.Result { return tool.Text("seen") },
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	main := map[string]string{turn.RoleMain: "demo/one"}
	return turn.Config{
		Agents: map[string]turn.Definition{
			turn.DefaultAgent: {Policy: []string{"*"}, Models: main},
			"second":          {Policy: []string{"*"}, Models: main},
			"broken":          {Policy: []string{"*"}},
		},
		Providers: map[string]model.Client{"demo": w.model},
		Tools:     func() *tool.Set { return tools }, MaxSteps: 25, MaxAgents: 10_000, InboxTexts: 10, InboxBytes: 8 << 20,
		Approvals: !w.set.noApprovals, ToolTimeout: time.Minute, ResultLimit: 1 << 18, Log: slog.New(slog.DiscardHandler),
	}
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
		w.http.Listener = narrow{w.http.Listener}
	}
	w.http.Start()
}

// narrow gives what it accepts a small buffer to write to.
type narrow struct{ net.Listener }

func (n narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetWriteBuffer(128 << 10) // less than two packets of a loopback waits for each delayed ACK
	}
	return c, err
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

// script is a model that answers a list, one entry a request, or as answer says. Each
// entry's chunks are sent, with a wait for the test's word before the ones that say so.
type script struct {
	replies chan []string
	answer  func(model.Request) []string // nil: the list
	reached chan struct{}                // a wait was reached
	resume  chan struct{}                // and may end
}

// Chunks that are no text: a wait for the test's word, calls of tools.
const (
	wait = "\x00wait"
	ask  = "\x00ask"  // c1, asks
	ask2 = "\x00ask2" // c2, asks
	look = "\x00look"
	fail = "\x00fail"
)

func newScript() *script {
	return &script{replies: make(chan []string, 1000), reached: make(chan struct{}, 1000), resume: make(chan struct{})}
}

func (s *script) Stream(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
	chunks := []string{"ok"}
	if s.answer != nil {
		chunks = s.answer(req)
	}
	select {
	case chunks = <-s.replies:
	default:
	}
	reply := model.Reply{Stop: "stop"}
	for _, chunk := range chunks {
		switch chunk {
		case wait:
			s.reached <- struct{}{}
			select {
			case <-s.resume:
			case <-ctx.Done():
				return reply, context.Cause(ctx)
			}
		case ask:
			reply.Calls = append(reply.Calls, model.Call{ID: "c1", Name: "ask", Args: json.RawMessage(`{"n":1.0}`)})
		case ask2:
			reply.Calls = append(reply.Calls, model.Call{ID: "c2", Name: "ask", Args: json.RawMessage(`{"n":2.0}`)})
		case look:
			reply.Calls = append(reply.Calls, model.Call{ID: "l1", Name: "look", Args: json.RawMessage(`{}`)})
		case fail:
			return reply, &model.Error{Code: "provider_error", Message: "the provider is down"}
		default:
			reply.Text += chunk
			emit(model.Delta{Text: chunk})
		}
	}
	return reply, ctx.Err()
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
