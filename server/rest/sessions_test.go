package rest

import (
	"net/http"
	"strings"
	"testing"

	"hitchpost/server/protocol"
	"hitchpost/turn/event"
)

func TestASessionIsMadeShownChangedAndDeleted(t *testing.T) {
	w := newWorld(t, settings{})
	made := w.ask(http.StatusCreated, "POST", "/sessions", `{"id":"s1","title":"First <one>"}`)
	x := parse[protocol.Session](t, made)
	if x.ID != "s1" || x.Title != "First <one>" || x.Agent != "default" || x.Status != protocol.StatusIdle || x.LastSeq != 1 || x.Bytes == 0 || x.Pending == nil {
		t.Errorf("made %+v", x)
	}
	if got := made.header.Get("Location"); got != "/api/v1/sessions/s1" {
		t.Errorf("Location %q", got)
	}
	if got := w.ask(http.StatusOK, "GET", "/sessions/s1", ""); got.body != made.body {
		t.Errorf("shown as %s, made as %s", got.body, made.body)
	}
	minted := parse[protocol.Session](t, w.ask(http.StatusCreated, "POST", "/sessions", ""))
	if len(minted.ID) != 16 || strings.Trim(minted.ID, "0123456789abcdef") != "" {
		t.Errorf("minted %q, want 16 hex digits", minted.ID)
	}
	x = parse[protocol.Session](t, w.ask(http.StatusOK, "PATCH", "/sessions/s1", `{"title":"Second","pinned":true}`))
	if x.Title != "Second" || !x.Pinned {
		t.Errorf("changed to %+v", x)
	}
	if got := w.ask(http.StatusNoContent, "DELETE", "/sessions/s1", ""); got.body != "" {
		t.Errorf("a body: %q", got.body)
	}
	w.ask(http.StatusNotFound, "GET", "/sessions/s1", "")
	w.ask(http.StatusNotFound, "DELETE", "/sessions/s1", "")
	w.as("all", "POST", "/sessions", `{"id":"s1"}`).refused(t, http.StatusConflict, "taken")
}

// guarantee of the list: pinned first, then newest activity.
func TestPinnedSessionsComeFirstThenThoseWithTheNewestActivity(t *testing.T) {
	w := newWorld(t, settings{})
	if got := w.ask(http.StatusOK, "GET", "/sessions", ""); got.body != "[]\n" {
		t.Errorf("no sessions are %q, want an empty array", got.body)
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		w.session(id)
	}
	w.ask(http.StatusOK, "PATCH", "/sessions/b", `{"pinned":true}`)
	w.ask(http.StatusOK, "PATCH", "/sessions/a", `{"title":"now"}`)
	var ids []string
	for _, x := range parse[[]protocol.Session](t, w.ask(http.StatusOK, "GET", "/sessions", "")) {
		ids = append(ids, x.ID)
	}
	if got := strings.Join(ids, " "); got != "b a d c" {
		t.Errorf("the order is %s", got)
	}
}

func TestABadSessionIsRefusedAndNotMade(t *testing.T) {
	w := newWorld(t, settings{})
	for _, c := range []struct{ body, words string }{
		{`{"id":"a/b"}`, "id"}, {`{"id":".."}`, "id"}, {`{"id":"` + strings.Repeat("x", 129) + `"}`, "id"},
		{`{"agent":"nobody"}`, "nobody"}, {`{"title":"` + strings.Repeat("x", 300) + `"}`, "title"},
		{`{"name":"x"}`, `unknown member "name"`}, {`{"id":7}`, "id must be a string"}, {`{"id":null}`, "null"},
		{`[]`, "object"}, {`{"id":"x"`, "not JSON"}, {"{\"title\":\"\xff\"}", "UTF-8"}, {`{"title":"\ud800"}`, "surrogate"},
		{`{"ID":"x"}`, "unknown member"}, {`{} {}`, "not JSON"},
	} {
		w.as("all", "POST", "/sessions", c.body).refused(t, http.StatusBadRequest, c.words)
	}
	w.as("all", "POST", "/sessions", `{"title":"`+strings.Repeat("x", maxBody)+`"}`).refused(t, http.StatusRequestEntityTooLarge, "1048576 bytes")
	w.as("all", "POST", "/sessions", `id=x`, "Content-Type", "application/x-www-form-urlencoded").refused(t, http.StatusBadRequest, "application/json")
	if got := w.ask(http.StatusOK, "GET", "/sessions", ""); got.body != "[]\n" {
		t.Errorf("made all the same: %s", got.body)
	}
	w.session("s")
	for _, body := range []string{`{}`, `{"title":""}`, `{"pinned":"yes"}`, `{"title":7}`} {
		w.as("all", "PATCH", "/sessions/s", body).refused(t, http.StatusBadRequest, "")
	}
}

