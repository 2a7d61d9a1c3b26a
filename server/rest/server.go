package rest

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hitchpost/server/auth"
	"hitchpost/server/follow"
	"hitchpost/server/sessions"
	"hitchpost/store"
	"hitchpost/turn"
)

// Options is what a Server is made of. The slots, the keyring and the count of failures
// are shared with the other wires.
type Options struct {
	Store     *store.Store
	Host      *turn.Host
	Keys      *auth.Keyring
	Gate      *auth.Gate
	Failures  *auth.Failures
	Slots     *follow.Slots
	Heartbeat time.Duration // between two comments on a stream
	Log       *slog.Logger
}

// Server is the handler of everything under /api/v1. Drain and Wait end it.
type Server struct {
	Options
	book     *sessions.Book
	mux      *http.ServeMux
	resource map[string]*resource // by the pattern of its path
	document schema               // OpenAPI

	attached attachments
	unwatch  func()
	ctx      context.Context // ends with Drain
	end      context.CancelCauseFunc

	answered [6]atomic.Int64 // requests, by the hundred of their status

	mu       sync.Mutex
	draining bool
	live     sync.WaitGroup // requests under way
}

// resource is the routes of one path, by method.
type resource struct {
	byMethod map[string]*route
	allow    string // the header Allow
}

// New returns a Server.
func New(o Options) *Server {
	s := &Server{
		Options: o, book: &sessions.Book{Store: o.Store, Host: o.Host},
		mux: http.NewServeMux(), resource: map[string]*resource{},
		attached: attachments{bySession: map[string]map[*attachment]struct{}{}},
	}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	s.unwatch = o.Host.Watch(func(c turn.Change) {
		switch {
		case c.Deleted:
			s.attached.drop(c.Session)
		case c.StatusChanged:
			s.attached.stir(c.Session)
		}
	})
	all := routes()
	s.document = document(all)
	for _, r := range all {
		at := s.resource[Base+r.path]
		if at == nil {
			at = &resource{byMethod: map[string]*route{}}
			s.resource[Base+r.path] = at
			s.mux.Handle(Base+r.path, http.NotFoundHandler()) // it is asked for its pattern alone
		}
		at.byMethod[r.method] = &r
	}
	for _, at := range s.resource {
		methods := []string{http.MethodOptions}
		for method := range at.byMethod {
			methods = append(methods, method)
			if method == http.MethodGet {
				methods = append(methods, http.MethodHead)
			}
		}
		slices.Sort(methods)
		at.allow = strings.Join(methods, ", ")
	}
	return s
}

// call is one request on its way through.
type call struct {
	server *Server
	route  *route
	w      *writer
	r      *http.Request
	ctx    context.Context // ends with the client, and with the server
	token  *auth.Token
	addr   netip.Addr
}

// ServeHTTP takes a request under /api/v1.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, give := context.WithCancelCause(r.Context())
	defer give(nil)
	c := &call{server: s, route: &route{}, w: newWriter(w), r: r, ctx: ctx, addr: s.Failures.Address(r)}
	leave, ok := s.enter()
	if !ok {
		c.refuse(errDraining)
		return
	}
	defer leave()
	defer func() { s.answered[c.w.status/100%len(s.answered)].Add(1) }()
	defer context.AfterFunc(s.ctx, func() { give(context.Cause(s.ctx)) })()
	if err := c.carryOut(); err != nil {
		c.refuse(err)
	}
}

