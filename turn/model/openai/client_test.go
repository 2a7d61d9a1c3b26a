package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/model/httpstream"
)

func TestTheRequestGoesToChatCompletionsWithTheKeyAndTheHeaders(t *testing.T) {
	p := newProvider(t, scripted{Status: 200, Body: word("ok") + finish})
	c := client(t, p, func(cfg *Config) {
		cfg.BaseURL += "/?api-version=2"
		cfg.Headers = map[string]string{"X-Title": "hitchpost"}
	})
	if _, _, err := ask(context.Background(), c, nil); err != nil {
		t.Fatal(err)
	}
	got := p.Seen()[0]
	if got.Path != "/v1/chat/completions?api-version=2" {
		t.Errorf("path %s", got.Path)
	}
	for name, want := range map[string]string{"Authorization": "Bearer " + testKey, "X-Title": "hitchpost", "Content-Type": "application/json", "Accept": "text/event-stream"} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: %q", name, got.Header.Get(name))
		}
	}
	if !strings.Contains(got.Body, `"stream":true,"stream_options":{"include_usage":true}`) {
		t.Errorf("body %s", got.Body)
	}
}

func TestWithoutAKeyNoAuthorizationIsSent(t *testing.T) {
	p := newProvider(t, scripted{Status: 200, Body: word("ok") + finish})
	ask(context.Background(), client(t, p, func(cfg *Config) { cfg.APIKey = "" }), nil)
	if _, sent := p.Seen()[0].Header["Authorization"]; sent {
		t.Error("an Authorization header was sent")
	}
}

func TestARetrySendsTheSameBytes(t *testing.T) {
	p := newProvider(t, scripted{Status: 503}, scripted{Status: 200, Body: ": nothing\n\n"}, scripted{Status: 200, Body: word("ok") + finish})
	reply, _, err := ask(context.Background(), client(t, p, func(cfg *Config) { cfg.Retries = 2 }), nil)
	if err != nil || reply.Text != "ok" {
		t.Fatalf("%q, %v", reply.Text, err)
	}
	seen := p.Seen()
	if seen[0].Body != seen[1].Body || seen[1].Body != seen[2].Body {
		t.Error("the requests differ")
	}
}

// A22, through the whole client: each framing gives the same deltas and the same reply.
func TestA22EveryFramingGivesTheSameReply(t *testing.T) {
	const lf = `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}

data: {"choices":[{"index":0,"delta":{"content":"Hel"}}]}

data: {"choices":[{"index":0,"delta":{"content":"lo"}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

`
	lines := func(sep string) string { return strings.ReplaceAll(lf, "\n", sep) }
	framings := map[string]string{
		"LF": lf, "CRLF": lines("\r\n"), "CR": lines("\r"),
		"LF, then CRLF":       strings.Replace(lf, "\n\n", "\r\n\r\n", 2),
		"no space":            strings.ReplaceAll(lf, "data: ", "data:"),
		"two spaces":          strings.ReplaceAll(lf, "data: ", "data:  "),
		"byte order mark":     "\uFEFF" + lf,
		"comments":            ": hello\n\n" + strings.ReplaceAll(lf, "\n\n", "\n: ping\n\n: PROCESSING\n\n"),
		"event, id and retry": strings.ReplaceAll(lf, "data: ", "event: message\nid: 7\nretry: 10\ndata: "),
		"several data lines":  strings.ReplaceAll(lf, `"choices"`, "\ndata: \"choices\""),
		"empty data":          "data:\n\n" + strings.ReplaceAll(lf, "\n\n", "\n\ndata\n\n"),
		"blank lines before":  "\n\r\n\n" + lf,
	}
	for name, framing := range framings {
		for _, bytewise := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, byte by byte %v", name, bytewise), func(t *testing.T) {
				p := newProvider(t, scripted{Status: 200, Body: framing})
				p.Bytewise = bytewise
				got := transcript(t, client(t, p, nil), question)
				if want := "text \"Hel\"\ntext \"lo\"\nreply \"Hello\" stop \"stop\"\n"; got != want {
					t.Error(cmp.Diff(want, got))
				}
			})
		}
	}
}

