package httpstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

const (
	baseWait      = 500 * time.Millisecond // before the second try, doubled for each that follows
	maxWait       = 30 * time.Second
	maxRetryAfter = time.Minute // of what the provider asks for
)

// Config says how to reach a provider.
type Config struct {
	BaseURL   string            // what stands before the wire's own path; a query of it is kept
	APIKey    string            // "" sends none
	Headers   map[string]string // sent with each request, after our own
	Retries   int               // tries after the first
	MaxTokens int               // answer limit sent with each request; 0 = the wire's default
	Timeouts  model.Timeouts

	// Seams for tests.
	Transport http.RoundTripper                          // nil: one over the network
	Sleep     func(context.Context, time.Duration) error // nil: the clock's
}

// Client sends requests to one address. It is safe for concurrent use.
type Client struct {
	cfg      Config
	header   http.Header
	endpoint *url.URL
	bad      *model.Error // why the configuration cannot work, nil if it can
	http     *http.Client
	secrets  *strings.Replacer
}

// New returns a client. path gives the address of the requests, of that of BaseURL;
// header goes with each request. A configuration that cannot work is told by Stream,
// as an *Error with code config_error.
func New(cfg Config, path func(base *url.URL) *url.URL, header http.Header) *Client {
	if cfg.Transport == nil {
		cfg.Transport = transport(cfg.Timeouts.Connect)
	}
	if cfg.Sleep == nil {
		cfg.Sleep = sleep
	}
	c := &Client{cfg: cfg, header: header, secrets: masker(cfg)}
	if base, err := url.Parse(cfg.BaseURL); err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		c.bad = &model.Error{Code: event.CodeConfig,
			Message: "the provider's base_url is no http or https address; give one such as https://api.example.com/v1"}
	} else {
		c.endpoint = path(base)
	}
	for _, value := range append(values(cfg.Headers), cfg.APIKey) {
		if strings.ContainsFunc(value, unicode.IsControl) {
			c.bad = &model.Error{Code: event.CodeConfig, Message: "the provider's api_key, or a header's value, holds a line break or another control character"}
		}
	}
	c.http = &http.Client{CheckRedirect: sameHost, Transport: cfg.Transport}
	return c
}

// transport is a transport whose connections stand within connect, 0 for no bound.
func transport(connect time.Duration) *http.Transport {
	// The transport lets a dial outlive its request, for the next one's sake; this bound
	// ends it then. The request itself has the same bound from its watchdog, a bit earlier.
	if connect > 0 {
		connect += time.Second
	}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: connect}).DialContext,
		TLSHandshakeTimeout:    connect,
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		DisableCompression:     true, // a compressed stream comes in blocks, late
		ForceAttemptHTTP2:      true,
		// A dead HTTP/2 connection would otherwise be handed to each retry again.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// Close lets go of the idle connections. Streams under way are not touched.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Host is the name of the provider's host, "" if the configuration gives none.
func (c *Client) Host() string {
	if c.endpoint == nil {
		return ""
	}
	return c.endpoint.Hostname()
}

// Stream sends body and reads the answer, into an Answer of begin for each try. The
// error is an *Error, or the context's cause.
func (c *Client) Stream(ctx context.Context, body []byte, emit func(model.Delta), begin func(emit func(model.Delta)) Answer) (model.Reply, error) {
	if c.bad != nil {
		return model.Reply{}, c.bad
	}
	emitted := false
	told := func(d model.Delta) {
		emitted = true
		emit(d)
	}
	for try := 1; ; try++ {
		a := begin(told)
		err := c.attempt(ctx, body, a)
		if err == nil {
			reply, refusal := a.Reply()
			if refusal != nil {
				return model.Reply{}, c.fail(refusal)
			}
			return reply, nil
		}
		if ctx.Err() != nil {
			return model.Reply{}, context.Cause(ctx)
		}
		failure := c.fail(err)
		if emitted || !failure.Retryable || try > c.cfg.Retries {
			return model.Reply{}, failure
		}
		wait := backoff(try, failure.RetryAfter, rand.Float64())
		emit(model.Delta{Retry: &model.Retry{Attempt: try + 1, After: wait, Cause: failure}})
		if err := c.cfg.Sleep(ctx, wait); err != nil {
			return model.Reply{}, err
		}
	}
}

// backoff is the wait after the try with the given number, from 1. chance is in [0, 1):
// clients that failed together must not come back together.
func backoff(try int, retryAfter time.Duration, chance float64) time.Duration {
	wait := min(baseWait<<min(try-1, 16), maxWait)
	wait = wait/2 + time.Duration(chance*float64(wait/2))
	if retryAfter > 0 {
		wait = min(retryAfter, maxRetryAfter) + time.Duration(chance*float64(baseWait))
	}
	return wait
}

// sleep waits, or returns the cause of ctx as soon as it ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fail makes any failure an *Error that names no secret.
func (c *Client) fail(err error) *model.Error {
	var e *model.Error
	if !errors.As(err, &e) {
		e = unreachable(err)
	}
	clean := *e
	clean.Message = shorten(c.secrets.Replace(clean.Message))
	return &clean
}
