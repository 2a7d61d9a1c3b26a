package rest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hitchpost/server/auth"
	"hitchpost/store"
	"hitchpost/turn"
)

// guarantee 1: also of what is not there.
func TestWithoutATokenInForceNothingIsTold(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	for _, path := range []string{"/sessions", "/sessions/s", "/nothing", "/openapi.json", "/search?q=x"} {
		w.as("", "GET", path, "").refused(t, http.StatusUnauthorized, "missing")
		got := w.as("", "GET", path, "", "Authorization", "Basic secret-all")
		got.refused(t, http.StatusUnauthorized, "missing")
		if got.header.Get("WWW-Authenticate") == "" {
			t.Error("a 401 without WWW-Authenticate")
		}
	}
	w.as("nobody", "GET", "/sessions", "").refused(t, http.StatusUnauthorized, "wrong")
	for _, query := range []string{"token=secret-all", "access_token=secret-all"} { // never a credential in a URL
		w.as("", "GET", "/sessions?"+query, "").refused(t, http.StatusUnauthorized, "missing")
	}
	w.as("", "GET", "/sessions", "", "Sec-WebSocket-Protocol", "hitchpost.v1, bearer.c2VjcmV0LWFsbA").refused(t, http.StatusUnauthorized, "missing")
}

// run wire, connection: over REST a right credential always passes.
func TestTheEleventhWrongTokenInAMinuteIsRefusedAndARightOnePasses(t *testing.T) {
	w := newWorld(t, settings{})
	for range auth.FailuresAMinute {
		w.as("guess", "GET", "/sessions", "").refused(t, http.StatusUnauthorized, "wrong")
		w.as("all", "GET", "/sessions", "").want(t, http.StatusOK)
		w.as("", "GET", "/sessions", "").want(t, http.StatusUnauthorized) // no try
	}
	got := w.as("guess", "GET", "/sessions", "")
	got.refused(t, http.StatusTooManyRequests, "wrong tokens")
	if got.header.Get("Retry-After") == "" {
		t.Error("a 429 without Retry-After")
	}
	w.as("all", "GET", "/sessions", "").want(t, http.StatusOK)
}

