package openai

import (
	"context"
	"net/http"
	"net/url"

	"hitchpost/turn/model"
	"hitchpost/turn/model/httpstream"
)

// Config says how to reach a provider. BaseURL is what stands before /chat/completions;
// without MaxTokens the limit is the provider's own.
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
	header := http.Header{}
	if cfg.APIKey != "" {
		header.Set("Authorization", "Bearer "+cfg.APIKey)
	}
	path := func(base *url.URL) *url.URL { return base.JoinPath("chat/completions") }
	return &Client{http: httpstream.New(cfg, path, header), maxTokens: cfg.MaxTokens}
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
