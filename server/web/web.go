package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
)

//go:embed dist
var dist embed.FS

// policy is what the page may do: its own scripts and styles, its own server, and no
// string that becomes markup but by the sanitizer.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types dompurify"

const index = "index.html"

// pagePath is an address of the page: the list, or a session. What the session is called
// is the page's to find out.
var pagePath = regexp.MustCompile(`^/(s/[^/]+/?)?$`)

// asset is a file of the bundle as it is sent.
type asset struct {
	kind   string // media type
	tag    string // ETag: the content alone decides it
	plain  []byte
	zipped []byte // nil where it would not be smaller
}

// Handler serves the page. admit says why a request must be refused, or nil: it is asked
// before anything else, so that a foreign page cannot read this one by another name of
// its host. Paths that are none of the page's are answered 404.
func Handler(admit func(*http.Request) error) http.Handler {
	assets := load()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := admit(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, "/")
		if pagePath.MatchString(r.URL.EscapedPath()) {
			name = index
		} else if name == index {
			name = "" // it has one address
		}
		a, found := assets[name]
		if !found {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "the page can only be read", http.StatusMethodNotAllowed)
			return
		}
		a.serve(w, r)
	})
}

// load reads the bundle. It is part of the program, so it cannot fail at run time.
func load() map[string]*asset {
	files, err := fs.ReadDir(dist, "dist")
	if err != nil {
		panic(err)
	}
	assets := make(map[string]*asset, len(files))
	for _, f := range files {
		content, err := dist.ReadFile("dist/" + f.Name())
		if err != nil {
			panic(err)
		}
		assets[f.Name()] = newAsset(f.Name(), content)
	}
	return assets
}

// kinds of the files in the bundle; the system's own table may say otherwise.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
}

func newAsset(name string, content []byte) *asset {
	kind, known := kinds[path.Ext(name)]
	if !known {
		kind = mime.TypeByExtension(path.Ext(name))
	}
	sum := sha256.Sum256(content)
	a := &asset{kind: kind, tag: hex.EncodeToString(sum[:8]), plain: content}
	var zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is a constant
	}
	if _, err := z.Write(content); err != nil {
		panic(err) // memory takes everything
	}
	if err := z.Close(); err == nil && zipped.Len() < len(content) {
		a.zipped = zipped.Bytes()
	}
	return a
}

func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache") // kept, but asked about: a new server has a new page
	h.Set("Vary", "Accept-Encoding")
	body, tag := a.plain, `"`+a.tag+`"`
	if a.zipped != nil && takesGzip(r.Header.Get("Accept-Encoding")) {
		body, tag = a.zipped, `"`+a.tag+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", tag)
	if matches(r.Header.Get("If-None-Match"), tag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", a.kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // a client that went away needs no answer
	}
}

// takesGzip tells whether an Accept-Encoding has gzip with a weight that is not 0.
func takesGzip(accepts string) bool {
	for part := range strings.SplitSeq(accepts, ",") {
		coding, params, _ := strings.Cut(part, ";")
		coding = strings.TrimSpace(coding)
		if coding != "gzip" && coding != "*" {
			continue
		}
		weight, given := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		return !given || err == nil && q > 0
	}
	return false
}

func matches(wanted, tag string) bool {
	for one := range strings.SplitSeq(wanted, ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
			return true
		}
	}
	return false
}
