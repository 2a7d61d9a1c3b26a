package httpstream

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// Complaint is an error as a provider words it.
type Complaint struct {
	Message, Code, Kind string
	Status              int // as HTTP has them, 0 without one
}

// ComplaintOf reads an error that is a string, an object, or an object in an object.
func ComplaintOf(raw json.RawMessage) (Complaint, bool) {
	switch string(raw) {
	case "", "null", "false", `""`:
		return Complaint{}, false
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return Complaint{Message: s}, true
	}
	var o struct {
		Message, Detail, Code, Type, Status, Error json.RawMessage
		Metadata                                   struct{ Raw json.RawMessage }
	}
	if err := json.Unmarshal(raw, &o); err != nil && o.Message == nil {
		return Complaint{Message: string(raw)}, true
	}
	if inner, ok := ComplaintOf(o.Error); ok && o.Message == nil {
		return inner, true
	}
	c := Complaint{Message: plain(o.Message), Code: plain(o.Code), Kind: plain(o.Type)}
	if c.Message == "" {
		c.Message = plain(o.Detail)
	}
	if upstream := plain(o.Metadata.Raw); upstream != "" {
		c.Message += ": " + upstream // a router's own message only says that there was one
	}
	for _, number := range []string{c.Code, plain(o.Status)} {
		if n, err := strconv.Atoi(number); err == nil && n >= 400 && n < 600 && c.Status == 0 {
			c.Status = n // other numbers are a provider's own
		}
	}
	if c.Message == "" {
		c.Message = string(raw)
	}
	return c, true
}

// plain is a JSON string's text, or the JSON of anything else, "" for null.
func plain(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// Reported makes an *Error of a complaint that came inside an answer.
func (c Complaint) Reported() *model.Error {
	intro := "the provider reported an error"
	if c.Status > 0 {
		intro = fmt.Sprintf("the provider reported error %d", c.Status)
	}
	return c.Failure(intro)
}

// Failure makes an *Error of what the provider said.
func (c Complaint) Failure(intro string) *model.Error {
	e := &model.Error{Code: event.CodeProvider, Status: c.Status, Message: intro}
	if c.Message != "" {
		e.Message += ": " + c.Message
	}
	if word := cmp.Or(c.Code, c.Kind); !strings.Contains(e.Message, word) {
		e.Message += " (" + word + ")"
	}
	label := strings.ToLower(c.Code + " " + c.Kind)
	switch {
	case containsAny(label, "insufficient_quota", "billing"):
		// reported as a 429, but no wait mends it
	case c.Status == http.StatusTooManyRequests || containsAny(label, "rate_limit"):
		e.Retryable = c.Status != http.StatusRequestEntityTooLarge
	case containsAny(label, overflowCodes...) || containsAny(strings.ToLower(c.Message), overflowWords...):
		e.Code = event.CodeContextOverflow
	case containsAny(label, "content_filter", "content_policy"):
		e.Code = event.CodeModelRefusal
	case c.Status >= 500:
		e.Retryable = c.Status != http.StatusNotImplemented && c.Status != http.StatusHTTPVersionNotSupported
	default:
		e.Retryable = c.Status == http.StatusRequestTimeout || containsAny(label, passingCodes...)
	}
	if c.Status == http.StatusRequestEntityTooLarge {
		e.Code = event.CodeContextOverflow
	}
	return e
}

// How servers say that a request is longer than the model's window: by code, and in
// words. The words are never looked for in a rate limit, which speaks of tokens too.
var (
	overflowCodes = []string{"context_length_exceeded", "exceed_context_size", "context_window_exceeded", "model_max_prompt_tokens_exceeded", "request_too_large"}
	overflowWords = []string{
		"maximum context length", "context window", "context length", "context size", "context limit",
		"prompt is too long", "prompt too long", "input is too long", "input length exceeds",
		"reduce the length of the messages", "maximum prompt length", "exceeds the maximum number of tokens", "input token count",
	}
	passingCodes = []string{"overloaded", "server_error", "internal_error", "api_error", "unavailable", "timeout", "timed_out"}
)

func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
