package openai

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
	// maxAnswer bounds what is kept of one answer: text, reasoning and calls together.
	maxAnswer = 8 << 20
	// maxCalls bounds the calls of one answer.
	maxCalls = 1024
	// maxName bounds the name of a call, in bytes; it is compared with each piece.
	maxName = 1024
	// maxHollow bounds the events in a row that bring nothing.
	maxHollow = 100_000

	baseWait      = 500 * time.Millisecond // before the second try, doubled for each that follows
	maxWait       = 30 * time.Second
	maxRetryAfter = time.Minute // of what the provider asks for
)

// Config says how to reach a provider. BaseURL is what stands before
// /chat/completions; a query of it is kept.
type Config struct {
	BaseURL   string
	APIKey    string            // "" sends none
	Headers   map[string]string // sent with each request, after our own
	Retries   int               // tries after the first
	MaxTokens int               // answer limit sent with each request; 0 = the provider's own
	Timeouts  model.Timeouts
}

// Client is a model.Client of one provider.
type Client struct {
	cfg      Config
	endpoint *url.URL
	bad      *model.Error // why the configuration cannot work, nil if it can
	http     *http.Client
	secrets  *strings.Replacer
	wait     func(context.Context, time.Duration) error // sleep, save in tests
}

var _ model.Client = (*Client)(nil)

// New returns a client. A configuration that cannot work is told by Stream, as an
// *Error with code config_error.
func New(cfg Config) *Client {
	c := &Client{cfg: cfg, secrets: masker(cfg), wait: sleep}
	c.endpoint, c.bad = endpoint(cfg.BaseURL)
	for _, value := range append(values(cfg.Headers), cfg.APIKey) {
		if strings.ContainsFunc(value, unicode.IsControl) {
			c.bad = &model.Error{Code: event.CodeConfig, Message: "the provider's api_key, or a header's value, holds a line break or another control character"}
		}
	}
	// The transport lets a dial outlive its request, for the next one's sake; these bounds
	// end it then. The request itself has the same bound from its watchdog, a bit earlier.
	dialBound := cfg.Timeouts.Connect
	if dialBound > 0 {
		dialBound += time.Second
	}
	c.http = &http.Client{CheckRedirect: sameHost, Transport: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialBound}).DialContext,
		TLSHandshakeTimeout:    dialBound,
		MaxIdleConns:           16,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		DisableCompression:     true, // a compressed stream comes in blocks, late
		ForceAttemptHTTP2:      true,
		// A dead HTTP/2 connection would otherwise be handed to each retry again.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}}
	return c
}

// Close lets go of the idle connections. Streams under way are not touched.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func endpoint(base string) (*url.URL, *model.Error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &model.Error{Code: event.CodeConfig,
			Message: "the provider's base_url is no http or https address; give one such as https://api.example.com/v1"}
	}
	return u.JoinPath("chat/completions"), nil
}

// Stream implements model.Client.
func (c *Client) Stream(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
	if c.bad != nil {
		return model.Reply{}, c.bad
	}
	body, err := c.encode(req)
	if err != nil {
		return model.Reply{}, c.fail(&model.Error{Code: event.CodeConfig, Message: err.Error()})
	}
	for try := 1; ; try++ {
		a := newAnswer(req.Tools, emit)
		err := c.attempt(ctx, body, a)
		if err == nil {
			reply, refusal := a.reply()
			if refusal != nil {
				return model.Reply{}, c.fail(refusal)
			}
			return reply, nil
		}
		if ctx.Err() != nil {
			return model.Reply{}, context.Cause(ctx)
		}
		failure := c.fail(err)
		if a.emitted || !failure.Retryable || try > c.cfg.Retries {
			return model.Reply{}, failure
		}
		wait := backoff(try, failure.RetryAfter, rand.Float64())
		emit(model.Delta{Retry: &model.Retry{Attempt: try + 1, After: wait, Cause: failure}})
		if err := c.wait(ctx, wait); err != nil {
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
