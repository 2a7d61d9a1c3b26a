package redact

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// Mark stands where a secret was.
	Mark = "[masked secret]"
	// MinValue is the bytes from which on a value is masked: shorter ones are words.
	MinValue = 8
	// MaxMatch is the bytes that are held back, and masked, for one match of a pattern.
	MaxMatch = 8 << 10
)

// Redactor masks one set of secrets. It does not change and is safe for concurrent use.
type Redactor struct {
	values   [][]byte // in every form in which they are looked for
	patterns []pattern
}

type pattern struct {
	re   *regexp.Regexp
	prog *syntax.Prog // the same, for texts that come in pieces
}

// New returns a Redactor for values, of which those under MinValue bytes are passed
// over, and patterns made by regexp.Compile; nil if nothing is left to mask.
func New(values []string, patterns []*regexp.Regexp) *Redactor {
	r := &Redactor{}
	for _, value := range values {
		value = strings.TrimSpace(value)
		if len(value) < MinValue || !utf8.ValidString(value) || strings.Contains(Mark, value) {
			continue
		}
		r.values = append(r.values, forms(value)...)
	}
	for _, re := range patterns {
		r.patterns = append(r.patterns, pattern{re, compile(re)})
	}
	if len(r.values)+len(r.patterns) == 0 {
		return nil
	}
	return r
}

func compile(re *regexp.Regexp) *syntax.Prog {
	parsed, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		panic("redact: not made by regexp.Compile: " + err.Error())
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		panic("redact: not made by regexp.Compile: " + err.Error())
	}
	return prog
}

// forms is the value and its escaped spellings.
func forms(value string) [][]byte {
	html, _ := json.Marshal(value) // a string always encodes
	plain := encode(value)
	all := []string{value, string(html[1 : len(html)-1]), string(plain[1 : len(plain)-1]), url.QueryEscape(value), url.PathEscape(value)}
	slices.Sort(all)
	var out [][]byte
	for _, form := range slices.Compact(all) {
		out = append(out, []byte(form))
	}
	return out
}

// Text returns s with the Mark for every secret.
func (r *Redactor) Text(s string) string {
	if r == nil || !r.suspects(s) {
		return s
	}
	stream := r.Stream()
	return stream.Write(s) + stream.Flush()
}

// suspects is a quick look that most texts need no more than.
func (r *Redactor) suspects(s string) bool {
	for _, value := range r.values {
		if strings.Contains(s, string(value)) || begun([]byte(s[max(0, len(s)-len(value)):]), value) > 0 {
			return true
		}
	}
	for _, p := range r.patterns {
		if p.re.MatchString(s) {
			return true
		}
	}
	return false
}

// Attr masks an attribute of a log record, for slog.HandlerOptions.ReplaceAttr.
func (r *Redactor) Attr(_ []string, a slog.Attr) slog.Attr {
	if r == nil {
		return a
	}
	switch a.Value.Kind() {
	case slog.KindString, slog.KindAny: // an error, say; anything else holds no text
		text := a.Value.String()
		if masked := r.Text(text); masked != text {
			a.Value = slog.StringValue(masked)
		}
	}
	return a
}

// encode is JSON without the escapes that only HTML needs.
func encode(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
