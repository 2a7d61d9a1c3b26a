package rest

import (
	"strconv"
	"strings"
)

// query returns a parameter of the query string, "" when it is not there. What is there
// beside those of the document is ignored.
func (c *call) query(name string) string { return c.r.URL.Query().Get(name) }

// number reads an integer parameter of at least least, unless it is not there.
func (c *call) number(name string, least, otherwise int64) (int64, error) {
	if !c.r.URL.Query().Has(name) {
		return otherwise, nil
	}
	n, err := integer(c.query(name))
	if err != nil || n < least {
		return 0, invalid("%s is %.40q; it must be an integer of %d or more", name, c.query(name), least)
	}
	return n, nil
}

// limit reads how many elements a list may have: at most most, where most is not 0.
func (c *call) limit(otherwise, most int64) (int64, error) {
	n, err := c.number("limit", 1, otherwise)
	if err == nil && most > 0 && n > most {
		return 0, invalid("limit is %d; it must be at most %d", n, most)
	}
	return n, err
}

// integer reads digits and nothing else.
func integer(text string) (int64, error) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(text, 10, 64)
}

// maxKey bounds an Idempotency-Key, in bytes.
const maxKey = 255

// key reads the Idempotency-Key, "" for none.
func (c *call) key() (string, error) {
	switch keys := c.r.Header.Values("Idempotency-Key"); {
	case len(keys) == 0:
		return "", nil
	case len(keys) > 1 || keys[0] == "" || len(keys[0]) > maxKey || strings.Trim(keys[0], printable) != "":
		return "", invalid("an Idempotency-Key is one header of 1 to %d printable ASCII characters", maxKey)
	default:
		return keys[0], nil
	}
}

// printable is every printable character of ASCII.
var printable = func() string {
	var b strings.Builder
	for r := ' '; r <= '~'; r++ {
		b.WriteRune(r)
	}
	return b.String()
}()

// maxWait bounds Prefer: wait, in seconds.
const maxWait = 600

// wait reads Prefer: wait=N (RFC 7240), in seconds; ok is false without it. The first one
// counts; other preferences, and parameters, are ignored, as that text has it.
func (c *call) wait() (seconds int64, ok bool, err error) {
	for _, line := range c.r.Header.Values("Prefer") {
		for line != "" {
			var preference string
			preference, line = cutUnquoted(line, ',')
			preference, _ = cutUnquoted(preference, ';')
			name, value, _ := strings.Cut(preference, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			seconds, err = integer(strings.Trim(strings.TrimSpace(value), `"`))
			if err != nil || seconds > maxWait {
				return 0, false, invalid("Prefer: wait=%.20s; it must be 0 to %d seconds", value, maxWait)
			}
			return seconds, true, nil
		}
	}
	return 0, false, nil
}

// cutUnquoted cuts a header's value at the first sep outside a quoted string, or at its end.
func cutUnquoted(text string, sep byte) (before, after string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == sep && !quoted:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// cursor reads where a stream goes on: "I have everything up to and including". A
// browser that comes back sends Last-Event-ID, and the address it began with.
func (c *call) cursor() (int64, error) {
	if last := c.r.Header.Get("Last-Event-ID"); last != "" {
		n, err := integer(last)
		if err != nil {
			return 0, invalid("Last-Event-ID is %.40q; it must be an integer of 0 or more", last)
		}
		return n, nil
	}
	return c.number("from_seq", 0, 0)
}
