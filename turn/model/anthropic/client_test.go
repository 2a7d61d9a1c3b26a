package anthropic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/model/httpstream"
	"hitchpost/turn/model/modeltest"
)

const (
	start0 = "event: message_start\n" + `data: {"type":"message_start","message":{"usage":{"input_tokens":1}}}` + "\n\n"
	finish = "event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}` + "\n\n" + last
	last   = "event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n"
	ping   = "event: ping\n" + `data: {"type":"ping"}` + "\n\n"
)

// begins is the start of a block with the members.
func begins(index int, members string) string {
	return fmt.Sprintf("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%d,\"content_block\":{%s}}\n\n", index, members)
}

// goesOn is a piece of the block with index 0.
func goesOn(members string) string {
	return `data: {"type":"content_block_delta","index":0,"delta":{` + members + `}}` + "\n\n"
}

func word(s string) string { return goesOn(`"type":"text_delta","text":"` + s + `"`) }

// ask is Stream, and how long it took.
func ask(ctx context.Context, c *Client, emit func(model.Delta)) (model.Reply, time.Duration, error) {
	if emit == nil {
		emit = func(model.Delta) {}
	}
	start := time.Now()
	reply, err := c.Stream(ctx, question, emit)
	return reply, time.Since(start), err
}

func isFailure(t *testing.T, err error, code event.Code, retryable bool, words string) {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) || e.Code != code || e.Retryable != retryable || !strings.Contains(e.Message, words) {
		t.Errorf("got %#v, want %s, retryable %v, saying %q", err, code, retryable, words)
	}
}

func TestTheRequestGoesToMessagesWithOrWithoutV1InTheBase(t *testing.T) {
	for base, want := range map[string]string{
		"":                    "/v1/messages",
		"/":                   "/v1/messages",
		"/v1":                 "/v1/messages",
		"/v1/":                "/v1/messages",
		"/v1/?key=a":          "/v1/messages?key=a",
		"/api/anthropic":      "/api/anthropic/v1/messages",
		"/api/anthropic/v1":   "/api/anthropic/v1/messages",
		"/model-v1?version=2": "/model-v1/v1/messages?version=2",
	} {
		p := newProvider(t, scripted{Status: 200, Body: start0 + word("ok") + finish})
		c := client(t, p, func(cfg *Config) {
			cfg.BaseURL = p.URL + base
			cfg.Headers = map[string]string{"X-Title": "hitchpost", "anthropic-beta": "some-beta"}
		})
		if _, _, err := ask(context.Background(), c, nil); err != nil {
			t.Fatal(err)
		}
		got := p.Seen()[0]
		if got.Path != want {
			t.Errorf("%s: path %s", base, got.Path)
		}
		for name, want := range map[string]string{"X-Api-Key": modeltest.Key, "Anthropic-Version": "2023-06-01", "X-Title": "hitchpost", "Anthropic-Beta": "some-beta", "Content-Type": "application/json", "Authorization": ""} {
			if got.Header.Get(name) != want {
				t.Errorf("%s: %q", name, got.Header.Get(name))
			}
		}
		if !strings.HasSuffix(got.Body, `,"stream":true}`) {
			t.Errorf("body %s", got.Body)
		}
	}
}

func TestWithoutAKeyNoneIsSent(t *testing.T) {
	p := newProvider(t, scripted{Status: 200, Body: start0 + finish})
	ask(context.Background(), client(t, p, func(cfg *Config) { cfg.APIKey = "" }), nil)
	if _, sent := p.Seen()[0].Header["X-Api-Key"]; sent {
		t.Error("an X-Api-Key header was sent")
	}
}

func TestARetrySendsTheSameBytes(t *testing.T) {
	p := newProvider(t, scripted{Status: 529}, scripted{Status: 200, Body: start0 + ping}, scripted{Status: 200, Body: start0 + word("ok") + finish})
	reply, _, err := ask(context.Background(), client(t, p, func(cfg *Config) { cfg.Retries = 2 }), nil)
	if seen := p.Seen(); err != nil || reply.Text != "ok" || seen[0].Body != seen[1].Body || seen[1].Body != seen[2].Body {
		t.Errorf("%q, %v, %d requests", reply.Text, err, len(seen))
	}
}

// guarantee 3 of package httpstream: an own header is no less a secret than Authorization.
func TestTheKeyNeverFollowsARedirectToAnotherHost(t *testing.T) {
	other := newProvider(t, scripted{Status: 200, Body: start0 + word("stolen") + finish})
	for _, status := range []int{301, 302, 307, 308} {
		p := newProvider(t, scripted{Status: status, Header: http.Header{"Location": {other.URL + "/v1/messages"}}})
		_, _, err := ask(context.Background(), client(t, p, func(cfg *Config) { cfg.Retries = 3 }), nil)
		isFailure(t, err, event.CodeConfig, false, "redirect to "+other.URL+"/v1/messages, which is not followed")
	}
	if n := len(other.Seen()); n != 0 {
		t.Errorf("the other host was asked %d times", n)
	}
}

// guarantee 2 of package httpstream: a header that begins with the key is masked whole.
func TestNoErrorNamesTheKeyOrAHeadersValue(t *testing.T) {
	longer := modeltest.Key + "-and-more"
	for _, body := range []string{
		`{"type":"error","error":{"type":"authentication_error","message":"` + longer + `"}}`,
		"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"" + modeltest.Key + "\",\"message\":\"" + longer + "\"}}\n\n",
		start0 + `data: {"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"explanation":"` + longer + `"}}}` + "\n\n" + last,
	} {
		p := newProvider(t, scripted{Status: 200, Body: body})
		_, _, err := ask(context.Background(), client(t, p, func(cfg *Config) { cfg.Headers = map[string]string{"X-Key": longer} }), nil)
		if err == nil || strings.Contains(err.Error(), modeltest.Key) || strings.Contains(err.Error(), "and-more") || !strings.Contains(err.Error(), "[secret]") {
			t.Errorf("%v", err)
		}
	}
}

