package agentsocket

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"hitchpost/server/auth"
	"hitchpost/server/follow"
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
	call = wiretest.Ask
)

// settings of a world; zero values are the defaults of the server.
type settings struct {
	replay, queue, slots, agents int
	heartbeat                    time.Duration
	noApprovals                  bool
}

// world is a server over real sockets and a real file, with a scripted model.
type world struct {
	t      *testing.T
	set    settings
	path   string
	model  *wiretest.Script
	keys   *auth.Keyring
	store  *store.Store
	host   *turn.Host
	group  *wsconn.Group
	slots  *follow.Slots
	server *Server
	http   *httptest.Server
}

func newWorld(t *testing.T, set settings) *world {
	t.Helper()
	w := &world{t: t, set: set, path: filepath.Join(t.TempDir(), "log.db"), model: wiretest.NewScript()}
	w.keys = auth.NewKeyring([]*auth.Token{
		wiretest.Token("all", "me", nil, auth.All),
		wiretest.Token("other", "you", nil, auth.All),
		wiretest.Token("narrow", "me", []string{"narrow-*"}, auth.All),
		wiretest.Token("eye", "me", nil, auth.Watch),
		wiretest.Token("hand", "me", nil, auth.Inject),
	})
	w.start()
	t.Cleanup(w.stop)
	return w
}

func or(n, standard int) int {
	if n == 0 {
		return standard
	}
	return n
}