func TestForeignPagesAndReboundNamesAreRefused(t *testing.T) {
	w := newWorld(t, settings{})
	for _, headers := range [][]string{
		{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Host", "evil.example"},
	} {
		w.as("all", "GET", "/sessions", "", headers...).refused(t, http.StatusForbidden, headers[1])
		w.as("all", "OPTIONS", "/sessions", "", headers...).refused(t, http.StatusForbidden, headers[1])
		w.as("all", "POST", "/sessions", `{"id":"s"}`, headers...).refused(t, http.StatusForbidden, headers[1])
	}
	w.as("all", "GET", "/sessions", "", "Origin", w.http.URL).want(t, http.StatusOK)
	w.as("all", "GET", "/sessions/s", "").want(t, http.StatusNotFound)
}

// TestATokenMayOnlyWhatItIsAllowed tries every route with every token of one verb: what
// may not be asked for is refused before anything is looked up.
func TestATokenMayOnlyWhatItIsAllowed(t *testing.T) {
	w := newWorld(t, settings{})
	for _, r := range routes() {
		path := r.path
		for _, name := range pathParams(path) {
			path = strings.ReplaceAll(path, "{"+name+"}", "nothing")
		}
		for token, verbs := range map[string]auth.Verbs{"eye": auth.Watch, "hand": auth.Inject, "judge": auth.Approve} {
			got := w.as(token, r.method, path, "")
			if may := verbs&r.verbs == r.verbs; may == (got.status == http.StatusForbidden) {
				t.Errorf("%s %s by a token that may %s: %d %s", r.method, path, verbs, got.status, got.body)
			}
		}
	}
	w.session("s")
	body := `{"input":"x"}`
	w.as("hand", "POST", "/sessions/s/runs", body, "Prefer", "wait=1").refused(t, http.StatusForbidden, "watch")
	w.as("hand", "POST", "/sessions/s/runs", body).want(t, http.StatusCreated)
}

func TestAnUnknownResourceAndAWrongMethodAreToldApart(t *testing.T) {
	w := newWorld(t, settings{})
	for _, path := range []string{
		"/", "/nothing", "/sessions/", "/sessions/s/nothing", "/sessions//runs", "/sessions/../sessions", "/runs", "/approvals/c1",
		"/sessions/s%2Fmessages/x/y",
	} {
		w.as("all", "GET", path, "").refused(t, http.StatusNotFound, "no such resource")
	}
	for path, allow := range map[string]string{
		"/sessions": "GET, HEAD, OPTIONS, POST", "/sessions/s": "DELETE, GET, HEAD, OPTIONS, PATCH",
		"/runs/r/cancel": "OPTIONS, POST", "/sessions/s/policy": "GET, HEAD, OPTIONS, PUT",
	} {
		got := w.as("all", "TRACE", path, "")
		got.refused(t, http.StatusMethodNotAllowed, allow)
		if got.header.Get("Allow") != allow {
			t.Errorf("%s: Allow is %q, want %q", path, got.header.Get("Allow"), allow)
		}
		got = w.as("", "OPTIONS", path, "")
		if got.want(t, http.StatusNoContent); got.header.Get("Allow") != allow {
			t.Errorf("OPTIONS %s: Allow is %q, want %q", path, got.header.Get("Allow"), allow)
		}
	}
}

// guarantee 3
func TestGetAndHeadChangeNothingAndHeadIsGetWithoutABody(t *testing.T) {
	w := newWorld(t, settings{})
	run := w.parked("s")
	w.ask(http.StatusAccepted, "POST", "/runs/"+run+"/inject", `{"queue":"follow_up","input":"later"}`)
	dump := func() string {
		r := w.ask(http.StatusOK, "GET", "/sessions/s/events?limit=1000", "")
		return r.body + w.ask(http.StatusOK, "GET", "/sessions", "").body + w.ask(http.StatusOK, "GET", "/sessions/s/inbox", "").body
	}
	before := dump()
	for _, r := range routes() {
		if r.method != http.MethodGet || r.path == "/search" {
			continue
		}
		path := strings.NewReplacer("{session}", "s", "{run}", run).Replace(r.path)
		head := w.as("all", "HEAD", path, "")
		if head.want(t, http.StatusOK); head.body != "" {
			t.Errorf("HEAD %s has a body", path)
		}
		if path == "/runs/"+run+"/events" { // a stream of a run that waits does not end
			continue
		}
		for range 3 {
			got := w.ask(http.StatusOK, "GET", path, "")
			if got.header.Get("Content-Type") != head.header.Get("Content-Type") || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("GET %s: %v", path, got.header)
			}
		}
	}
	if after := dump(); after != before {
		t.Errorf("reading has changed\n%s\nto\n%s", before, after)
	}
	for _, id := range []string{"never", "s2"} {
		w.ask(http.StatusNotFound, "GET", "/sessions/"+id+"/policy", "")
	}
	if n := strings.Count(w.ask(http.StatusOK, "GET", "/sessions", "").body, `"id"`); n != 1 {
		t.Errorf("%d sessions, want 1", n)
	}
}

// guarantee 8
func TestTheDocumentHasEveryRoute(t *testing.T) {
	w := newWorld(t, settings{})
	type operation struct {
		OperationID string
		Parameters  []struct{ In, Name string }
		RequestBody map[string]any
		Responses   map[string]any
	}
	doc := parse[struct {
		OpenAPI    string
		Paths      map[string]map[string]operation
		Components struct{ Schemas map[string]any }
	}](t, w.ask(http.StatusOK, "GET", "/openapi.json", ""))
	n, ids := 0, map[string]bool{}
	for _, r := range routes() {
		n++
		op, ok := doc.Paths[r.path][strings.ToLower(r.method)]
		if !ok || ids[op.OperationID] || op.OperationID == "" {
			t.Errorf("%s %s: there %v, called %q", r.method, r.path, ok, op.OperationID)
		}
		ids[op.OperationID] = true
		if len(op.Parameters) != len(pathParams(r.path))+len(r.params) || (op.RequestBody != nil) != (r.body != nil) {
			t.Errorf("%s %s: %+v", r.method, r.path, op)
		}
		if len(op.Responses) != len(r.answers)+1 || op.Responses["default"] == nil {
			t.Errorf("%s %s answers %v", r.method, r.path, op.Responses)
		}
	}
	all := 0
	for _, methods := range doc.Paths {
		all += len(methods)
	}
	if all != n || doc.OpenAPI != "3.1.0" {
		t.Errorf("the document has %d operations, the table %d", all, n)
	}
	checkRefs(t, w.ask(http.StatusOK, "GET", "/openapi.json", "").body, doc.Components.Schemas)
	for _, name := range []string{"Session", "Entry", "RESTError", "RunOutcome", "Approval"} {
		if x, ok := doc.Components.Schemas[name].(map[string]any); !ok || x["properties"] == nil {
			t.Errorf("no schema %s", name)
		}
	}
}

