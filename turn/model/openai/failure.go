package openai

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

const (
	maxErrorBody = 64 << 10 // bytes read of an answer that reports an error
	maxMessage   = 600      // bytes of an error's message
)

// truncated is an answer that ended before it was complete.
func truncated(message string) *model.Error {
	return &model.Error{Code: event.CodeProvider, Message: message, Retryable: true}
}

// late is an answer that did not come in time.
func late(what string, limit time.Duration) *model.Error {
	return truncated(fmt.Sprintf("%s within %v", what, limit))
}

func tooLong() *model.Error {
	return &model.Error{Code: event.CodeProvider, Message: fmt.Sprintf("the provider's answer is longer than %d MiB", maxAnswer>>20)}
}

func malformed(err error) *model.Error {
	return &model.Error{Code: event.CodeProvider, Message: "the provider sent what is no JSON object: " + err.Error()}
}

func notAModel() *model.Error {
	return &model.Error{Code: event.CodeProvider, Status: http.StatusOK,
		Message: "the provider answered with an HTML page instead of a model's answer; is base_url right?"}
}

// unreachable is a request that got no answer. The address in a *url.Error is left
// out: its query may hold a secret.
func unreachable(err error) *model.Error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	e := truncated("the provider cannot be reached: " + err.Error())
	var cert *tls.CertificateVerificationError
	e.Retryable = !errors.As(err, &cert)
	return e
}

// complaint is an error as a provider words it.
type complaint struct {
	message, code, kind string
	status              int
}