// A22, through the whole client: each framing gives the same deltas and the same reply.
func TestA22EveryFramingGivesTheSameReply(t *testing.T) {
	lf := start0 + begins(0, `"type":"text","text":""`) + word("Hel") + ping + word("lo") + finish
	lines := func(sep string) string { return strings.ReplaceAll(lf, "\n", sep) }
	framings := map[string]string{
		"LF": lf, "CRLF": lines("\r\n"), "CR": lines("\r"),
		"no space":           strings.ReplaceAll(lf, ": ", ":"),
		"byte order mark":    "\uFEFF" + lf,
		"comments":           ": hello\n\n" + strings.ReplaceAll(lf, "\n\n", "\n: ping\n\n: PROCESSING\n\n"),
		"id and retry":       strings.ReplaceAll(lf, "data: ", "id: 7\nretry: 10\ndata: "),
		"several data lines": strings.ReplaceAll(lf, `"type"`, "\ndata: \"type\""),
		"empty data":         "data:\n\n" + strings.ReplaceAll(lf, "\n\n", "\n\ndata\n\n"),
		"blank lines before": "\n\r\n\n" + lf,
	}
	for name, framing := range framings {
		for _, bytewise := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, byte by byte %v", name, bytewise), func(t *testing.T) {
				p := newProvider(t, scripted{Status: 200, Body: framing})
				p.Bytewise = bytewise
				got := transcript(t, client(t, p, nil), question)
				if want := "text \"Hel\"\ntext \"lo\"\nreply \"Hello\" stop \"end_turn\" usage prompt=1 completion=2\n"; got != want {
					t.Error(cmp.Diff(want, got))
				}
			})
		}
	}
}

// inBubble runs f with a client of a server that answers with h, all on a fake clock.
func inBubble(t *testing.T, h http.HandlerFunc, f func(t *testing.T, c *Client)) {
	modeltest.Bubble(t, h, func(t *testing.T, cfg httpstream.Config, _ *http.Transport) {
		cfg.Retries = 3
		f(t, New(cfg))
	})
}

func send(w http.ResponseWriter, s string) {
	io.WriteString(w, s)
	http.NewResponseController(w).Flush()
}

// guarantee 7
func TestPingsAndUnknownEventsDoNotHoldOffTheStallLimit(t *testing.T) {
	for name, noise := range map[string]string{"pings": ping, "comments": ": ping\n\n", "unknown events": "event: note\ndata: {\"type\":\"note\"}\n\n"} {
		t.Run(name, func(t *testing.T) {
			noisy := func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				send(w, start0+word("Hi"))
				for r.Context().Err() == nil {
					time.Sleep(10 * time.Second)
					send(w, noise)
				}
			}
			inBubble(t, noisy, func(t *testing.T, c *Client) {
				_, took, err := ask(t.Context(), c, nil)
				isFailure(t, err, event.CodeProvider, true, "stalled: no event within 2m0s")
				if took != modeltest.Limits.Stall {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

func TestASlowStreamOfEventsNeverStalls(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		send(w, start0+begins(0, `"type":"tool_use","id":"a","name":"Read","input":{}`))
		for _, p := range []string{`{\"a\":`, `1`, `}`} {
			time.Sleep(modeltest.Limits.Stall - time.Second)
			send(w, goesOn(`"type":"input_json_delta","partial_json":"`+p+`"`))
		}
		send(w, finish)
	}
	inBubble(t, slow, func(t *testing.T, c *Client) {
		reply, _, err := ask(t.Context(), c, nil)
		if err != nil || len(reply.Calls) != 1 || string(reply.Calls[0].Args) != `{"a":1}` {
			t.Errorf("%+v, %v", reply.Calls, err)
		}
	})
}

// A stop reason is no end here: silence behind it is a stall, and no reply.
func TestA19AStopReasonAndSilenceIsAStall(t *testing.T) {
	quiet := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		send(w, start0+word("Hi")+strings.TrimSuffix(finish, last))
		<-r.Context().Done()
	}
	inBubble(t, quiet, func(t *testing.T, c *Client) {
		_, took, err := ask(t.Context(), c, nil)
		isFailure(t, err, event.CodeProvider, true, "stalled")
		if took != modeltest.Limits.Stall {
			t.Errorf("it took %v", took)
		}
	})
}

var errStopped = errors.New("stopped by the user")

// A13, and guarantee 4 of package model
func TestA13ACancelEndsTheStreamAtOnceWhereverItIs(t *testing.T) {
	for name, sent := range map[string]string{"before the first byte": "", "between events": start0 + word("Hi"), "inside an event": start0 + `data: {"type":`} {
		t.Run(name, func(t *testing.T) {
			var left atomic.Bool
			h := func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if sent != "" {
					send(w, sent)
				}
				<-r.Context().Done() // comes only once the connection is closed
				left.Store(true)
			}
			inBubble(t, h, func(t *testing.T, c *Client) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(3*time.Second, func() { cancel(errStopped) })
				_, took, err := ask(ctx, c, nil)
				if err != errStopped || took != 3*time.Second {
					t.Errorf("%v, after %v", err, took)
				}
				synctest.Wait()
				if !left.Load() {
					t.Error("the provider still has its connection")
				}
			})
		})
	}
}

func TestACancelOverASocketClosesTheProvidersConnection(t *testing.T) {
	p := newProvider(t, scripted{Status: 200, Body: start0 + word("Hi"), Ending: "hang"})
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
