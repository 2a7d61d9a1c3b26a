package mcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hitchpost/turn/event"
	"hitchpost/turn/tool"
)

// TestEachFormOfAResultBecomesWhatTheSpecificationSays: guarantee 3.
func TestEachFormOfAResultBecomesWhatTheSpecificationSays(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	for _, c := range []struct{ name, result, content, err string }{
		{"one text", `{"content":[{"type":"text","text":"a"}]}`, `"a"`, ""},
		{"texts are joined", `{"content":[{"type":"text","text":"a"},{"type":"text","text":""},{"type":"text","text":"b\n"}]}`, `"a\n\nb\n"`, ""},
		{"no content", `{"content":[]}`, `""`, ""},
		{"nothing at all", `{}`, `""`, ""},
		{"structured", `{"content":[{"type":"text","text":"x"}],"structuredContent":{"b":1,"a":[2]}}`, `{"b":1,"a":[2]}`, ""},
		{"structured without content", `{"structuredContent":{"a":1}}`, `{"a":1}`, ""},
		{"digits", `{"content":[],"structuredContent":{"id":12345678901234567890,"x":1.10,"y":1e400}}`, `{"id":12345678901234567890,"x":1.10,"y":1e400}`, ""},
		{"null", `{"content":[{"type":"text","text":"x"}],"structuredContent":null}`, `null`, ""},
		{"false", `{"content":[{"type":"text","text":"x"}],"structuredContent":false}`, `false`, ""},
		{"zero", `{"content":[],"structuredContent":0}`, `0`, ""},
		{"empty string", `{"content":[],"structuredContent":""}`, `""`, ""},
		{"empty object", `{"content":[],"structuredContent":{}}`, `{}`, ""},
		{"image", `{"content":[{"type":"text","text":"see"},{"type":"image","mimeType":"image/png","data":"AAEC"}]}`, `"see\n[image image/png 3 bytes]"`, ""},
		{"audio", `{"content":[{"type":"audio","mimeType":"audio/wav","data":"AAE="}]}`, `"[audio audio/wav 2 bytes]"`, ""},
		{"link", `{"content":[{"type":"resource_link","uri":"file:///a","name":"a"}]}`, `"[resource_link file:///a]"`, ""},
		{"resource", `{"content":[{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"t"}}]}`, `"[resource file:///a text/plain]"`, ""},
		{"a type nobody knows", `{"content":[{"type":"hologram","x":1},{"type":"text","text":"t"}]}`, `"[hologram]\nt"`, ""},
		{"no type", `{"content":[{},7,null]}`, `"[item without a type]\n[item without a type]\n[item without a type]"`, ""},
		{"broken data", `{"content":[{"type":"image","mimeType":"image/png","data":"!"}]}`, `"[image image/png 0 bytes]"`, ""},
		{"error", `{"isError":true,"content":[{"type":"text","text":"no such file"}]}`, "", "no such file"},
		{"error, structured", `{"isError":true,"content":[],"structuredContent":{"why":1}}`, "", `{"why":1}`},
		{"error without a word", `{"isError":true,"content":[]}`, "", "the tool failed and did not say why"},
		{"a question", `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{}}}}`, "", "the tool asks for more input"},
		{"complete", `{"resultType":"complete","content":[{"type":"text","text":"a"}]}`, `"a"`, ""},
		{"not a result", `{"content":[{"type":"text","text":"a"}],"isError":"yes"}`, "", "the mcp server's result cannot be read"},
		{"content that is none", `{"content":"text"}`, "", "mcp server stub was lost during the call"},
	} {
		r := w.call("mcp__stub__raw", `{"result":`+quote(c.result)+`}`)
		if string(r.Content) != c.content || !strings.HasPrefix(r.Error, c.err) || (c.err == "") != (r.Error == "") {
			t.Errorf("%s: content %s, error %q", c.name, r.Content, r.Error)
		}
	}
}