// carryOut goes the way of every request: the page it comes from, who asks, what for,
// and whether they may.
func (c *call) carryOut() error {
	if err := c.server.Gate.Check(c.r); err != nil {
		return refuse(http.StatusForbidden, "%v", err)
	}
	at := c.server.find(c.r)
	if at != nil && c.r.Method == http.MethodOptions { // a browser asks it without a token, and learns what the document says
		c.w.Header().Set("Allow", at.allow)
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err := c.authenticate(); err != nil {
		return err
	}
	if at == nil {
		return refuse(http.StatusNotFound, "no such resource; GET %s/openapi.json lists them", Base)
	}
	method := c.r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if c.route = at.byMethod[method]; c.route == nil {
		c.route = &route{}
		c.w.Header().Set("Allow", at.allow)
		return refuse(http.StatusMethodNotAllowed, "this resource takes %s", at.allow)
	}
	if !c.token.May(c.route.verbs) {
		return refuse(http.StatusForbidden, "this token may not %s", c.route.verbs)
	}
	if !c.token.Reaches(c.r.PathValue("session")) && c.r.PathValue("session") != "" {
		return sessions.ErrAbsent // before anything is looked up, and with the same answer
	}
	return c.route.serve(c)
}

// find returns the resource of a request, nil for none, and sets its path values.
func (s *Server) find(r *http.Request) *resource {
	written := r.URL.EscapedPath()
	if path.Clean(written) != written { // ServeMux would mend it by a redirect; it names nothing
		return nil
	}
	_, pattern := s.mux.Handler(r)
	at := s.resource[pattern]
	if at == nil {
		return nil
	}
	names, values := strings.Split(pattern, "/"), strings.Split(written, "/")
	for i, name := range names {
		if name, ok := strings.CutPrefix(name, "{"); ok {
			value, err := url.PathUnescape(values[i])
			if err != nil {
				return nil
			}
			r.SetPathValue(strings.TrimSuffix(name, "}"), value)
		}
	}
	return at
}

// authenticate finds the token. A right one always passes; wrong ones are heard ten times
// a minute from one address.
func (c *call) authenticate() error {
	secret := ""
	if len(c.r.Header.Values("Authorization")) > 0 { // a socket's other way to send one is none here
		secret = auth.Secret(c.r)
	}
	if token, ok := c.server.Keys.Lookup(secret); ok {
		c.token = token
		return nil
	}
	c.w.Header().Set("WWW-Authenticate", `Bearer realm="hitchpost"`)
	if secret == "" { // nothing was tried
		return refuse(http.StatusUnauthorized, "a token is missing; send it as Authorization: Bearer")
	}
	if !c.server.Failures.Allow(c.addr) {
		c.w.Header().Set("Retry-After", "60")
		return refuse(http.StatusTooManyRequests, "more than %d wrong tokens within a minute from %s; a right one passes still", auth.FailuresAMinute, c.addr)
	}
	c.server.Failures.Failed(c.addr)
	return refuse(http.StatusUnauthorized, "the token is wrong")
}

// refuse answers with an error, unless an answer has begun: then it is cut short, so
// that nobody takes it for whole.
func (c *call) refuse(err error) {
	r := c.refusalOf(err)
	if c.w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	if r.status == http.StatusServiceUnavailable {
		c.w.Header().Set("Retry-After", "5")
	}
	c.encode(r.status, problem(r))
}

// answer encodes a body as JSON.
func (c *call) answer(status int, body any) error {
	c.encode(status, body)
	return nil
}

func (c *call) encode(status int, body any) {
	text, err := marshal(body)
	if err != nil { // a fault in the program
		c.server.Log.Error("answer cannot be encoded", "route", c.route.path, "err", err)
		status, text = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer could not be written as JSON"}}`)
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	c.w.WriteHeader(status)
	_, _ = c.w.Write(text) // a client that is gone is told nothing
}

// done answers with a status alone.
func (c *call) done(status int) error {
	c.w.WriteHeader(status)
	return nil
}

// enter counts a request, until leave. ok is false once Drain has begun.
func (s *Server) enter() (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return nil, false
	}
	s.live.Add(1)
	return s.live.Done, true
}

// Drain takes no request any more and ends those that wait and every stream.
func (s *Server) Drain() {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	s.end(errDraining)
	s.unwatch()
}

// Draining tells whether Drain has begun.
func (s *Server) Draining() bool { return s.ctx.Err() != nil }

// Attached is how many streams and waiting requests there are now.
func (s *Server) Attached() int64 { return int64(s.attached.count()) }

// Answered is how many requests were answered with a status of that hundred, 2 to 5.
func (s *Server) Answered(hundred int) int64 { return s.answered[hundred].Load() }

// Wait returns when the last request has ended.
func (s *Server) Wait() { s.live.Wait() }
