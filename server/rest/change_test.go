package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
)

// narrowed is the token all without its verbs.
func narrowed() *auth.Token {
	return auth.NewToken("all", "me", auth.DigestOf("secret-all"), nil, auth.Inject)
}

func TestThePolicyIsShownAndReplaced(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	if got := w.ask(http.StatusOK, "GET", "/sessions/s/policy", ""); got.body != `{"patterns":["*"]}`+"\n" {
		t.Errorf("the floor is %s", got.body)
	}
	for _, patterns := range []string{`["Read","mcp__*"]`, `[]`} {
		put := w.ask(http.StatusOK, "PUT", "/sessions/s/policy", `{"patterns":`+patterns+`}`)
		if got := w.ask(http.StatusOK, "GET", "/sessions/s/policy", ""); got.body != `{"patterns":`+patterns+"}\n" || put.body != got.body {
			t.Errorf("put %s, answered %s, now %s", patterns, put.body, got.body)
		}
	}
	long := `"` + strings.Repeat("x", 257) + `"`
	for _, c := range []struct{ body, words string }{
		{`{}`, "missing"}, {`{"patterns":"*"}`, "array"}, {`{"patterns":["a",null]}`, "array"}, {`{"patterns":[7]}`, "string"},
		{`{"patterns":[` + long + `]}`, "256"}, {`{"patterns":["\u0000"]}`, "NUL"},
		{`{"patterns":[` + strings.Repeat(`"x",`, 128) + `"x"]}`, "128"},
	} {
		w.as("all", "PUT", "/sessions/s/policy", c.body).refused(t, http.StatusBadRequest, c.words)
	}
	if got := w.ask(http.StatusOK, "GET", "/sessions/s/policy", ""); got.body != `{"patterns":[]}`+"\n" {
		t.Errorf("a refused one counts: %s", got.body)
	}
	if log := w.ask(http.StatusOK, "GET", "/sessions/s/events", "").body; strings.Count(log, `"by":"all"`) != 2 {
		t.Errorf("the log does not say who did it: %s", log)
	}
}

func TestModelsAreRepointedAllOrNone(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	if got := w.ask(http.StatusOK, "GET", "/sessions/s/models", ""); got.body != `{"main":"demo/one"}`+"\n" {
		t.Errorf("the definition's are %s", got.body)
	}
	for _, c := range []struct{ body, words string }{
		{`{}`, "no role"}, {`{"main":7}`, "string"}, {`{"main":null}`, "string"}, {`{"titler":"demo/two","main":"nobody/x"}`, "nobody"},
		{`{"main":"demo"}`, "provider/model"}, {`{"":"demo/x"}`, "role"}, {`[]`, "object"},
	} {
		w.as("all", "PUT", "/sessions/s/models", c.body).refused(t, http.StatusBadRequest, c.words)
	}
	if got := w.ask(http.StatusOK, "GET", "/sessions/s/models", ""); got.body != `{"main":"demo/one"}`+"\n" {
		t.Errorf("half of a refused change counts: %s", got.body)
	}
	put := w.ask(http.StatusOK, "PUT", "/sessions/s/models", `{"titler":"demo/two","extra":"demo/a/b"}`)
	if want := `{"extra":"demo/a/b","main":"demo/one","titler":"demo/two"}` + "\n"; put.body != want {
		t.Errorf("now %s", put.body)
	}
}

func TestBranchingMovesTheLeafAndTheViewSaysSo(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	w.outcome("s", "first", "one").want(t, http.StatusOK)
	w.outcome("s", "second", "two").want(t, http.StatusOK)
	entries := parse[[]protocol.LogEvent](t, w.ask(http.StatusOK, "GET", "/sessions/s/messages", "")) // for their ids
	for _, c := range []struct{ body, words string }{
		{`{}`, "entry_id is missing"}, {`{"entry_id":"0123456789abcdef"}`, "no such entry"}, {`{"entry_id":7}`, "string"},
	} {
		w.as("all", "POST", "/sessions/s/branch", c.body).refused(t, http.StatusBadRequest, c.words)
	}
	got := parse[protocol.Branched](t, w.ask(http.StatusOK, "POST", "/sessions/s/branch", fmt.Sprintf(`{"entry_id":%q,"exclusive":true}`, entries[2].ID)))
	if want := (protocol.Branched{Leaf: entries[1].ID, PreviousLeaf: entries[3].ID}); got != want {
		t.Errorf("branched %+v, want %+v", got, want)
	}
	view := func() (on []bool) {
		for _, e := range elements(t, w.ask(http.StatusOK, "GET", "/sessions/s/messages", "")) {
			on = append(on, strings.HasSuffix(e, `"on_path":true,"compacted":false}`))
		}
		return on
	}
	if got := view(); !slices.Equal(got, []bool{true, true, false, false}) {
		t.Errorf("on the path: %v", got)
	}
	// Editing the first message: to the root.
	if got := parse[protocol.Branched](t, w.ask(http.StatusOK, "POST", "/sessions/s/branch", fmt.Sprintf(`{"entry_id":%q,"exclusive":true}`, entries[0].ID))); got.Leaf != "" {
		t.Errorf("before the first is %q", got.Leaf)
	}
	w.model.Answers("x", pause)
	run := w.run("s", "third")
	<-w.model.Reached
	w.as("all", "POST", "/sessions/s/branch", fmt.Sprintf(`{"entry_id":%q}`, entries[0].ID)).refused(t, http.StatusConflict, "open")
	w.as("all", "POST", "/sessions/s/compact", "").refused(t, http.StatusConflict, "open")
	w.ask(http.StatusAccepted, "POST", "/runs/"+run+"/cancel", "")
}

