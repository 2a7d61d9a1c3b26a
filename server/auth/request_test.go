package auth

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"testing"
)

func request(host string, headers ...string) *http.Request {
	r := httptest.NewRequest("GET", "/agents/main/ws", nil)
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func TestTheSecretIsReadFromTheHeaderOrTheSubprotocolPair(t *testing.T) {
	const auth, proto = "Authorization", "Sec-WebSocket-Protocol"
	coded := base64.RawURLEncoding.EncodeToString([]byte("s3cret?/ü"))
	for _, c := range []struct {
		name    string
		headers []string
		want    string
	}{
		{"header", []string{auth, "Bearer abc"}, "abc"},
		{"scheme in lower case", []string{auth, "bearer abc"}, "abc"},
		{"scheme in upper case", []string{auth, "BEARER abc"}, "abc"},
		{"spaces around", []string{auth, "Bearer   abc "}, "abc"},
		{"another scheme", []string{auth, "Basic abc"}, ""},
		{"no scheme", []string{auth, "abc"}, ""},
		{"scheme alone", []string{auth, "Bearer"}, ""},
		{"empty header", []string{auth, ""}, ""},
		{"two headers", []string{auth, "Bearer a", auth, "Bearer b"}, ""},
		{"nothing", nil, ""},
		{"pair", []string{proto, "hitchpost.v1, bearer." + coded}, "s3cret?/ü"},
		{"pair in two headers", []string{proto, "hitchpost.v1", proto, "bearer." + coded}, "s3cret?/ü"},
		{"pair the other way round", []string{proto, "bearer." + coded + ",hitchpost.v1"}, "s3cret?/ü"},
		{"bearer without ours", []string{proto, "bearer." + coded}, ""},
		{"bearer not coded", []string{proto, "hitchpost.v1, bearer.a b"}, ""},
		{"two bearers", []string{proto, "hitchpost.v1, bearer." + coded + ", bearer." + coded}, ""},
		{"the header wins", []string{auth, "Bearer abc", proto, "hitchpost.v1, bearer." + coded}, "abc"},
		{"a bad header is not mended by the pair", []string{auth, "Basic abc", proto, "hitchpost.v1, bearer." + coded}, ""},
	} {
		if got := Secret(request("localhost", c.headers...)); got != c.want {
			t.Errorf("%s: Secret = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestATokenInTheURLIsNeverRead(t *testing.T) {
	r := httptest.NewRequest("GET", "/agents/main/ws?token=abc&access_token=abc", nil)
	if got := Secret(r); got != "" {
		t.Errorf("Secret = %q from the query string", got)
	}
}

// guarantee 6
func TestForeignPagesAndReboundNamesAreRefused(t *testing.T) {
	const origin = "Origin"
	allowed := []string{"https://Desk.example", "http://lab.example:8080"}
	for _, c := range []struct {
		name, listen, host string
		headers            []string
		pass               bool
	}{
		{"no browser", "127.0.0.1:7420", "127.0.0.1:7420", nil, true},
		{"own page", "127.0.0.1:7420", "127.0.0.1:7420", []string{origin, "http://127.0.0.1:7420"}, true},
		{"own page by name", "127.0.0.1:7420", "LocalHost:7420", []string{origin, "http://localhost:7420"}, true},
		{"forwarded port", "127.0.0.1:7420", "localhost:9000", []string{origin, "http://localhost:9000"}, true},
		{"own page, IPv6", "[::1]:7420", "[::1]:7420", []string{origin, "http://[::1]:7420"}, true},
		{"own page, default port", "127.0.0.1:80", "127.0.0.1", []string{origin, "http://127.0.0.1"}, true},
		{"own page, default port written", "127.0.0.1:80", "127.0.0.1:80", []string{origin, "http://127.0.0.1"}, true},
		{"other port is another origin", "127.0.0.1:7420", "127.0.0.1:7420", []string{origin, "http://127.0.0.1:3000"}, false},
		{"other name is another origin", "127.0.0.1:7420", "127.0.0.1:7420", []string{origin, "http://localhost:7420"}, false},
		{"foreign page", "127.0.0.1:7420", "127.0.0.1:7420", []string{origin, "https://evil.example"}, false},
		{"null", "127.0.0.1:7420", "127.0.0.1:7420", []string{origin, "null"}, false},
		{"empty", "127.0.0.1:7420", "127.0.0.1:7420", []string{origin, ""}, false},
		{"two", "127.0.0.1:7420", "127.0.0.1:7420", []string{origin, "http://127.0.0.1:7420", origin, "https://evil.example"}, false},
		{"file page", "127.0.0.1:7420", "127.0.0.1:7420", []string{origin, "file://"}, false},
		{"lookalike", "127.0.0.1:7420", "127.0.0.1:7420", []string{origin, "http://127.0.0.1:7420.evil.example"}, false},
		{"userinfo", "127.0.0.1:7420", "127.0.0.1:7420", []string{origin, "http://127.0.0.1:7420@evil.example"}, false},
		{"rebound name", "127.0.0.1:7420", "evil.example:7420", []string{origin, "http://evil.example:7420"}, false},
		{"rebound name without origin", "127.0.0.1:7420", "evil.example", nil, false},
		{"rebound subdomain", "127.0.0.1:7420", "localhost.evil.example", nil, false},
		{"no host", "127.0.0.1:7420", "", nil, false},
		{"allowed origin", "127.0.0.1:7420", "127.0.0.1:7420", []string{origin, "https://desk.example"}, true},
		{"allowed origin, port written", "127.0.0.1:7420", "127.0.0.1:7420", []string{origin, "https://desk.example:443"}, true},
		{"allowed origin, wrong scheme", "127.0.0.1:7420", "127.0.0.1:7420", []string{origin, "http://desk.example"}, false},
		{"behind a proxy of an allowed name", "127.0.0.1:7420", "desk.example", []string{origin, "https://desk.example"}, true},
		{"behind a proxy of no allowed name", "127.0.0.1:7420", "other.example", []string{origin, "https://other.example"}, false},
		{"open listener takes any host", "0.0.0.0:7420", "box.lan:7420", []string{origin, "http://box.lan:7420"}, true},
		{"open listener, TLS ended before us", "0.0.0.0:7420", "box.lan", []string{origin, "https://box.lan"}, true},
		{"open listener, foreign page", "0.0.0.0:7420", "box.lan:7420", []string{origin, "https://evil.example"}, false},
	} {
		g, err := NewGate(c.listen, allowed)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Check(request(c.host, c.headers...)); (err == nil) != c.pass {
			t.Errorf("%s: Check = %v, want pass = %v", c.name, err, c.pass)
		}
	}
}

func TestAnOriginThatIsNoneIsNotAllowed(t *testing.T) {
	for _, text := range []string{"*", "desk.example", "https://", "https://desk.example/", "ftp://desk.example", "https://desk.example?x", "null", ""} {
		if _, err := NewGate("127.0.0.1:7420", []string{text}); err == nil {
			t.Errorf("allowed_origins took %q", text)
		}
	}
}

func TestLoopbackIsOnlyWhatNoOtherMachineReaches(t *testing.T) {
	for listen, want := range map[string]bool{
		"127.0.0.1:7420": true, "127.8.8.8:1": true, "[::1]:7420": true, "localhost:7420": true, "LOCALHOST:0": true,
		":7420": false, "0.0.0.0:7420": false, "[::]:7420": false, "192.168.1.4:7420": false, "box.lan:7420": false, "127.0.0.1": false,
	} {
		if Loopback(listen) != want {
			t.Errorf("Loopback(%q) = %v, want %v", listen, !want, want)
		}
	}
}
