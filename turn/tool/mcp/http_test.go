package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hitchpost/turn/tool"
)

// site is a streamable HTTP server made of the SDK's.
type site struct {
	*httptest.Server
	mcp     *sdk.Server
	entered chan struct{} // a call of "hang" has begun
	stopped chan struct{} // and was told to stop
	quit    chan struct{} // the test is over
	seen    sync.Map      // Authorization header → true
}

func newSite(t *testing.T, options *sdk.StreamableHTTPOptions) *site {
	t.Helper()
	s := &site{
		mcp:     sdk.NewServer(&sdk.Implementation{Name: "site", Version: "1"}, nil),
		entered: make(chan struct{}, 10), stopped: make(chan struct{}, 10), quit: make(chan struct{}),
	}
	s.add("echo", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: r.Params.Arguments}, nil
	})
	s.add("fail", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "it failed"}}}, nil
	})
	s.add("hang", func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.entered <- struct{}{}
		select {
		case <-ctx.Done():
			s.stopped <- struct{}{}
		case <-s.quit:
		}
		return nil, errors.New("stopped")
	})
	s.add("progress", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for i := range 3 {
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i)})
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.mcp }, options)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.seen.Store(r.Header.Get("Authorization"), true)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		close(s.quit)
		s.CloseClientConnections()
		s.Close()
		for session := range s.mcp.Sessions() {
			session.Close()
		}
	})
	return s
}

// wasTold waits until a call of "hang" was told to stop.
func (s *site) wasTold(t *testing.T) {
	t.Helper()
	select {
	case <-s.stopped:
	case <-time.After(30 * time.Second):
		t.Error("the server goes on with a call that was given up")
	}
}

func (s *site) add(name string, run sdk.ToolHandler) {
	s.mcp.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, run)
}

func web(url string) ServerConfig { return ServerConfig{Name: "web", URL: url} }

// TestAToolOverHTTPListsCallsFailsAndReports: guarantees 3 and 4 hold for answers
// that are one JSON and for those that are event streams.
func TestAToolOverHTTPListsCallsFailsAndReports(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]*sdk.StreamableHTTPOptions{"events": nil, "json": {JSONResponse: true}, "stateless": {Stateless: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, options)
			config := web(s.URL)
			config.Bearer = "the-bearer-token"
			w := mount(t, nil, config).ready()
			args := `{"id":12345678901234567890,"t":"a<b> \u2028"}`
			if r := w.call("mcp__web__echo", args); !strings.Contains(string(r.Content), `"id":12345678901234567890`) {
				t.Errorf("%+v %s", r, r.Content)
			}
			if r := w.call("mcp__web__fail", `{}`); r.Error != "it failed" {
				t.Errorf("%+v", r)
			}
			var heard []string
			r := w.callIn(context.Background(), "mcp__web__progress", `{}`, func(s string) { heard = append(heard, s) })
			if string(r.Content) != `"done"` || name == "events" && !slices.Equal(heard, []string{"0\n", "1\n", "2\n"}) {
				t.Errorf("%+v, heard %q", r, heard)
			}
			w.Close()
			s.seen.Range(func(header, _ any) bool {
				if header != "Bearer the-bearer-token" {
					t.Errorf("a request had the authorization %q", header)
				}
				return true
			})
		})
	}
}

// TestListChangedReachesUsOverHTTP: guarantee 8.
func TestListChangedReachesUsOverHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	w := mount(t, nil, web(s.URL))
	w.changed()
	s.add("fresh", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{}}, nil
	})
	w.changed()
	if !slices.Contains(w.names(), "mcp__web__fresh") {
		t.Errorf("%q", w.names())
	}
	s.mcp.RemoveTools("fresh")
	w.changed()
	if slices.Contains(w.names(), "mcp__web__fresh") {
		t.Errorf("%q", w.names())
	}
}

// TestATimeoutOverHTTPTellsTheServerAndTheNextCallRuns: guarantees 5 and 6.
func TestATimeoutOverHTTPTellsTheServerAndTheNextCallRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	w := mount(t, nil, web(s.URL)).ready()
	ctx, timeUp := context.WithCancelCause(context.Background())
	done := make(chan tool.Result)
	hang := w.tool("mcp__web__hang")
	go func() { done <- hang.Run(ctx, callOf(`{}`)) }()
	<-s.entered
	timeUp(errTimeout)
	if r := <-done; r.Error != "mcp timeout after 30s" {
		t.Errorf("%+v", r)
	}
	if r := w.call("mcp__web__echo", `{"a":1}`); string(r.Content) != `{"a":1}` {
		t.Errorf("%+v", r)
	}
	s.wasTold(t)
}