// guarantee 1: the id is all that the two answers have in common with the request.
func TestAForeignSessionIsAnsweredByteForByteLikeOneThatNeverWas(t *testing.T) {
	w := newWorld(t, settings{})
	requests := []struct{ method, path, body string }{
		{"GET", "/sessions/s", ""}, {"PATCH", "/sessions/s", `{"title":"x"}`}, {"DELETE", "/sessions/s", ""},
		{"GET", "/sessions/s/messages", ""}, {"GET", "/sessions/s/messages?limit=2&before_id=0123456789abcdef", ""},
		{"GET", "/sessions/s/events", ""}, {"GET", "/sessions/s/usage", ""},
		{"POST", "/sessions/s/branch", `{"entry_id":"0123456789abcdef"}`}, {"POST", "/sessions/s/fork", ""}, {"POST", "/sessions/s/compact", ""},
		{"GET", "/sessions/s/inbox", ""}, {"DELETE", "/sessions/s/inbox/0123456789abcdef", ""},
		{"GET", "/sessions/s/policy", ""}, {"PUT", "/sessions/s/policy", `{"patterns":[]}`},
		{"GET", "/sessions/s/models", ""}, {"PUT", "/sessions/s/models", `{"main":"demo/x"}`},
		{"POST", "/sessions/s/runs", `{"input":"x"}`},
	}
	ask := func(token string) (answers []string) {
		for _, r := range requests {
			got := w.as(token, r.method, r.path, r.body)
			if got.status != http.StatusNotFound {
				t.Errorf("%s %s: %d %s", r.method, r.path, got.status, got.body)
			}
			answers = append(answers, got.body)
		}
		return answers
	}
	absent := ask("other")
	w.session("s")
	before := w.ask(http.StatusOK, "GET", "/sessions/s", "")
	compare := func(what string, got []string) {
		for i := range got {
			if got[i] != absent[i] {
				t.Errorf("%s %s of %s: %s, want %s", requests[i].method, requests[i].path, what, got[i], absent[i])
			}
		}
	}
	compare("another owner's session", ask("other"))
	compare("a session that the token does not list", ask("narrow"))
	if got := w.ask(http.StatusOK, "GET", "/sessions/s", ""); got.body != before.body {
		t.Errorf("a stranger changed it to %s", got.body)
	}
	for _, token := range []string{"other", "narrow"} {
		if got := w.as(token, "GET", "/sessions", ""); got.body != "[]\n" {
			t.Errorf("%s sees %s", token, got.body)
		}
	}
	w.ask(http.StatusNoContent, "DELETE", "/sessions/s", "")
	compare("a deleted session", ask("all"))
}

