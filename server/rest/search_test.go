package rest

import (
	"net/http"
	"net/url"
	"testing"

	"hitchpost/server/protocol"
)

// run wire, GET search
func TestSearchFindsTitlesAndMessagesOfWhatTheTokenReaches(t *testing.T) {
	w := newWorld(t, settings{})
	w.ask(http.StatusCreated, "POST", "/sessions", `{"id":"s1","title":"Horses at the post"}`)
	for _, id := range []string{"s2", "narrow-1"} {
		w.session(id)
		w.outcome(id, "where is the saddle", "in the stable").want(t, http.StatusOK)
	}
	w.as("other", "POST", "/sessions", `{"id":"theirs","title":"a saddle"}`).want(t, http.StatusCreated)
	find := func(token, q string) []protocol.SearchHit {
		r := w.as(token, "GET", "/search?q="+url.QueryEscape(q), "")
		r.want(t, http.StatusOK)
		return parse[[]protocol.SearchHit](t, r)
	}
	if got := find("all", "horse"); len(got) != 1 || got[0].SessionID != "s1" || got[0].EntryID != "" || got[0].Title != "Horses at the post" || got[0].Snippet == "" {
		t.Errorf("horse: %+v", got)
	}
	got := find("narrow", "stable")
	if len(got) != 1 || got[0].SessionID != "narrow-1" {
		t.Fatalf("stable, for a token that reaches one session: %+v", got)
	}
	entries := elements(t, w.ask(http.StatusOK, "GET", "/sessions/narrow-1/messages", ""))
	if want := idOf(t, entries[1]); got[0].EntryID != want {
		t.Errorf("found in the entry %s, want %s", got[0].EntryID, want)
	}
	for q, n := range map[string]int{"saddle": 4, "nothing like it": 0, `") OR * NEAR(`: 0, "'; DROP TABLE": 0} { // two questions, two titles made of them
		if got := find("all", q); len(got) != n {
			t.Errorf("%s: %d hits, want %d: %+v", q, len(got), n, got)
		}
	}
	if got := find("other", "saddle"); len(got) != 1 || got[0].SessionID != "theirs" {
		t.Errorf("another owner finds %+v", got)
	}
	if got := w.ask(http.StatusOK, "GET", "/search?q=saddle&limit=1", ""); len(elements(t, got)) != 1 {
		t.Errorf("with a limit: %s", got.body)
	}
	for _, query := range []string{"", "?q=", "?q=%20", "?q=x&limit=0", "?q=x&limit=201"} {
		w.as("all", "GET", "/search"+query, "").refused(t, http.StatusBadRequest, "")
	}
}
