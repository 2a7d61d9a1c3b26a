package rest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// RFC 7240: a preference may have parameters and a quoted value, its first instance
// counts, and what is not known is ignored.
func TestPreferIsReadAsItsTextHasIt(t *testing.T) {
	w := newWorld(t, settings{})
	for i, c := range []struct {
		applied string
		lines   []string
	}{
		{"wait=60", []string{"wait=60; x=2"}},
		{"wait=60", []string{"wait=60;x"}},
		{"wait=60", []string{"wait = 60 ; x = \"a, b; c\""}},
		{"wait=60", []string{`WAIT="60"`}},
		{"wait=60", []string{`wait=60;x="unended`}},
		{"wait=60", []string{"respond-async; x=1, , wait=60"}},
		{"wait=60", []string{`mood="sad, wait=soon; \", wait=later", wait=60`}},
		{"wait=60", []string{"wait=60, wait=soon"}},
		{"wait=60", []string{"return=minimal", "wait=60", "wait=soon"}},
		{"", []string{`return; wait=60`}},
		{"", []string{`"wait=60"`}},
		{"", []string{""}},
	} {
		session := w.session(fmt.Sprint("s", i))
		r, err := http.NewRequestWithContext(t.Context(), "POST", w.http.URL+Base+"/sessions/"+session+"/runs", strings.NewReader(`{"input":"hi"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header["Prefer"], r.Header["Authorization"] = c.lines, []string{"Bearer secret-all"}
		resp, err := w.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		status := http.StatusOK
		if c.applied == "" {
			status = http.StatusCreated
		}
		if got := resp.Header.Get("Preference-Applied"); resp.StatusCode != status || got != c.applied {
			t.Errorf("%q: answered %d, applied %q", c.lines, resp.StatusCode, got)
		}
	}
	for _, line := range []string{"wait", "wait=", `wait=""`, "wait;x=60", "wait=1.5", "wait=601;x=2", "wait=60 x", `wait="60" 7`} {
		w.as("all", "POST", "/sessions/s0/runs", `{"input":"hi"}`, "Prefer", line).refused(t, http.StatusBadRequest, "0 to 600 seconds")
	}
}
