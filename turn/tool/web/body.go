package web

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// textTypes are the types of application/ that are text.
var textTypes = []string{
	"json", "xml", "javascript", "ecmascript", "x-javascript", "yaml", "x-yaml", "toml", "x-ndjson", "x-sh", "sql", "graphql", "rtf", "x-tex",
}

// readable returns a body as text, or why it is none, as the end of a sentence.
func readable(body []byte, contentType string, from *url.URL) (string, error) {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind == "application/octet-stream" { // a server that does not know
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(body))
		contentType = kind // what it found of a charset is a guess
		if params["charset"] != "" {
			contentType += "; charset=" + params["charset"]
		}
	}
	page := kind == "text/html" || kind == "application/xhtml+xml"
	if !page && !isText(kind) {
		return "", fmt.Errorf("is %s: only text can be read", kind)
	}
	text, err := decode(body, contentType)
	switch {
	case err != nil:
		return "", err
	case strings.ContainsRune(text, 0):
		return "", fmt.Errorf("says it is %s but is binary: only text can be read", kind)
	case page:
		return plain(text, from, maxText), nil
	}
	return text, nil
}

func isText(kind string) bool {
	of, sub, _ := strings.Cut(kind, "/")
	if of == "text" || strings.HasSuffix(sub, "+json") || strings.HasSuffix(sub, "+xml") && of != "image" {
		return true
	}
	for _, t := range textTypes {
		if of == "application" && sub == t {
			return true
		}
	}
	return kind == "image/svg+xml"
}

// decode returns the body in UTF-8. What looks like UTF-8 is, unless it says otherwise.
func decode(body []byte, contentType string) (string, error) {
	enc, name, certain := charset.DetermineEncoding(body[:min(len(body), 1024)], contentType)
	if name == "utf-8" || !certain && utf8.Valid(body) {
		text := bytes.TrimPrefix(body, []byte("\uFEFF"))
		return strings.ToValidUTF8(string(text), "\uFFFD"), nil
	}
	text, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return "", errors.New("is written in a charset that cannot be read: " + name)
	}
	return strings.TrimPrefix(string(text), "\uFEFF"), nil
}

// shorten cuts a text to limit bytes between two characters.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