func checkRefs(t *testing.T, text string, schemas map[string]any) {
	t.Helper()
	const mark = `"$ref":"#/components/schemas/`
	refs := 0
	for rest := text; ; refs++ {
		_, after, ok := strings.Cut(rest, mark)
		if !ok {
			break
		}
		name, tail, _ := strings.Cut(after, `"`)
		if schemas[name] == nil {
			t.Errorf("the document refers to %s, which it does not have", name)
		}
		rest = tail
	}
	if refs == 0 {
		t.Error("the document refers to nothing")
	}
}

// guarantee 2
func TestEveryBodyIsBoundedAndReadStrictly(t *testing.T) {
	w := newWorld(t, settings{})
	run := w.parked("s")
	before := w.ask(http.StatusOK, "GET", "/sessions/s/events", "").body
	large := `{"input":"` + strings.Repeat("x", maxBody) + `"}`
	for _, r := range routes() {
		if r.body == nil {
			continue
		}
		path := strings.NewReplacer("{session}", "s", "{run}", run, "{call}", "c1").Replace(r.path)
		w.as("all", r.method, path, large).refused(t, http.StatusRequestEntityTooLarge, fmt.Sprint(maxBody))
		for _, c := range []struct{ body, words string }{
			{`[]`, "not a JSON object"}, {`{`, "not JSON"}, {`{} {}`, "not JSON"}, {"{\"reason\":\"\xff\"}", "UTF-8"},
			{`{"reason":"\ud800"}`, "surrogate"}, {`{"no such member":1}`, ""},
			{`{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, "nests"},
		} {
			w.as("all", r.method, path, c.body).refused(t, http.StatusBadRequest, c.words)
		}
		w.as("all", r.method, path, `{}`, "Content-Type", "text/plain").refused(t, http.StatusBadRequest, "application/json")
	}
	if after := w.ask(http.StatusOK, "GET", "/sessions/s/events", "").body; after != before {
		t.Errorf("refused requests have changed the log to %s", after)
	}
	if n := len(elements(t, w.ask(http.StatusOK, "GET", "/sessions", ""))); n != 1 {
		t.Errorf("%d sessions, want 1", n)
	}
}

func TestABodyMayBeAsLargeAsTheLimit(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	exactly := `{"input":"` + strings.Repeat("x", maxBody-len(`{"input":""}`)) + `"}`
	w.as("all", "POST", "/sessions/s/runs", exactly).want(t, http.StatusCreated)
	w.as("all", "POST", "/sessions/s/runs", exactly+" ").refused(t, http.StatusRequestEntityTooLarge, fmt.Sprint(maxBody))
}

// What goes at the moment it is asked for is named by what the path names, as if it never was.
func TestWhatIsDeletedMeanwhileIsRefusedInTheWordsOfWhatNeverWas(t *testing.T) {
	for name, want := range map[string]string{
		"session": `no such session: "x"`, "run": `no such run: "x"`, "call": `no such call waits for a verdict: "x"`,
	} {
		r := httptest.NewRequest(http.MethodPost, Base, nil)
		r.SetPathValue(name, "x")
		c := &call{r: r}
		for _, err := range []error{store.ErrNotFound, store.ErrDeleted, turn.ErrForeign} {
			if got := c.refusalOf(err); got.status != http.StatusNotFound || got.message != want {
				t.Errorf("%s, %v: %d %s", name, err, got.status, got.message)
			}
		}
	}
}
