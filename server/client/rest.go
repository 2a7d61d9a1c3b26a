package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxAnswer bounds an answer over REST, in bytes.
const maxAnswer = 64 << 20

// REST asks a server over REST.
type REST struct {
	base, token string
	http        *http.Client
}

// NewREST returns a client for the server at base, http://… or https://….
func NewREST(base, token string) (*REST, error) {
	u, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is no address of a server; write one as http://127.0.0.1:7420", base)
	}
	u.RawQuery, u.Fragment = "", "" // a page's address carries its token there
	return &REST{base: u.JoinPath("api", "v1").String(), token: token, http: newHTTPClient()}, nil
}

// AnswerError is an answer that says no.
type AnswerError struct {
	Status  int // of HTTP
	Code    string
	Message string
}

func (e *AnswerError) Error() string { return e.Message }

// Get reads the resource at path, as "sessions", into answer.
func (r *REST) Get(ctx context.Context, path string, answer any) error {
	return r.do(ctx, http.MethodGet, path, nil, answer)
}

// Post sends body to path; answer may be nil. An *AnswerError says that the server
// refused.
func (r *REST) Post(ctx context.Context, path string, body, answer any) error {
	return r.do(ctx, http.MethodPost, path, body, answer)
}

func (r *REST) do(ctx context.Context, method, path string, body, answer any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, r.base+"/"+path, sent)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := r.http.Do(request)
	if err != nil {
		return dialError(ctx, nil, errors.Unwrap(err)) // without the address, which the caller names
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("the answer broke off: %w", err)
	}
	if response.StatusCode >= 300 {
		return refusal(response, text)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	return nil
}

func refusal(response *http.Response, text []byte) error {
	var said struct {
		Error struct{ Code, Message string }
	}
	if json.Unmarshal(text, &said) != nil || said.Error.Message == "" {
		said.Error.Message = "the server answered " + response.Status
	}
	return &AnswerError{response.StatusCode, said.Error.Code, said.Error.Message}
}
