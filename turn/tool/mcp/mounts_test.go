package mcp

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hitchpost/turn/tool"
)

// TestToolsWithGoodNamesMountAndTheOthersAreLeftOut: guarantee 1.
func TestToolsWithGoodNamesMountAndTheOthersAreLeftOut(t *testing.T) {
	t.Parallel()
	w := mount(t, map[string]string{"STUB_TOOLS": strings.Join([]string{
		`{"name":"ok","inputSchema":{"type":"object"}}`,
		`{"name":"A.b-c_9","inputSchema":{"type":"object"}}`,
		`{"name":"bad name","inputSchema":{"type":"object"}}`,
		`{"name":"","inputSchema":{"type":"object"}}`,
		`{"name":"ümlaut","inputSchema":{"type":"object"}}`,
		`{"name":"line\n","inputSchema":{"type":"object"}}`,
		`{"name":"ok","description":"twice","inputSchema":{"type":"object"}}`,
		`{"name":"` + strings.Repeat("n", maxName) + `","inputSchema":{"type":"object"}}`,
		`{"name":"large","inputSchema":{"type":"object","title":"` + strings.Repeat("s", maxSchema) + `"}}`,
		`null`,
	}, ",")}).ready()
	if got, want := w.names(), []string{"mcp__stub__A.b-c_9", "mcp__stub__ok"}; !slices.Equal(got, want) {
		t.Errorf("mounted %q, want %q", got, want)
	}
	if w.tool("mcp__stub__ok").Description != "" {
		t.Error("the second tool of a name replaced the first")
	}
	for _, sign := range []string{`tool="bad name"`, "tool=ümlaut", "another of this name", "longer than 128 bytes", "above 65536"} {
		if !strings.Contains(w.log.String(), sign) {
			t.Errorf("the log does not say %s:\n%s", sign, w.log)
		}
	}
	for _, name := range []string{"ok", "A.b-c_9"} {
		if got := w.text(w.call("mcp__stub__"+name, `{}`)); got != name {
			t.Errorf("%s answered %q", name, got)
		}
	}
}

// TestARosterIsBoundedInNumberAndInBytes: guarantee 9.
func TestARosterIsBoundedInNumberAndInBytes(t *testing.T) {
	t.Parallel()
	var many, large []string
	for i := range maxTools + 5 {
		many = append(many, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i))
	}
	for i := range 40 {
		large = append(large, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object","title":"%s"}}`, i, strings.Repeat("s", maxSchema-100)))
	}
	for name, tools := range map[string][]string{"number": many, "bytes": large} {
		// They come from a server of ours: the environment does not hold that much.
		s := &server{cfg: ServerConfig{Name: name}, output: newOutputLog(discard(), newMasker(ServerConfig{}))}
		got := s.mount(parseTools(t, tools))
		size := 0
		for _, tool := range got {
			size += len(tool.Schema)
		}
		if len(got) > maxTools || size > maxRoster || len(got) < 30 {
			t.Errorf("%s: %d tools of %d bytes", name, len(got), size)
		}
	}
}

// TestAnnotationsDecideMutatingParallelAndRepeatable: guarantee 2.
func TestAnnotationsDecideMutatingParallelAndRepeatable(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	for name, want := range map[string]tool.Tool{
		"echo":  {Mutating: true},
		"reads": {Parallel: true, Repeatable: true},
		"again": {Mutating: true, Repeatable: true},
	} {
		got := w.tool("mcp__stub__" + name)
		if got.Mutating != want.Mutating || got.Parallel != want.Parallel || got.Repeatable != want.Repeatable {
			t.Errorf("%s: %+v", name, got)
		}
		if got.Approval != tool.ByPolicy || got.Asks() != want.Mutating {
			t.Errorf("%s: approval %s, asks %v", name, got.Approval, got.Asks())
		}
	}
	reads := w.tool("mcp__stub__reads")
	if reads.Description != "Reads." || !strings.Contains(string(reads.Schema), `"n":{"type":"integer"}`) {
		t.Errorf("description %q, schema %s", reads.Description, reads.Schema)
	}
	if _, err := tool.NewSet(w.Tools()); err != nil {
		t.Error(err)
	}
}

// TestApprovalOfAServerIsThatOfItsTools: guarantee 2.
func TestApprovalOfAServerIsThatOfItsTools(t *testing.T) {
	t.Parallel()
	never, always := stubServer("a", 0), stubServer("b", 0)
	never.Approval, always.Approval = tool.Never, tool.Always
	w := mount(t, nil, never, always).ready()
	if w.tool("mcp__a__echo").Asks() || !w.tool("mcp__b__reads").Asks() {
		t.Error("the approval is not the configured one")
	}
}