func (w *world) start() {
	w.t.Helper()
	var err error
	if w.store, err = store.Open(context.Background(), w.path, store.Options{Durability: store.Normal}); err != nil {
		w.t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	cfg := wiretest.Config(w.t, w.model)
	cfg.MaxAgents, cfg.Approvals = or(w.set.agents, 1000), !w.set.noApprovals
	w.host = turn.New(w.store, cfg)
	if err := w.host.Start(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	gate, err := auth.NewGate("127.0.0.1:0", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	heartbeat := w.set.heartbeat
	if heartbeat == 0 {
		heartbeat = time.Hour
	}
	w.group, w.slots = wsconn.NewGroup(heartbeat), follow.NewSlots(or(w.set.slots, 4))
	w.server = New(Options{
		Host: w.host, Keys: w.keys, Gate: gate, Group: w.group, Slots: w.slots, LogID: w.store.LogID(),
		Limits: Limits{Replay: or(w.set.replay, 10_000), Queue: or(w.set.queue, 256)}, Log: quiet,
	})
	w.http = httptest.NewServer(w.server)
}

func (w *world) stop() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	w.group.Shutdown(ctx) // a client of a test that reads nothing is cut
	w.http.Close()
	if err := w.host.Drain(0); err != nil {
		w.t.Error(err)
	}
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) restart() { w.stop(); w.start() }

func (w *world) address(agent string) string {
	return "ws" + strings.TrimPrefix(w.http.URL, "http") + "/agents/" + agent + "/ws"
}

// open returns the log of a session, which is created if it is not there.
func (w *world) open(agent string) *store.Log {
	w.t.Helper()
	a, err := w.host.Hold(context.Background(), agent, "me")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(a.Release)
	return a.Log()
}

// fill appends n events of about size bytes.
func fill(t testing.TB, log *store.Log, n, size int) {
	t.Helper()
	for n > 0 {
		tip, _ := log.Tip()
		b := store.Batch{From: tip + 1}
		for range min(n, 1000) {
			text, _ := json.Marshal(map[string]string{"text": strings.Repeat("x", size)})
			b.Events = append(b.Events, store.NewEvent{Type: "assistant/chunk", Payload: text, Streamed: true})
		}
		if _, err := log.Append(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		n -= len(b.Events)
	}
}

// lines returns the log from seq from on, as it is stored.
func lines(t testing.TB, log *store.Log, from int64) (all []string) {
	t.Helper()
	for tip, _ := log.Tip(); from <= tip; {
		page, err := log.Page(context.Background(), from)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range page.Lines {
			all = append(all, string(line))
		}
		from += int64(len(page.Lines))
	}
	return all
}

// peer is a client that reads and writes raw frames.
type peer struct {
	t  *testing.T
	ws *websocket.Conn
}

// dial connects with a secret and offers the subprotocols.
func (w *world) dial(agent, secret string, subprotocols ...string) *peer {
	w.t.Helper()
	tr := &http.Transport{DisableKeepAlives: true}
	ws, _, err := websocket.Dial(context.Background(), w.address(agent), &websocket.DialOptions{
		HTTPClient:   &http.Client{Transport: tr},
		HTTPHeader:   http.Header{"Authorization": {"Bearer " + secret}},
		Subprotocols: subprotocols,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ws.SetReadLimit(-1)
	w.t.Cleanup(func() { ws.CloseNow() })
	return &peer{w.t, ws}
}

// join connects as the owner and takes hello.
func (w *world) join(agent string) *peer {
	w.t.Helper()
	p := w.dial(agent, "secret-all")
	if first := p.next(); !strings.HasPrefix(first, `{"type":"hello",`) {
		w.t.Fatalf("the first frame is %s", first)
	}
	return p
}

func (p *peer) send(frames ...string) {
	p.t.Helper()
	for _, f := range frames {
		if err := p.ws.Write(context.Background(), websocket.MessageText, []byte(f)); err != nil {
			p.t.Fatal(err)
		}
	}
}

// next returns the next frame.
func (p *peer) next() string {
	p.t.Helper()
	text, err := p.read()
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

func (p *peer) read() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	typ, text, err := p.ws.Read(ctx)
	if err == nil && typ != websocket.MessageText {
		err = fmt.Errorf("a frame of type %v", typ)
	}
	return string(text), err
}

// event returns the next frame, which must be the event seq.
func (p *peer) event(seq int64) string {
	p.t.Helper()
	text := p.next()
	if got := seqOf(text); got != seq {
		p.t.Fatalf("want event %d, got %.200s", seq, text)
	}
	return text
}

// refusal returns the message of the next frame, which must be an error of that code.
func (p *peer) refusal(code Code) string {
	p.t.Helper()
	text := p.next()
	var e errorFrame
	if err := json.Unmarshal([]byte(text), &e); err != nil || e.Type != "error" || e.Code != code || e.Message == "" {
		p.t.Fatalf("want an error frame %s, got %.200s", code, text)
	}
	return e.Message
}

// rest returns every frame until the close, and its code.
func (p *peer) rest() (frames []string, code websocket.StatusCode) {
	p.t.Helper()
	for {
		text, err := p.read()
		if err != nil {
			return frames, websocket.CloseStatus(err)
		}
		frames = append(frames, text)
	}
}

// ended wants one last frame, an error of that code, and the close code.
func (p *peer) ended(code Code, status websocket.StatusCode) {
	p.t.Helper()
	p.refusal(code)
	if frames, got := p.rest(); len(frames) > 0 || got != status {
		p.t.Errorf("after %s: frames %q and close code %d, want none and %d", code, frames, got, status)
	}
}

// alive shows that the connection is open and that no turn runs: the answer to a
// cancel is the next frame.
func (p *peer) alive() {
	p.t.Helper()
	p.send(`{"type":"cancel"}`)
	p.refusal(CodeNotRunning)
}

// until reads events until one of the type and returns them all.
func (p *peer) until(typ string) (types []string) {
	p.t.Helper()
	for {
		text := p.next()
		var e struct{ Type string }
		json.Unmarshal([]byte(text), &e)
		types = append(types, e.Type)
		if e.Type == typ {
			return types
		}
	}
}

// seqOf returns -1 for a protocol frame.
func seqOf(text string) int64 {
	e := struct{ Seq *int64 }{}
	if err := json.Unmarshal([]byte(text), &e); err != nil || e.Seq == nil {
		return -1
	}
	return *e.Seq
}

func subscribeFrom(seq int64) string { return fmt.Sprintf(`{"type":"subscribe","from_seq":%d}`, seq) }
