package rest

import (
	"context"
	"encoding/json"
	"fmt"
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
	"hitchpost/server/wiretest"
	"hitchpost/store"
	"hitchpost/turn"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// Chunks of the model that are no text.
const (
	pause = wiretest.Wait
	asks  = wiretest.Ask
	fails = wiretest.Fail
)

// newModel returns a model that tells what it used.
func newModel() *wiretest.Script {
	m, used := wiretest.NewScript(), int64(7)
	m.Usage = &event.Usage{PromptTokens: &used, CompletionTokens: &used}
	m.Failure = &model.Error{Code: event.CodeModelRefusal, Message: "it does not want to"}
	return m
}

// settings of a world; zero values are the defaults of the server.
type settings struct {
	agents    int
	heartbeat time.Duration
	inbox     int  // texts
	narrow    bool // small socket buffers, so that a reader can be behind
}

// world is a server over real HTTP and a real file, with a scripted model.
type world struct {
	t      *testing.T
	set    settings
	path   string
	model  *wiretest.Script
	keys   *auth.Keyring
	store  *store.Store
	host   *turn.Host
	server *Server
	http   *httptest.Server
	client *http.Client
}

// The tokens of a world; the secret of each is "secret-" and its name.
func tokens() []*auth.Token {
	return []*auth.Token{
		wiretest.Token("all", "me", nil, auth.All),
		wiretest.Token("other", "you", nil, auth.All),
		wiretest.Token("narrow", "me", []string{"narrow-*"}, auth.All),
		wiretest.Token("eye", "me", nil, auth.Watch),
		wiretest.Token("hand", "me", nil, auth.Inject),
		wiretest.Token("judge", "me", nil, auth.Approve),
	}
}

func newWorld(t *testing.T, set settings) *world {
	t.Helper()
	w := &world{t: t, set: set, path: filepath.Join(t.TempDir(), "log.db"), model: newModel(), keys: auth.NewKeyring(tokens())}
	w.start()
	t.Cleanup(w.stop)
	return w
}

func or[T comparable](x, standard T) T {
	var zero T
	if x == zero {
		return standard
	}
	return x
}

func (w *world) start() {
	w.t.Helper()
	var err error
	if w.store, err = store.Open(context.Background(), w.path, store.Options{Durability: store.Normal, SearchText: event.SearchText}); err != nil {
		w.t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	cfg := wiretest.Config(w.t, w.model)
	cfg.MaxAgents, cfg.InboxTexts = or(w.set.agents, 1000), or(w.set.inbox, 1000)
	w.host = turn.New(w.store, cfg)
	if err := w.host.Start(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	gate, err := auth.NewGate("127.0.0.1:0", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	failures, err := auth.NewFailures(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.server = New(Options{
		Store: w.store, Host: w.host, Keys: w.keys, Gate: gate, Failures: failures, Slots: follow.NewSlots(4),
		Heartbeat: or(w.set.heartbeat, time.Hour), Log: quiet,
	})
	w.http = httptest.NewUnstartedServer(recorder(w.server))
	if w.set.narrow {
		w.http.Listener = wiretest.Narrow{Listener: w.http.Listener}
	}
	w.http.Start()
	w.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
}

func (w *world) stop() {
	w.t.Helper()
	w.client.CloseIdleConnections()
	w.server.Drain()
	w.http.Close()
	w.server.Wait()
	if err := w.host.Drain(0); err != nil {
		w.t.Error(err)
	}
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) restart() { w.stop(); w.start() }

// reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// as asks with the token of that name; further arguments are headers, name and value.
func (w *world) as(token, method, path, body string, headers ...string) reply {
	w.t.Helper()
	resp := w.open(context.Background(), token, method, path, body, headers...)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(text)}
}

// open asks and returns when the header has come.
func (w *world) open(ctx context.Context, token, method, path, body string, headers ...string) *http.Response {
	w.t.Helper()
	resp, err := w.try(ctx, token, method, path, body, headers...)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp
}

func (w *world) try(ctx context.Context, token, method, path, body string, headers ...string) (*http.Response, error) {
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, w.http.URL+Base+path, in)
	if err != nil {
		return nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer secret-"+token)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return w.client.Do(r)
}

// ask asks as the owner and wants that status.
func (w *world) ask(status int, method, path, body string, headers ...string) reply {
	w.t.Helper()
	got := w.as("all", method, path, body, headers...)
	got.want(w.t, status)
	return got
}

func (r reply) want(t *testing.T, status int) {
	t.Helper()
	if r.status != status {
		t.Fatalf("answered %d, want %d: %.300s", r.status, status, r.body)
	}
}

// refused wants a refusal of that status, with its code and a message that holds the words.
func (r reply) refused(t *testing.T, status int, words string) {
	t.Helper()
	var e struct {
		Error struct{ Code, Message string }
	}
	if r.status != status || json.Unmarshal([]byte(r.body), &e) != nil || e.Error.Code != string(codes[status]) || e.Error.Message == "" {
		t.Errorf("answered %d %.300s, want a refusal %d", r.status, r.body, status)
		return
	}
	if !strings.Contains(e.Error.Message, words) {
		t.Errorf("refused with %q, want something about %q", e.Error.Message, words)
	}
	if got := r.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("the refusal is %q", got)
	}
}

func parse[T any](t *testing.T, r reply) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatalf("%.300s: %v", r.body, err)
	}
	return v
}

// session makes a session.
func (w *world) session(id string) string {
	w.t.Helper()
	w.ask(http.StatusCreated, "POST", "/sessions", fmt.Sprintf(`{"id":%q}`, id))
	return id
}

// run starts a run and returns its id. What the model answers it with is to be scripted before.
func (w *world) run(session, input string) string {
	w.t.Helper()
	r := w.ask(http.StatusCreated, "POST", "/sessions/"+session+"/runs", fmt.Sprintf(`{"input":%q}`, input))
	return parse[struct {
		RunID string `json:"run_id"`
	}](w.t, r).RunID
}

// outcome waits for the end of what a run does, and returns the answer.
func (w *world) outcome(session, input string, chunks ...string) reply {
	w.t.Helper()
	w.model.Answers(chunks...)
	return w.as("all", "POST", "/sessions/"+session+"/runs", fmt.Sprintf(`{"input":%q}`, input), "Prefer", "wait=60")
}

// parked is a run of a new session with a call that waits for a verdict.
func (w *world) parked(session string) (run string) {
	w.t.Helper()
	w.session(session)
	r := w.outcome(session, "go", asks)
	r.want(w.t, http.StatusOK)
	return parse[struct {
		RunID string `json:"run_id"`
	}](w.t, r).RunID
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

// types are those of the structural events of a session.
func (w *world) types(session string) (all []event.Type) {
	w.t.Helper()
	log := w.log(session)
	tip, _ := log.Tip()
	events, err := log.Structural(context.Background(), 0, tip)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, ev := range events {
		all = append(all, event.Type(ev.Type))
	}
	return all
}
