package web

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func serve(t *testing.T, admit func(*http.Request) error) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(Handler(admit))
	t.Cleanup(s.Close)
	return s
}

func everybody(*http.Request) error { return nil }

// get asks as a browser does, and unpacks nothing by itself.
func get(t *testing.T, url string, header ...string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "identity")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}

// guarantee 2
func TestEveryAddressOfThePageIsThePage(t *testing.T) {
	s := serve(t, everybody)
	want, err := dist.ReadFile("dist/index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/s/cat", "/s/a%2Fb", "/s/0123456789abcdef/", "/s/cat?e=1&log=3"} {
		resp, body := get(t, s.URL+path)
		if resp.StatusCode != http.StatusOK || !bytes.Equal(body, want) {
			t.Errorf("GET %s = %d, %d bytes, want the page", path, resp.StatusCode, len(body))
		}
	}
}

// guarantee 2
func TestEveryOtherPathIsNotFound(t *testing.T) {
	s := serve(t, everybody)
	for _, path := range []string{"/index.html", "/s", "/s/", "/s/a/b", "/dist/app.js", "/app", "/favicon.ico", "/s/a/../../app.js", "/.git"} {
		if resp, _ := get(t, s.URL+path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", path, resp.StatusCode)
		}
	}
}

// guarantee 2
func TestEverythingThePageNamesIsThere(t *testing.T) {
	s := serve(t, everybody)
	_, page := get(t, s.URL+"/")
	named := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllSubmatch(page, -1)
	if len(named) < 4 {
		t.Fatalf("the page names %d files, want its icon, its style and two scripts", len(named))
	}
	for _, n := range named {
		path := string(n[1])
		resp, body := get(t, s.URL+path)
		if resp.StatusCode != http.StatusOK || len(body) == 0 {
			t.Errorf("GET %s = %d, %d bytes", path, resp.StatusCode, len(body))
		}
		if resp.Header.Get("Content-Type") == "" {
			t.Errorf("%s has no Content-Type", path)
		}
	}
}

// guarantee 1
func TestEveryAnswerCarriesThePolicyOfThePage(t *testing.T) {
	s := serve(t, everybody)
	files, err := fs.ReadDir(dist, "dist")
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{"/", "/s/cat"}
	for _, f := range files {
		if f.Name() != index {
			paths = append(paths, "/"+f.Name())
		}
	}
	for _, path := range paths {
		resp, _ := get(t, s.URL+path)
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff",
			"Referrer-Policy":        "no-referrer",
			"Cache-Control":          "no-cache",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: %s = %q, want %q", path, name, got, want)
			}
		}
		csp := resp.Header.Get("Content-Security-Policy")
		for _, want := range []string{
			"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
			"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
			"require-trusted-types-for 'script'", "trusted-types dompurify",
		} {
			if !strings.Contains(csp+";", want+";") {
				t.Errorf("%s: the policy lacks %q", path, want)
			}
		}
	}
}

// guarantee 1
func TestThePageHasNothingInlineAndNothingFromElsewhere(t *testing.T) {
	page, err := dist.ReadFile("dist/index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<style", " style=", "onload=", "http://", "https://", "//cdn"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if regexp.MustCompile(`<script[^>]*>[^<]`).Match(page) {
		t.Error("the page has an inline script, which its policy forbids")
	}
}

// guarantee 3
func TestARequestThatIsNotAdmittedGetsNothingOfThePage(t *testing.T) {
	s := serve(t, func(r *http.Request) error {
		if r.Host == "evil.example" {
			return errors.New("the Host is not a name of this server")
		}
		return nil
	})
	req, err := http.NewRequest(http.MethodGet, s.URL+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example"
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusForbidden || bytes.Contains(body, []byte("<html")) {
		t.Errorf("a foreign Host gets %d %q", resp.StatusCode, body)
	}
}

func TestTheBundleIsSentCompressedToWhomTakesIt(t *testing.T) {
	s := serve(t, everybody)
	plain, want := get(t, s.URL+"/app.js")
	if plain.Header.Get("Content-Encoding") != "" {
		t.Fatal("a client that takes no gzip got it")
	}
	resp, body := get(t, s.URL+"/app.js", "Accept-Encoding", "br;q=1, gzip;q=0.8")
	if resp.Header.Get("Content-Encoding") != "gzip" || resp.Header.Get("Vary") != "Accept-Encoding" {
		t.Fatalf("Content-Encoding = %q, Vary = %q", resp.Header.Get("Content-Encoding"), resp.Header.Get("Vary"))
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, want) {
		t.Errorf("unpacked it differs: %v", err)
	}
	if refused, _ := get(t, s.URL+"/app.js", "Accept-Encoding", "gzip;q=0"); refused.Header.Get("Content-Encoding") != "" {
		t.Error("a client that refuses gzip got it")
	}
}

// guarantee 4
func TestWhatDidNotChangeIsNotSentAgain(t *testing.T) {
	s := serve(t, everybody)
	for _, coding := range []string{"identity", "gzip"} {
		first, _ := get(t, s.URL+"/app.css", "Accept-Encoding", coding)
		resp, body := get(t, s.URL+"/app.css", "Accept-Encoding", coding, "If-None-Match", first.Header.Get("ETag"))
		if resp.StatusCode != http.StatusNotModified || len(body) != 0 {
			t.Errorf("%s: asked again it is %d with %d bytes, want 304 and none", coding, resp.StatusCode, len(body))
		}
	}
	if resp, _ := get(t, s.URL+"/app.css", "If-None-Match", `"0000"`); resp.StatusCode != http.StatusOK {
		t.Errorf("another tag gets %d, want 200", resp.StatusCode)
	}
}

func TestThePageCanOnlyBeRead(t *testing.T) {
	s := serve(t, everybody)
	resp, err := http.Post(s.URL+"/", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST / = %d, Allow %q", resp.StatusCode, resp.Header.Get("Allow"))
	}
	head, err := http.Head(s.URL + "/app.js")
	if err != nil {
		t.Fatal(err)
	}
	head.Body.Close()
	if head.StatusCode != http.StatusOK || head.ContentLength <= 0 {
		t.Errorf("HEAD /app.js = %d, length %d", head.StatusCode, head.ContentLength)
	}
}

// budgets of the bundle in bytes, compressed: what a phone on a slow line waits for. What
// has none of its own counts in all.
func TestTheBundleKeepsItsBudget(t *testing.T) {
	const inAll = 150 << 10
	most := map[string]int{"app.js": 120 << 10, "app.css": 10 << 10, "start.js": 1 << 10}
	files, err := fs.ReadDir(dist, "dist")
	if err != nil {
		t.Fatal(err)
	}
	assets, sum := load(), 0
	for _, f := range files {
		a := assets[f.Name()]
		if a == nil {
			t.Fatalf("%s is in the bundle and is not served", f.Name())
		}
		size := len(a.plain)
		if a.zipped != nil {
			size = len(a.zipped)
		}
		t.Logf("%s: %d bytes, compressed %d", f.Name(), len(a.plain), size)
		if limit, ok := most[f.Name()]; ok && size > limit {
			t.Errorf("%s has %d bytes compressed, the limit is %d", f.Name(), size, limit)
		}
		delete(most, f.Name())
		sum += size
	}
	if len(most) > 0 {
		t.Errorf("the bundle lacks %v", most)
	}
	t.Logf("in all %d bytes compressed of %d", sum, inAll)
	if sum > inAll {
		t.Errorf("the bundle has %d bytes compressed, the limit is %d", sum, inAll)
	}
}