// TestACancelOverHTTPTellsTheServer: guarantee 5.
func TestACancelOverHTTPTellsTheServer(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	w := mount(t, nil, web(s.URL)).ready()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan tool.Result)
	go func() { done <- w.callIn(ctx, "mcp__web__hang", `{}`, nil) }()
	<-s.entered
	cancel()
	if r := <-done; r.Error != "cancelled" {
		t.Errorf("%+v", r)
	}
	s.wasTold(t)
}

// TestACloseInMidCallTellsAnHTTPServer: guarantee 5.
func TestACloseInMidCallTellsAnHTTPServer(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	w := mount(t, nil, web(s.URL)).ready()
	done := make(chan tool.Result)
	go func() { done <- w.call("mcp__web__hang", `{}`) }()
	<-s.entered
	w.Close()
	if r := <-done; r.Error != "cancelled" {
		t.Errorf("%+v", r)
	}
	s.wasTold(t)
}

// TestAnHTTPServerThatGoesAwayInMidCallIsAnErrorAndItsReturnIsNoticed: guarantees 5
// and 7.
func TestAnHTTPServerThatGoesAwayInMidCallIsAnErrorAndItsReturnIsNoticed(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	w := mount(t, nil, web(s.URL)).ready()
	done := make(chan tool.Result)
	go func() { done <- w.call("mcp__web__hang", `{}`) }()
	<-s.entered
	address := s.Listener.Addr().String()
	s.Listener.Close()
	s.CloseClientConnections()
	if r := <-done; !strings.HasPrefix(r.Error, "mcp server web was lost during the call") {
		t.Errorf("%+v", r)
	}
	if r := w.call("mcp__web__echo", `{}`); !strings.HasPrefix(r.Error, "mcp server web ") || !strings.Contains(r.Error, "refused") {
		t.Errorf("a call without a server: %+v", r)
	}
	back := newSite(t, nil)
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("the address is taken: %v", err)
	}
	again := &http.Server{Handler: back.Config.Handler}
	go again.Serve(l)
	t.Cleanup(func() { again.Close() })
	if r := w.call("mcp__web__echo", `{"a":1}`); string(r.Content) != `{"a":1}` {
		t.Errorf("%+v", r)
	}
}

// TestARedirectToAnotherHostIsNotFollowed: guarantee 11. The bearer stays at home.
func TestARedirectToAnotherHostIsNotFollowed(t *testing.T) {
	t.Parallel()
	var strayed atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
	t.Cleanup(other.Close)
	home := httptest.NewServer(http.RedirectHandler(other.URL+"/x?key=very-secret", http.StatusTemporaryRedirect))
	t.Cleanup(home.Close)
	config := web(home.URL + "/mcp?token=my-secret-token")
	config.Bearer = "the-bearer-token"
	w := mount(t, nil, config)
	waitFor(t, "the log says why", func() bool { return strings.Contains(w.log.String(), "another host") })
	w.Close()
	if n := strayed.Load(); n != 0 {
		t.Errorf("%d requests went to the other host", n)
	}
	log := w.log.String()
	for _, secret := range []string{"my-secret-token", "the-bearer-token"} {
		if strings.Contains(log, secret) {
			t.Errorf("%s is in the log:\n%s", secret, log)
		}
	}
}

// TestARedirectOnTheSameHostIsFollowed: guarantee 11.
func TestARedirectOnTheSameHostIsFollowed(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	inner := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
			return
		}
		inner.ServeHTTP(w, r)
	})
	w := mount(t, nil, web(s.URL+"/old")).ready()
	if r := w.call("mcp__web__echo", `{"a":1}`); string(r.Content) != `{"a":1}` {
		t.Errorf("%+v; log:\n%s", r, w.log)
	}
}

// get runs one request through a remote whose server answers with h.
func get(t *testing.T, patience time.Duration, method string, h http.HandlerFunc) (*http.Response, *wire, error) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	w := newWire(newOutputLog(discard(), newMasker(ServerConfig{})))
	r, err := dial(web(s.URL), w)
	if err != nil {
		t.Fatal(err)
	}
	r.patience = patience
	t.Cleanup(func() { _ = r.wait() })
	req, err := http.NewRequest(method, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.RoundTrip(req)
	if err == nil {
		t.Cleanup(func() { resp.Body.Close() })
	}
	return resp, w, err
}