// guarantee 3 of package httpstream
func TestAKeyNeverFollowsARedirectToAnotherHost(t *testing.T) {
	other := newProvider(t, scripted{Status: 200, Body: word("stolen") + finish})
	for _, status := range []int{301, 302, 303, 307, 308} {
		p := newProvider(t, scripted{Status: status, Header: http.Header{"Location": {other.URL + "/v1/chat/completions?token=x"}}})
		_, _, err := ask(context.Background(), client(t, p, func(cfg *Config) { cfg.Retries = 3 }), nil)
		isFailure(t, err, event.CodeConfig, false, "redirect to "+other.URL+"/v1/chat/completions, which is not followed")
		if len(p.Seen()) != 1 {
			t.Errorf("%d: asked %d times", status, len(p.Seen()))
		}
	}
	if n := len(other.Seen()); n != 0 {
		t.Errorf("the other host was asked %d times", n)
	}
}

func TestARedirectThatWouldTurnTheRequestIntoAnotherIsNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303} {
		p := newProvider(t, scripted{Status: status, Header: http.Header{"Location": {"/login"}}})
		_, _, err := ask(context.Background(), client(t, p, nil), nil)
		isFailure(t, err, event.CodeConfig, false, "redirect to "+p.URL+"/login, which is not followed")
		if len(p.Seen()) != 1 {
			t.Errorf("%d: asked %d times", status, len(p.Seen()))
		}
	}
}

func TestARedirectThatKeepsTheRequestIsFollowedOnTheSameHost(t *testing.T) {
	p := newProvider(t,
		scripted{Status: 308, Header: http.Header{"Location": {"/v2/chat/completions"}}},
		scripted{Status: 200, Body: word("moved") + finish})
	reply, _, err := ask(context.Background(), client(t, p, nil), nil)
	if err != nil || reply.Text != "moved" || p.Seen()[0].Body != p.Seen()[1].Body {
		t.Errorf("%q, %v", reply.Text, err)
	}
	if got := p.Seen()[1].Header.Get("Authorization"); got != "Bearer "+testKey {
		t.Errorf("the key did not go along: %q", got)
	}
}

func TestAProviderThatIsNotThereIsToldWithItsAddress(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	c := New(Config{BaseURL: gone.URL + "?key=" + testKey, APIKey: testKey})
	defer c.Close()
	_, _, err := ask(context.Background(), c, nil)
	isFailure(t, err, event.CodeProvider, true, "cannot be reached: dial tcp "+strings.TrimPrefix(gone.URL, "http://"))
	if strings.Contains(err.Error(), testKey) {
		t.Errorf("the key is in the error: %v", err)
	}
}

func TestACertificateNobodyVouchesForIsNotTriedAgain(t *testing.T) {
	srv := httptest.NewUnstartedServer(nil)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	c := New(Config{BaseURL: srv.URL, Retries: 3})
	defer c.Close()
	_, _, err := ask(context.Background(), c, func(model.Delta) { t.Error("a retry") })
	isFailure(t, err, event.CodeProvider, false, "certificate")
}

func TestAConfigurationThatCannotWorkIsToldBeforeAnythingIsSent(t *testing.T) {
	for _, base := range []string{"", "api.example.com/v1", "ftp://example.com", "http://", "://", "http://[::1"} {
		_, _, err := ask(context.Background(), New(Config{BaseURL: base}), nil)
		isFailure(t, err, event.CodeConfig, false, "base_url")
	}
	for _, cfg := range []Config{{APIKey: testKey + "\n"}, {Headers: map[string]string{"X": testKey + "\r\nY: z"}}} {
		cfg.BaseURL = "http://model.test"
		_, _, err := ask(context.Background(), New(cfg), nil)
		isFailure(t, err, event.CodeConfig, false, "control character")
		if strings.Contains(err.Error(), testKey) {
			t.Errorf("the key is in the error: %v", err)
		}
	}
}