func TestForkingCopiesUpToAnEntry(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	w.outcome("s", "first", "one").want(t, http.StatusOK)
	w.outcome("s", "second", "two").want(t, http.StatusOK)
	entries := elements(t, w.ask(http.StatusOK, "GET", "/sessions/s/messages", ""))
	for _, c := range []struct{ body, words string }{
		{`{"exclusive":true}`, "message_id"}, {`{"message_id":"0123456789abcdef"}`, "no such entry"}, {`{"entry_id":"x"}`, "unknown member"},
	} {
		w.as("all", "POST", "/sessions/s/fork", c.body).refused(t, http.StatusBadRequest, c.words)
	}
	for _, c := range []struct {
		body string
		n    int
	}{{``, 4}, {`{}`, 4}, {fmt.Sprintf(`{"message_id":%q}`, idOf(t, entries[1])), 2}, {fmt.Sprintf(`{"message_id":%q,"exclusive":true}`, idOf(t, entries[1])), 1}} {
		made := w.ask(http.StatusCreated, "POST", "/sessions/s/fork", c.body)
		fork := parse[protocol.Session](t, made)
		var ids, want []string
		for _, e := range elements(t, w.ask(http.StatusOK, "GET", "/sessions/"+fork.ID+"/messages", "")) {
			ids = append(ids, idOf(t, e))
		}
		for _, e := range entries[:c.n] {
			want = append(want, idOf(t, e))
		}
		if len(ids) < c.n || !slices.Equal(ids[:c.n], want) || made.header.Get("Location") != "/api/v1/sessions/"+fork.ID {
			t.Errorf("%s: the copy has %v, want %v", c.body, ids, want)
		}
		if again := parse[protocol.Session](t, w.ask(http.StatusOK, "GET", "/sessions/"+fork.ID, "")); fork.ForkedFrom != "s" || again.ForkedFrom != "s" {
			t.Errorf("%s: it says that it was forked from %q, then %q", c.body, fork.ForkedFrom, again.ForkedFrom)
		}
	}
}

func TestCompactingOnDemandSaysWhatBecameOfIt(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	nothing := parse[protocol.CompactionResult](t, w.ask(http.StatusOK, "POST", "/sessions/s/compact", ""))
	if nothing.Compacted || nothing.Reason == "" {
		t.Errorf("of nothing: %+v", nothing)
	}
	w.outcome("s", strings.Repeat("a long question ", 50), strings.Repeat("a long answer ", 50)).want(t, http.StatusOK)
	w.model.Answers(fails)
	w.as("all", "POST", "/sessions/s/compact", "").refused(t, http.StatusBadGateway, "it does not want to")
	w.model.Answers("short")
	done := parse[protocol.CompactionResult](t, w.ask(http.StatusOK, "POST", "/sessions/s/compact", ""))
	if !done.Compacted || done.TokensBefore == nil {
		t.Errorf("compacted: %+v", done)
	}
	entries := elements(t, w.ask(http.StatusOK, "GET", "/sessions/s/messages", ""))
	if !strings.HasSuffix(entries[0], `"on_path":true,"compacted":true}`) || !strings.Contains(entries[len(entries)-1], `"kind":"compaction"`) {
		t.Errorf("the history is %s", strings.Join(entries, "\n"))
	}
}

// guarantee 7
func TestACompactionThatIsWaitedForDoesNotHoldUpADrain(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	w.outcome("s", "question", "answer").want(t, http.StatusOK)
	w.model.Answers(pause)
	answered := make(chan reply)
	go func() { answered <- w.as("all", "POST", "/sessions/s/compact", "") }()
	<-w.model.Reached
	w.server.Drain()
	got := <-answered
	got.refused(t, http.StatusServiceUnavailable, "shutting down")
	w.server.Wait()
}
