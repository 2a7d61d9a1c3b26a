package httpstream

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// MaxMessage bounds an error's message, in bytes.
const MaxMessage = 600

// maxErrorBody bounds what is read of an answer that reports an error, in bytes.
const maxErrorBody = 64 << 10

// Truncated is an answer that ended before it was complete.
func Truncated(message string) *model.Error {
	return &model.Error{Code: event.CodeProvider, Message: message, Retryable: true}
}

// late is an answer that did not come in time.
func late(what string, limit time.Duration) *model.Error {
	return Truncated(fmt.Sprintf("%s within %v", what, limit))
}

func tooLong() *model.Error {
	return &model.Error{Code: event.CodeProvider, Message: fmt.Sprintf("the provider's answer is longer than %d MiB", maxAnswer>>20)}
}

// Malformed is an event that is no JSON object.
func Malformed(err error) *model.Error {
	return &model.Error{Code: event.CodeProvider, Message: "the provider sent what is no JSON object: " + err.Error()}
}

func hollowError() *model.Error {
	return &model.Error{Code: event.CodeProvider, Message: fmt.Sprintf("the provider sent %d events in a row with nothing in them", maxHollow)}
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
	e := Truncated("the provider cannot be reached: " + err.Error())
	var cert *tls.CertificateVerificationError
	e.Retryable = !errors.As(err, &cert)
	return e
}

// statusError makes an error of a status that is not 200.
func statusError(resp *http.Response, body []byte) *model.Error {
	c := Complaint{Status: resp.StatusCode}
	body = unlisted(bytes.TrimSpace(body))
	switch {
	case json.Valid(body):
		c, _ = ComplaintOf(body)
		c.Status = resp.StatusCode
	case bytes.HasPrefix(body, []byte("<")):
		c.Message = "(an HTML page)"
	default:
		c.Message = string(body)
	}
	if resp.StatusCode/100 == 3 {
		return redirected(resp)
	}
	e := c.Failure(strings.TrimSpace(fmt.Sprintf("the provider answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))))
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
	secrets := append(values(cfg.Headers), cfg.APIKey)
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may begin with another
	for _, secret := range secrets {
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

// shorten makes one line of valid UTF-8 of at most MaxMessage bytes.
func shorten(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if len(s) <= MaxMessage {
		return s
	}
	cut := MaxMessage - len("…")
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