// guarantee 6 of package model
func TestNoErrorHoldsTheKeyOrAHeaderValue(t *testing.T) {
	const secret = "header-secret-77"
	long := strings.Repeat("x", httpstream.MaxMessage-10) + testKey // the cut must not leave half a key
	for _, a := range []scripted{
		{Status: 401, Body: `{"error":{"message":"bad ` + testKey + ` and ` + secret + `"}}`},
		{Status: 500, Body: "plain " + testKey + secret},
		{Status: 500, Body: long},
		{Status: 200, Body: `data: {"error":"` + testKey + `"}` + "\n\n"},
		{Status: 200, Body: `{"error":{"message":"` + secret + `","code":"` + testKey + `"}}`},
		{Status: 200, Body: "event: error\ndata: " + testKey + "\n\n"},
		{Status: 200, Body: "data: " + testKey + "\n\n"},
		{Status: 200, Body: `data: {"choices":[{"delta":{"refusal":"` + testKey + `"},"finish_reason":"stop"}]}` + "\n\n"},
		{Status: 302, Header: http.Header{"Location": {"http://" + testKey + ".example/" + secret}}},
	} {
		p := newProvider(t, a, a)
		c := client(t, p, func(cfg *Config) { cfg.Retries = 1; cfg.Headers = map[string]string{"X-Key": secret} })
		_, _, err := ask(context.Background(), c, func(d model.Delta) {
			if d.Retry != nil && (strings.Contains(d.Retry.Cause.Message, testKey) || strings.Contains(d.Retry.Cause.Message, secret)) {
				t.Errorf("a retry tells %s", d.Retry.Cause.Message)
			}
		})
		var e *model.Error
		if !errors.As(err, &e) || strings.Contains(e.Message, testKey[:10]) || strings.Contains(e.Message, secret) {
			t.Errorf("%d %s: %v", a.Status, a.Body, err)
		}
		if len(e.Message) > httpstream.MaxMessage || strings.ContainsAny(e.Message, "\r\n") {
			t.Errorf("message of %d bytes: %q", len(e.Message), e.Message)
		}
	}
}

func TestOneClientServesManyStreamsAtOnce(t *testing.T) {
	p := newProvider(t)
	for range 20 {
		p.Script = append(p.Script, scripted{Status: 200, Body: word("a") + word("b") + finish + "data: [DONE]\n\n"})
	}
	c := client(t, p, nil)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if reply, _, err := ask(context.Background(), c, nil); err != nil || reply.Text != "ab" {
				t.Errorf("%q, %v", reply.Text, err)
			}
		})
	}
	wg.Wait()
}

func TestTheFirstByteLimitHoldsOverHTTP2Too(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("asked over %s", r.Proto)
		}
		<-r.Context().Done()
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	c := New(Config{BaseURL: srv.URL, Transport: srv.Client().Transport, Timeouts: model.Timeouts{Connect: time.Minute, FirstByte: 100 * time.Millisecond}})
	defer c.Close()
	_, _, err := ask(context.Background(), c, nil)
	isFailure(t, err, event.CodeProvider, true, "did not begin to answer within 100ms")
}

func TestACancelOverASocketClosesTheProvidersConnection(t *testing.T) {
	p := newProvider(t, scripted{Status: 200, Body: word("Hi"), Ending: "hang"})
	left := make(chan struct{})
	p.Server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.ServeHTTP(w, r); close(left) })
	ctx, cancel := context.WithCancelCause(context.Background())
	_, _, err := ask(ctx, client(t, p, nil), func(model.Delta) { cancel(errStopped) })
	if err != errStopped {
		t.Errorf("%v", err)
	}
	select {
	case <-left:
	case <-time.After(30 * time.Second):
		t.Error("the provider still has its connection")
	}
}