// TestASchemaThatIsNoObjectBecomesOne: what cannot be checked is passed through.
func TestASchemaThatIsNoObjectBecomesOne(t *testing.T) {
	t.Parallel()
	w := mount(t, map[string]string{"STUB_TOOLS": `{"name":"none"},{"name":"list","inputSchema":[1]},` +
		`{"name":"odd","inputSchema":{"type":"object","$ref":"https://example.com/x","patternProperties":{"[":{}}}}`}).ready()
	if _, err := tool.NewSet(w.Tools()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"none", "list", "odd"} {
		if got := w.text(w.call("mcp__stub__"+name, `{"any":1}`)); got != name {
			t.Errorf("%s answered %q", name, got)
		}
	}
}

// TestTwoServersThatComeToTheSameNameAreNoTwoTools: guarantee 1.
func TestTwoServersThatComeToTheSameNameAreNoTwoTools(t *testing.T) {
	t.Parallel()
	a, b := stubServer("a", 0), stubServer("a__b", 0)
	a.Env["STUB_TOOLS"] = `{"name":"b__c","description":"first","inputSchema":{"type":"object"}}`
	b.Env["STUB_TOOLS"] = `{"name":"c","description":"second","inputSchema":{"type":"object"}}`
	w := mount(t, nil, b, a).ready()
	if got := w.names(); !slices.Equal(got, []string{"mcp__a__b__c"}) || w.Tools()[0].Description != "first" {
		t.Errorf("%q", got)
	}
}

// TestReadyWaitsForEveryServerAndForNoneThatCannotStart: the first model request
// waits for the lists, but not for ever.
func TestReadyWaitsForEveryServerAndForNoneThatCannotStart(t *testing.T) {
	t.Parallel()
	w := mount(t, nil, stubServer("good", time.Minute),
		ServerConfig{Name: "absent", Command: []string{"no-such-program-anywhere"}, Timeout: time.Hour},
		ServerConfig{Name: "away", Command: []string{"./no-such-file"}, Timeout: time.Hour}).ready()
	if !slices.Contains(w.names(), "mcp__good__echo") {
		t.Errorf("ready without the tools: %q", w.names())
	}
	select {
	case <-w.changes: // a listing is told before Ready returns
	default:
		t.Error("ready before OnChange")
	}
	for _, s := range w.Status() {
		if (s.Err == nil) != (s.Name == "good") || (s.Tools > 0) != (s.Name == "good") {
			t.Errorf("status %+v", s)
		}
	}
	// One that never answers has its timeout, and no more.
	silent := mount(t, nil, ServerConfig{Name: "silent", Command: []string{"sleep", "1000"}, Timeout: 50 * time.Millisecond}).ready()
	if len(silent.Tools()) != 0 {
		t.Error("tools of a server that never answered")
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	forever := mount(t, nil, ServerConfig{Name: "silent", Command: []string{"sleep", "1000"}})
	if err := forever.Ready(ctx); err != context.Canceled {
		t.Errorf("Ready: %v", err)
	}
}

// TestAServerThatDiesAtItsStartIsTriedAgain: guarantee 7.
func TestAServerThatDiesAtItsStartIsTriedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := mount(t, nil)
	flaky := w.stub("flaky", nil)
	flaky.Command = []string{"sh", "-c", `if [ -e "$0/met" ]; then exec "$1"; fi; : >"$0/met"; echo no luck >&2; exit 4`, dir, os.Args[0]}
	w = mount(t, nil, flaky).ready()
	if !slices.Contains(w.names(), "mcp__flaky__echo") {
		t.Errorf("%q; log:\n%s", w.names(), w.log)
	}
	for _, sign := range []string{"no luck", "exit status 4", "again_in="} {
		if !strings.Contains(w.log.String(), sign) {
			t.Errorf("the log does not say %s:\n%s", sign, w.log)
		}
	}
}

// TestBadConfigurationIsToldAllAtOnce: bad input gets a clear error.
func TestBadConfigurationIsToldAllAtOnce(t *testing.T) {
	_, err := Open(context.Background(), []ServerConfig{
		{Name: "Bad Name", Command: []string{"x"}},
		{Name: "both", Command: []string{"x"}, URL: "https://example.com"},
		{Name: "neither"},
		{Name: "ftp", URL: "ftp://example.com"},
		{Name: "twice", Command: []string{"x"}, Approval: "maybe", Timeout: -1},
		{Name: "twice", Command: []string{"x"}, Bearer: "t"},
		{Name: "env", URL: "https://example.com", Env: map[string]string{"A": "b"}},
		{Name: "empty", Command: []string{""}},
	}, Options{})
	for _, want := range []string{
		`mcp server "Bad Name": a name is made of a-z, 0-9, _ and -`,
		`mcp server "both": it needs a command or a url, and not both`,
		`mcp server "neither": it needs a command or a url, and not both`,
		`mcp server "ftp": its url is no http or https address`,
		`mcp server "twice": approval "maybe" is none of never, policy, always`,
		`mcp server "twice": its timeout is negative`,
		`mcp server "twice": there are two of this name`,
		`mcp server "twice": bearer is for a url, it has a command`,
		`mcp server "env": env is for a command, it has a url`,
		`mcp server "empty": its command has no program`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("not told: %s\nin: %v", want, err)
		}
	}
}