// guarantee 1
func TestAForeignRunAndCallAreAnsweredByteForByteLikeOnesThatNeverWere(t *testing.T) {
	w := newWorld(t, settings{})
	run := w.parked("s")
	const never = "fedcba9876543210"
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/runs/RUN", ""}, {"GET", "/runs/RUN/events", ""}, {"POST", "/runs/RUN/cancel", ""},
		{"POST", "/runs/RUN/inject", `{"queue":"steer","input":"x"}`},
	} {
		for _, token := range []string{"other", "narrow"} {
			foreign := w.as(token, r.method, strings.ReplaceAll(r.path, "RUN", run), r.body)
			absent := w.as(token, r.method, strings.ReplaceAll(r.path, "RUN", never), r.body)
			foreign.refused(t, http.StatusNotFound, "no such run")
			if strings.ReplaceAll(foreign.body, run, never) != absent.body {
				t.Errorf("%s %s: %s and %s", r.method, r.path, foreign.body, absent.body)
			}
		}
	}
	for _, token := range []string{"other", "narrow"} {
		for _, verdict := range []string{"approve", "reject"} {
			foreign := w.as(token, "POST", "/approvals/c1/"+verdict, "")
			absent := w.as(token, "POST", "/approvals/c9/"+verdict, "")
			if strings.ReplaceAll(foreign.body, "c1", "c9") != absent.body || foreign.status != http.StatusNotFound {
				t.Errorf("%s: %s and %s", verdict, foreign.body, absent.body)
			}
		}
		if got := w.as(token, "GET", "/approvals", ""); got.body != "[]\n" {
			t.Errorf("%s sees %s", token, got.body)
		}
	}
}

func TestATokenMakesOnlySessionsThatItReaches(t *testing.T) {
	w := newWorld(t, settings{})
	w.as("narrow", "POST", "/sessions", `{"id":"wide"}`).refused(t, http.StatusForbidden, "does not reach")
	w.as("narrow", "POST", "/sessions", ``).refused(t, http.StatusForbidden, "give an id")
	w.as("narrow", "POST", "/sessions", `{"id":"narrow-1"}`).want(t, http.StatusCreated)
	w.as("narrow", "POST", "/sessions/narrow-1/fork", ``).refused(t, http.StatusForbidden, "id of its own")
	w.as("other", "POST", "/sessions", `{"id":"narrow-1"}`).refused(t, http.StatusConflict, "taken")
}

// run wire, DELETE: an open turn is aborted first.
func TestDeletingASessionEndsItsRunAndItsStreams(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	w.model.Answers("half", pause)
	run := w.run("s", "go")
	<-w.model.Reached
	stream := w.stream(run, 0)
	stream.until(protocol.TypeRunDelta)
	w.ask(http.StatusNoContent, "DELETE", "/sessions/s", "")
	stream.rest() // ends
	w.ask(http.StatusNotFound, "GET", "/runs/"+run, "")
}

func TestASessionShowsWhatItsLogSays(t *testing.T) {
	w := newWorld(t, settings{})
	run := w.parked("s")
	x := parse[protocol.Session](t, w.ask(http.StatusOK, "GET", "/sessions/s", ""))
	want := protocol.SessionPending{ToolCallID: "c1", ToolName: "ask", RunID: run}
	if x.Status != protocol.StatusRequiresAction || x.LiveRunID != run || x.PendingCount != 1 || len(x.Pending) != 1 || x.Pending[0] != want || x.LastInputAt == "" {
		t.Errorf("parked: %+v", x)
	}
	w.restart()
	if y := parse[protocol.Session](t, w.ask(http.StatusOK, "GET", "/sessions/s", "")); y.Status != x.Status || y.Bytes != x.Bytes || y.LastSeq != x.LastSeq {
		t.Errorf("after a restart: %+v, before %+v", y, x)
	}
	w.outcome("s", "again", fails).want(t, http.StatusBadGateway)
	x = parse[protocol.Session](t, w.ask(http.StatusOK, "GET", "/sessions/s", ""))
	if x.Status != protocol.StatusFailed || x.LastError == nil || x.LastError.Code != event.CodeModelRefusal || x.LiveRunID != "" {
		t.Errorf("failed: %+v", x)
	}
}