// TestTextArrivesByteForByte: no escaping, no splitting, whatever the characters.
func TestTextArrivesByteForByte(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	odd := "a<b && c>d \u2028 \u2029 \u0085 \x00 \r \x7f \u202e 漢字 👩‍👩‍👧 e\u0301 \"\\"
	r := w.call("mcp__stub__sleep", `{"text":`+quote(odd)+`}`)
	if got := w.text(r); got != odd {
		t.Errorf("%q became %q", odd, got)
	}
	r = w.call("mcp__stub__raw", `{"result":`+quote(`{"content":[],"structuredContent":{"t":"a<b && c>d `+"\u2028"+`"}}`)+`}`)
	if got := string(r.Content); got != `{"t":"a<b && c>d `+"\u2028"+`"}` {
		t.Errorf("structured: %s", got)
	}
}

// TestArgumentsKeepTheirDigits: guarantee 4.
func TestArgumentsKeepTheirDigits(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	got := w.text(w.call("mcp__stub__echo", `{"id":12345678901234567890,"x":1.10,"y":1e400,"s":"<&>"}`))
	var line struct {
		Params struct{ Arguments json.RawMessage }
	}
	if err := json.Unmarshal([]byte(got), &line); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"id":12345678901234567890`, `"x":1.10`, `"y":1e400`} {
		if !strings.Contains(string(line.Params.Arguments), want) {
			t.Errorf("%s is not in %s", want, line.Params.Arguments)
		}
	}
	if got := w.text(w.call("mcp__stub__echo", ``)); !strings.Contains(got, `"arguments":{}`) {
		t.Errorf("no arguments became %s", got)
	}
}

// TestALateAnswerIsNeverTakenForTheNextCalls: guarantees 5 and 6.
func TestALateAnswerIsNeverTakenForTheNextCalls(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	dir := t.TempDir()
	begin := func(ctx context.Context, name string) <-chan tool.Result {
		done := make(chan tool.Result, 1)
		await := w.tool("mcp__stub__await")
		go func() { done <- await.Run(ctx, callOf(`{"text":`+quote(filepath.Join(dir, name))+`}`)) }()
		waitFor(t, name+" is under way", func() bool { return w.noted("awaits " + name) })
		return done
	}
	end := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first := w.text(w.call("mcp__stub__pid", `{}`))
	neighbour := begin(context.Background(), "neighbour") // keeps the old connection
	ctx, timeUp := context.WithCancelCause(context.Background())
	late := begin(ctx, "late")
	timeUp(errTimeout)
	if r := <-late; r.Error != "mcp timeout after 30s" || r.Cause != string(event.CodeToolTimeout) {
		t.Errorf("%+v", r)
	}
	next := begin(context.Background(), "next")
	end("late")
	waitFor(t, "the late answer", func() bool { return w.noted("answered late") })
	end("next")
	if got := w.text(<-next); got != "next" {
		t.Errorf("the next call was answered %q", got)
	}
	if second := w.text(w.call("mcp__stub__pid", `{}`)); second == first {
		t.Error("the connection is the one that timed out")
	}
	end("neighbour")
	if got := w.text(<-neighbour); got != "neighbour" {
		t.Errorf("the neighbour was answered %q", got)
	}
	waitFor(t, "the process that timed out is gone", func() bool { return !w.alive(first) })
}

// TestACallEndsWhenItsTimeIsUp: guarantee 5, by the clock.
func TestACallEndsWhenItsTimeIsUp(t *testing.T) {
	t.Parallel()
	w := mount(t, nil, stubServer("stub", 2*time.Second))
	w.changed()
	if r := w.call("mcp__stub__sleep", `{"ms":600000}`); r.Error != "mcp timeout after 2s" || r.Cause != string(event.CodeToolTimeout) {
		t.Errorf("%+v", r)
	}
}

// TestANewConnectionLeavesTheCallsOfOthersAlone: guarantee 6.
func TestANewConnectionLeavesTheCallsOfOthersAlone(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	first := w.text(w.call("mcp__stub__pid", `{}`))
	file := filepath.Join(t.TempDir(), "now")
	neighbour := make(chan tool.Result)
	go func() { neighbour <- w.call("mcp__stub__await", `{"text":`+quote(file)+`}`) }()
	waitFor(t, "the neighbour is under way", func() bool { return w.noted("call await") })
	w.servers[0].drop(w.conn()) // as a timeout does
	if second := w.text(w.call("mcp__stub__pid", `{}`)); second == first {
		t.Error("the connection is not a new one")
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := w.text(<-neighbour); got != "now" {
		t.Errorf("the neighbour got %q", got)
	}
	waitFor(t, "the old process is gone", func() bool { return !w.alive(first) })
}

// TestACrashInMidCallIsAnErrorAndTheNextCallRuns: guarantees 5 and 7.
func TestACrashInMidCallIsAnErrorAndTheNextCallRuns(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	for _, how := range []string{"exit", "half"} {
		r := w.call("mcp__stub__"+how, `{"code":7}`)
		want := "mcp server stub was lost during the call, whose outcome is unknown: its process ended: exit status 7"
		if r.Error != want || r.Cause != string(event.CodeMCP) {
			t.Errorf("%s: %+v", how, r)
		}
		if got := w.text(w.call("mcp__stub__sleep", `{"text":"back"}`)); got != "back" {
			t.Errorf("behind %s: %q", how, got)
		}
	}
	if len(w.changes) != 1 {
		t.Errorf("the roster changed %d times; it is kept while a server is away", len(w.changes))
	}
}

// TestACallThatTheServerRefusesLeavesTheConnection: guarantee 5. Some codes are the
// SDK's own, for a connection that has ended: they must not make a call twice.
func TestACallThatTheServerRefusesLeavesTheConnection(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	pid := w.text(w.call("mcp__stub__pid", `{}`))
	r := w.call("mcp__stub__refuse", `{"code":-32602,"text":"no <b>"}`)
	if r.Error != "mcp server stub refused the call: no <b>" || r.Cause != string(event.CodeMCP) {
		t.Errorf("%+v", r)
	}
	if again := w.text(w.call("mcp__stub__pid", `{}`)); again != pid {
		t.Error("the connection was made anew")
	}
	for _, code := range []string{"-32003", "-32004", "-32005"} {
		if r := w.call("mcp__stub__refuse", `{"code":`+code+`,"text":"because"}`); !strings.Contains(r.Error, "because") {
			t.Errorf("%s: %+v", code, r)
		}
	}
	calls := 0
	for line := range strings.Lines(readFile(t, w.notes)) {
		if line == "call refuse\n" {
			calls++
		}
	}
	if calls != 4 {
		t.Errorf("4 calls reached the server as %d", calls)
	}
}

// TestTheServerIsToldOfACancelledCall: guarantee 5.
func TestTheServerIsToldOfACancelledCall(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	pid := w.text(w.call("mcp__stub__pid", `{}`))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan tool.Result)
	go func() { done <- w.callIn(ctx, "mcp__stub__sleep", `{"ms":600000}`, nil) }()
	waitFor(t, "the call is under way", func() bool { return w.noted("call sleep") })
	cancel()
	if r := <-done; r.Error != "cancelled" {
		t.Errorf("%+v", r)
	}
	waitFor(t, "the server is told", func() bool { return strings.Contains(readFile(t, w.notes), "cancelled ") })
	if again := w.text(w.call("mcp__stub__pid", `{}`)); again != pid {
		t.Error("a cancelled call cost the connection")
	}
}

// TestACallToAServerThatDoesNotReadEndsWithItsContext: guarantee 5.
func TestACallToAServerThatDoesNotReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	w.call("mcp__stub__deaf", `{}`)
	big := `{"text":"` + strings.Repeat("x", 1<<20) + `"}` // more than a pipe holds
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	r := w.callIn(ctx, "mcp__stub__echo", big, nil)
	if r.Error != "cancelled" {
		t.Errorf("%+v", r)
	}
}

// TestProgressComesInOrderAndBeforeTheResult: progress is the call's.
func TestProgressComesInOrderAndBeforeTheResult(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	var wg sync.WaitGroup
	for range 5 { // side by side: each hears of itself alone
		wg.Go(func() {
			var heard []string
			r := w.callIn(context.Background(), "mcp__stub__progress", `{}`, func(s string) { heard = append(heard, s) })
			if string(r.Content) != `"done"` {
				t.Errorf("%+v", r)
			}
			if want := []string{"1/3 part 1\n", "2/3 part 2\n", "3/3 part 3\n"}; !slices.Equal(heard, want) {
				t.Errorf("heard %q", heard)
			}
		})
	}
	wg.Wait()
}

// TestAMessageAboveTheLimitIsAnErrorAndOneBelowPasses: guarantee 9.
func TestAMessageAboveTheLimitIsAnErrorAndOneBelowPasses(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	if got := w.text(w.call("mcp__stub__huge", `{"bytes":5000000}`)); len(got) != 5_000_000 {
		t.Errorf("%d bytes of 5,000,000", len(got))
	}
	r := w.call("mcp__stub__huge", `{"bytes":16777216}`)
	if !strings.HasSuffix(r.Error, "it sent a message of more than 16777216 bytes") {
		t.Errorf("%+v", r)
	}
	if got := w.text(w.call("mcp__stub__sleep", `{"text":"back"}`)); got != "back" {
		t.Errorf("%q", got)
	}
}

// TestOutputThatIsNoMessageIsPassedOver: guarantee 9.
func TestOutputThatIsNoMessageIsPassedOver(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	if got := w.text(w.call("mcp__stub__noise", `{}`)); got != "through" {
		t.Errorf("%q", got)
	}
	if !strings.Contains(w.log.String(), "Listening…") {
		t.Errorf("the log does not show it:\n%s", w.log)
	}
}

// TestMessagesThatAnswerNothingCostNothing: guarantee 9.
func TestMessagesThatAnswerNothingCostNothing(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	pid := w.text(w.call("mcp__stub__pid", `{}`))
	if got := w.text(w.call("mcp__stub__stray", `{}`)); got != "still here" {
		t.Errorf("%q", got)
	}
	if again := w.text(w.call("mcp__stub__pid", `{}`)); again != pid {
		t.Error("the connection was made anew")
	}
}

// TestAServerThatAsksWithoutEndIsGivenUp: guarantee 9. Its requests would pile up
// here while it reads no answer.
func TestAServerThatAsksWithoutEndIsGivenUp(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	if r := w.call("mcp__stub__ask", `{}`); !strings.HasSuffix(r.Error, "it asks more than can be answered") {
		t.Errorf("%+v", r)
	}
	if got := w.text(w.call("mcp__stub__sleep", `{"text":"back"}`)); got != "back" {
		t.Errorf("%q", got)
	}
}

// TestCallsCrashesChangesAndACloseAllAtOnce: guarantees 5, 8 and 12; worth most under
// the race detector.
func TestCallsCrashesChangesAndACloseAllAtOnce(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	tools := map[string]*tool.Tool{}
	for _, name := range []string{"sleep", "change", "exit", "refuse", "progress"} {
		tools[name] = w.tool("mcp__stub__" + name)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 12 {
				name := []string{"sleep", "change", "refuse", "progress", "sleep", "exit"}[(i+j)%6]
				r := tools[name].Run(context.Background(), callOf(`{"text":"x","ms":1,"code":1,"add":"t`+name+`"}`))
				if (r.Error == "") == (r.Content == nil) {
					t.Errorf("%s: %+v", name, r)
				}
				if i == 0 && j == 8 {
					w.Close()
				}
			}
		})
	}
	wg.Wait()
}
