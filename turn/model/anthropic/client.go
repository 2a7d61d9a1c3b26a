package anthropic

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"hitchpost/turn/model"
	"hitchpost/turn/model/httpstream"
)

const (
	version = "2023-06-01" // of the wire

	// defaultMaxTokens is the answer limit without MaxTokens: the wire asks for one.
	defaultMaxTokens = 8192
)

// Config says how to reach a provider. BaseURL is what stands before /v1/messages, with
// or without the /v1; without MaxTokens the limit is 8192.
type Config = httpstream.Config

// Client is a model.Client of one provider.
type Client struct {
	http      *httpstream.Client
	maxTokens int
}

var _ model.Client = (*Client)(nil)

// New returns a client. A configuration that cannot work is told by Stream, as an
// *Error with code config_error.
func New(cfg Config) *Client {
	header := http.Header{"Anthropic-Version": {version}}
	if cfg.APIKey != "" {
		header.Set("X-Api-Key", cfg.APIKey)
	}
	c := &Client{http: httpstream.New(cfg, endpoint, header), maxTokens: cfg.MaxTokens}
	if c.maxTokens == 0 {
		c.maxTokens = defaultMaxTokens
	}
	return c
}

func endpoint(base *url.URL) *url.URL {
	if strings.HasSuffix(strings.TrimRight(base.Path, "/"), "/v1") {
		return base.JoinPath("messages")
	}
	return base.JoinPath("v1/messages")
}

// Close lets go of the idle connections. Streams under way are not touched.
func (c *Client) Close() { c.http.Close() }

// Stream implements model.Client.
func (c *Client) Stream(ctx context.Context, req model.Request, emit func(model.Delta)) (model.Reply, error) {
	body, err := c.encode(req)
	if err != nil {
		return model.Reply{}, err
	}
	return c.http.Stream(ctx, body, emit, func(emit func(model.Delta)) httpstream.Answer {
		return newAnswer(req.Tools, emit)
	})
}
