package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func parseTools(t *testing.T, tools []string) (list []*sdk.Tool) {
	t.Helper()
	if err := json.Unmarshal([]byte("["+strings.Join(tools, ",")+"]"), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

// TestListChangedRegistersAndRemoves: guarantee 8.
func TestListChangedRegistersAndRemoves(t *testing.T) {
	t.Parallel()
	w := mount(t, nil)
	w.changed()
	w.call("mcp__stub__change", `{"add":"fresh"}`)
	w.changed()
	if got := w.text(w.call("mcp__stub__fresh", `{}`)); got != "fresh" {
		t.Errorf("%q", got)
	}
	w.call("mcp__stub__change", `{"remove":"fresh"}`)
	w.changed()
	if slices.Contains(w.names(), "mcp__stub__fresh") {
		t.Errorf("it is still there: %q", w.names())
	}
}

// TestAListThatIsTheSameIsNoChange: guarantee 8.
func TestAListThatIsTheSameIsNoChange(t *testing.T) {
	t.Parallel()
	w := mount(t, nil)
	w.changed()
	for range 20 {
		w.call("mcp__stub__change", `{}`)
	}
	w.call("mcp__stub__change", `{"add":"last"}`)
	w.changed()
	if len(w.changes) != 0 {
		t.Errorf("%d changes too many", len(w.changes))
	}
}

// TestAListingThatFailsKeepsTheRoster: guarantee 7.
func TestAListingThatFailsKeepsTheRoster(t *testing.T) {
	t.Parallel()
	w := mount(t, nil)
	w.changed()
	before := w.names()
	w.call("mcp__stub__change", `{"add":"unseen","fail":true}`)
	waitFor(t, "the failure is logged", func() bool { return strings.Contains(w.log.String(), "no list today") })
	if got := w.names(); !slices.Equal(got, before) {
		t.Errorf("%q", got)
	}
	w.call("mcp__stub__change", `{"add":"seen"}`)
	w.changed()
	if got := w.names(); len(got) != len(before)+2 {
		t.Errorf("%q", got)
	}
}

// TestACallOfARemovedToolIsAnError: the roster may change under a call.
func TestACallOfARemovedToolIsAnError(t *testing.T) {
	t.Parallel()
	w := mount(t, nil)
	w.changed()
	w.call("mcp__stub__change", `{"add":"gone"}`)
	w.changed()
	old := w.tool("mcp__stub__gone")
	w.call("mcp__stub__change", `{"remove":"gone"}`)
	w.changed()
	r := old.Run(t.Context(), callOf(`{}`))
	if r.Error != "mcp server stub refused the call: unknown tool" {
		t.Errorf("%+v", r)
	}
}

// TestAListOfManyPagesIsReadToItsEndAndAnEndlessOneIsNot: guarantee 9.
func TestAListOfManyPagesIsReadToItsEndAndAnEndlessOneIsNot(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.mcp = sdk.NewServer(&sdk.Implementation{Name: "pages", Version: "1"}, &sdk.ServerOptions{PageSize: 7})
	for i := range 100 {
		s.add(fmt.Sprintf("t%d", i), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return nil, nil })
	}
	w := mount(t, nil, web(s.URL)).ready()
	if got := len(w.Tools()); got != 100 {
		t.Errorf("%d tools", got)
	}
	endless := mount(t, map[string]string{"STUB_CURSOR": `,"nextCursor":"again"`}).ready()
	if !slices.Contains(endless.names(), "mcp__stub__echo") {
		t.Errorf("%q", endless.names())
	}
}

// TestAServerWithoutToolsIsConnectedAndHasNone: guarantee 7 is no reason to dial it
// again and again.
func TestAServerWithoutToolsIsConnectedAndHasNone(t *testing.T) {
	t.Parallel()
	s := sdk.NewServer(&sdk.Implementation{Name: "bare", Version: "1"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{}})
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(h.Close)
	w := mount(t, nil, web(h.URL)).ready()
	if st := w.Status()[0]; st.Err != nil || st.Tools != 0 {
		t.Errorf("%+v", st)
	}
}
