package modeltest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"hitchpost/turn/model/httpstream"
)

// Provider is a model server on a real socket that answers by script.
type Provider struct {
	*httptest.Server
	Script   []Answer // one a request
	Bytewise bool     // a write and a flush for each byte

	mu       sync.Mutex
	requests []Request
}

// Request is a request that was asked of a Provider.
type Request struct {
	Path   string // with its query
	Header http.Header
	Body   string
}

// NewProvider starts a server that gives the answers of script, one a request.
func NewProvider(t testing.TB, script ...Answer) *Provider {
	p := &Provider{Script: script}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.requests = append(p.requests, Request{r.URL.String(), r.Header.Clone(), string(body)})
	n := len(p.requests) - 1
	var a Answer
	if n < len(p.Script) {
		a = p.Script[n]
	} else {
		a = Answer{Status: 500, Body: "the script is over"}
	}
	p.mu.Unlock()
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
	out := http.NewResponseController(w)
	step := max(1, len(a.Body))
	if p.Bytewise {
		step = 1
	}
	for b := a.Body; b != ""; b = b[min(step, len(b)):] {
		io.WriteString(w, b[:min(step, len(b))])
		out.Flush()
	}
	switch a.Ending {
	case "cut":
		out.Flush()
		panic(http.ErrAbortHandler)
	case "hang":
		out.Flush()
		<-r.Context().Done()
	}
}

// Seen is the requests so far.
func (p *Provider) Seen() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

// Key is the key of a Provider's Config.
const Key = "sk-test-0123456789"

// Config reaches the provider, with no wait between tries.
func (p *Provider) Config() httpstream.Config {
	return httpstream.Config{
		BaseURL: p.URL + "/v1", APIKey: Key,
		Timeouts: Limits,
		Sleep:    func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) },
	}
}