// TestAServerThatIsSilentAboutItsStreamOfNotificationsHasNone: guarantee 5.
func TestAServerThatIsSilentAboutItsStreamOfNotificationsHasNone(t *testing.T) {
	t.Parallel()
	resp, _, err := get(t, 50*time.Millisecond, http.MethodGet, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	if err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("%v %v", resp, err)
	}
}

// TestAnswersOverHTTPAreBounded: guarantee 9.
func TestAnswersOverHTTPAreBounded(t *testing.T) {
	t.Parallel()
	for kind, before := range map[string]string{"application/json": `"`, "text/event-stream": "data: ", "text/event-stream; lines": "\ndata: "} {
		resp, w, err := get(t, headerWait, http.MethodPost, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", kind)
			piece := []byte(strings.Repeat("x", 1<<20))
			if strings.HasSuffix(kind, "lines") {
				piece = []byte(strings.Repeat(before+strings.Repeat("x", 1000), 1000))
			} else {
				io.WriteString(rw, before)
			}
			for r.Context().Err() == nil { // endless
				if _, err := rw.Write(piece); err != nil {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if !errors.Is(err, errTooLong) || n > maxMessage || w.fault() == nil {
			t.Errorf("%s: %d bytes, %v", kind, n, err)
		}
		resp.Body.Close()
	}
	resp, _, err := get(t, headerWait, http.MethodPost, func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(http.StatusBadRequest)
		io.WriteString(rw, strings.Repeat("x", 2*maxErrorBody))
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := io.Copy(io.Discard, resp.Body); n != maxErrorBody {
		t.Errorf("%d bytes of an error", n)
	}
}

// TestAnEventStreamPassesInWhateverFraming: line ends, comments, data in several
// lines, unknown fields.
func TestAnEventStreamPassesInWhateverFraming(t *testing.T) {
	t.Parallel()
	const m = `{"jsonrpc":"2.0","method":"m"}`
	want := "event: message\nid: 7\ndata: " + m + "\n\n"
	for name, sent := range map[string]string{
		"plain":    "event: message\nid: 7\ndata: " + m + "\n\n",
		"crlf":     "event: message\r\nid: 7\r\ndata: " + m + "\r\n\r\n",
		"no space": "event:message\nid:7\ndata:" + m + "\n\n",
		"split":    "event: message\nid: 7\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"m\"}\n\n",
		"comments": ": hello\nevent: message\n:\nid: 7\nnobody: knows\nnocolon\ndata: " + m + "\n\n",
	} {
		for _, step := range []int{1, 3, 1 << 20} {
			resp, _, err := get(t, headerWait, http.MethodPost, func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Content-Type", "text/event-stream")
				for chunk := range slices.Chunk([]byte(sent), step) {
					rw.Write(chunk)
					rw.(http.Flusher).Flush()
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(resp.Body)
			if string(b) != want || err != nil {
				t.Errorf("%s by %d: %q, %v", name, step, b, err)
			}
		}
	}
}

// TestNoConfiguredSecretIsInAnErrorOfACall: guarantee 11.
func TestNoConfiguredSecretIsInAnErrorOfACall(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	config := web(strings.Replace(s.URL, "http://", "http://me:hidden-password@", 1) + "/?token=my-secret-token")
	config.Bearer = "the-bearer-token"
	w := mount(t, nil, config).ready()
	s.add("leak", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, fmt.Errorf("no right for the-bearer-token")
	})
	w.changed()
	w.changed()
	refusal := w.call("mcp__web__leak", `{}`) // may need a connection of its own
	s.Listener.Close()
	s.CloseClientConnections()
	lost := w.call("mcp__web__echo", `{}`)
	if !strings.Contains(refusal.Error, "no right for [secret]") || lost.Error == "" {
		t.Errorf("%+v, %+v", refusal, lost)
	}
	for _, text := range []string{refusal.Error, lost.Error, w.log.String()} {
		if strings.Contains(text, "hidden-password") || strings.Contains(text, "my-secret-token") || strings.Contains(text, "the-bearer-token") {
			t.Errorf("%q", text)
		}
	}
}