// complaintOf reads an error that is a string, an object, or an object in an object.
func complaintOf(raw json.RawMessage) (complaint, bool) {
	switch string(raw) {
	case "", "null", "false", `""`:
		return complaint{}, false
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return complaint{message: s}, true
	}
	var o struct {
		Message, Detail, Code, Type, Status, Error json.RawMessage
		Metadata                                   struct{ Raw json.RawMessage }
	}
	if err := json.Unmarshal(raw, &o); err != nil && o.Message == nil {
		return complaint{message: string(raw)}, true
	}
	if inner, ok := complaintOf(o.Error); ok && o.Message == nil {
		return inner, true
	}
	c := complaint{message: plain(o.Message), code: plain(o.Code), kind: plain(o.Type)}
	if c.message == "" {
		c.message = plain(o.Detail)
	}
	if upstream := plain(o.Metadata.Raw); upstream != "" {
		c.message += ": " + upstream // a router's own message only says that there was one
	}
	for _, number := range []string{c.code, plain(o.Status)} {
		if n, err := strconv.Atoi(number); err == nil && n >= 400 && n < 600 && c.status == 0 {
			c.status = n // other numbers are a provider's own
		}
	}
	if c.message == "" {
		c.message = string(raw)
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

// reported makes an *Error of a complaint that came inside an answer.
func (c complaint) reported() *model.Error {
	intro := "the provider reported an error"
	if c.status > 0 {
		intro = fmt.Sprintf("the provider reported error %d", c.status)
	}
	return c.failure(intro)
}

// complaintIn finds the error of a chunk, also one that stands in for the chunk.
func complaintIn(name string, c *chunk, data []byte) (complaint, bool) {
	if found, ok := complaintOf(c.Error); ok {
		return found, true
	}
	alone := c.Choices == nil && (len(c.Message) > 0 || len(c.Detail) > 0)
	if alone || name == "error" {
		return complaintOf(data)
	}
	return complaint{}, false
}

// statusError makes an error of a status that is not 200.
func statusError(resp *http.Response, body []byte) *model.Error {
	c := complaint{status: resp.StatusCode}
	body = unlisted(bytes.TrimSpace(body))
	switch {
	case json.Valid(body):
		c, _ = complaintOf(body)
		c.status = resp.StatusCode
	case bytes.HasPrefix(body, []byte("<")):
		c.message = "(an HTML page)"
	default:
		c.message = string(body)
	}
	if resp.StatusCode/100 == 3 {
		return redirected(resp)
	}
	e := c.failure(fmt.Sprintf("the provider answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
	e.Status = resp.StatusCode
	e.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), time.Now())
	return e
}

// unlisted takes an answer out of the list that some wrap their errors in.
func unlisted(raw []byte) []byte {
	var many []json.RawMessage
	if json.Unmarshal(raw, &many) == nil && len(many) > 0 {
		return many[0]
	}
	return raw
}

// redirected names where the redirect that was not followed leads, without its query.
func redirected(resp *http.Response) *model.Error {
	where := "another address"
	if u, err := resp.Location(); err == nil {
		where = u.Scheme + "://" + u.Host + u.EscapedPath()
	}
	return &model.Error{Code: event.CodeConfig, Status: resp.StatusCode, Message: fmt.Sprintf(
		"the provider answered %d with a redirect to %s, which is not followed, as the request and its key belong to base_url; set base_url to the address meant", resp.StatusCode, where)}
}

// failure makes an *Error of what the provider said.
func (c complaint) failure(intro string) *model.Error {
	e := &model.Error{Code: event.CodeProvider, Status: c.status, Message: intro}
	if c.message != "" {
		e.Message += ": " + c.message
	}
	if word := cmp.Or(c.code, c.kind); !strings.Contains(e.Message, word) {
		e.Message += " (" + word + ")"
	}
	label := strings.ToLower(c.code + " " + c.kind)
	switch {
	case containsAny(label, "insufficient_quota", "billing"):
		// reported as a 429, but no wait mends it
	case c.status == http.StatusTooManyRequests || containsAny(label, "rate_limit"):
		e.Retryable = c.status != http.StatusRequestEntityTooLarge
	case containsAny(label, overflowCodes...) || containsAny(strings.ToLower(c.message), overflowWords...):
		e.Code = event.CodeContextOverflow
	case containsAny(label, "content_filter", "content_policy"):
		e.Code = event.CodeModelRefusal
	case c.status >= 500:
		e.Retryable = c.status != http.StatusNotImplemented && c.status != http.StatusHTTPVersionNotSupported
	default:
		e.Retryable = c.status == http.StatusRequestTimeout || containsAny(label, passingCodes...)
	}
	if c.status == http.StatusRequestEntityTooLarge {
		e.Code = event.CodeContextOverflow
	}
	return e
}

// How servers say that a request is longer than the model's window: by code, and in
// words. The words are never looked for in a rate limit, which speaks of tokens too.
var (
	overflowCodes = []string{"context_length_exceeded", "exceed_context_size", "context_window_exceeded", "model_max_prompt_tokens_exceeded"}
	overflowWords = []string{
		"maximum context length", "context window", "context length", "context size",
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

// retryAfter reads seconds or a date; 0 for neither, or for what is past.
func retryAfter(value string, now time.Time) time.Duration {
	if s, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
		return time.Duration(max(0, min(s, maxRetryAfter.Seconds())) * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// masker replaces the key and the header values, which providers like to quote.
func masker(cfg Config) *strings.Replacer {
	var pairs []string
	for _, secret := range append([]string{cfg.APIKey}, values(cfg.Headers)...) {
		if len(secret) >= 4 { // shorter ones would only take common words apart
			pairs = append(pairs, secret, "[secret]")
		}
	}
	return strings.NewReplacer(pairs...)
}

func values(m map[string]string) []string {
	var out []string
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// shorten makes one line of valid UTF-8 of at most maxMessage bytes.
func shorten(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if len(s) <= maxMessage {
		return s
	}
	cut := maxMessage - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// sameHost refuses redirects that would take the key elsewhere, and those that would
// turn the request into another one. The answer is then the redirect itself.
func sameHost(req *http.Request, via []*http.Request) error {
	from := via[0]
	if len(via) > 5 || req.Method != from.Method || req.URL.Host != from.URL.Host || from.URL.Scheme == "https" && req.URL.Scheme != "https" {
		return http.ErrUseLastResponse
	}
	return nil
}
