//go:build unix

package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hitchpost/server/protocol"
)

// Faults that users of other systems have reported, tried over the run wire and REST.

// get asks over REST as the owner, wants 200 and decodes the answer.
func get[T any](s *running, path string) (v T) {
	s.t.Helper()
	status, body := s.ask(secret, "GET", "/api/v1"+path, "")
	if err := json.Unmarshal([]byte(body), &v); err != nil || status != http.StatusOK {
		s.t.Fatalf("GET %s: %d %.300s, %v", path, status, body, err)
	}
	return v
}

// post sends a command over REST and wants that status; it returns the answer.
func (s *running) post(status int, path, body string, headers ...string) string {
	s.t.Helper()
	got, answer := s.ask(secret, "POST", "/api/v1"+path, body, headers...)
	if got != status {
		s.t.Fatalf("POST %s %s: %d %.300s, want %d", path, body, got, answer, status)
	}
	return answer
}

// started starts a run of main over REST and returns its id.
func (s *running) started(input string) string {
	s.t.Helper()
	var run protocol.RunOutcome
	if err := json.Unmarshal([]byte(s.post(http.StatusCreated, "/sessions/main/runs", fmt.Sprintf(`{"input":%q}`, input))), &run); err != nil {
		s.t.Fatal(err)
	}
	return run.RunID
}

// TestA05WhoComesBackSeesEachPieceOnceAndUnderOneId: five returns in mid stream, twice
// with two subscribes back to back; live, replay and REST have the same ids and bytes.
func TestA05WhoComesBackSeesEachPieceOnceAndUnderOneId(t *testing.T) {
	on := make(chan struct{})
	var said strings.Builder
	for i := range 60 {
		fmt.Fprintf(&said, "piece%d ", i)
	}
	model := newStand(t, func(a *answer) {
		for i := range 60 {
			a.send(text(fmt.Sprintf("piece%d ", i)))
			if i%10 == 9 {
				<-on
			}
		}
		a.send(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]")
	})
	p := reported(t, model, "")
	s := p.serve()
	s.post(http.StatusCreated, "/sessions", `{"id":"main"}`)
	run := s.started("go")
	bySeq := map[int64]string{}
	deltas, cursor, entry := map[int64]string{}, int64(0), ""
	take := func(w *runWire, until func(wireFrame) bool) {
		for _, f := range w.until(until) {
			if f.Payload.RunID != run || f.Seq == 0 {
				continue
			}
			if old, again := bySeq[f.Seq]; again && old != f.raw {
				t.Errorf("seq %d was %s, and is %s", f.Seq, old, f.raw)
			}
			bySeq[f.Seq], cursor = f.raw, f.Seq
			if f.Type == protocol.TypeRunDelta {
				deltas[f.Seq] = f.Payload.Delta
				if entry != "" && f.Payload.EntryID != entry {
					t.Errorf("a delta of %s, the others of %s", f.Payload.EntryID, entry)
				}
				entry = f.Payload.EntryID
			}
		}
	}
	for round := range 6 {
		w := s.runWire(secret)
		if round > 0 {
			frame := fmt.Sprintf(`{"type":"run.subscribe","payload":{"run_id":%q,"from_seq":%d}}`, run, cursor)
			w.send(frame)
			if round%2 == 0 {
				w.send(frame)
			}
		}
		last := fmt.Sprintf("piece%d ", 10*round+9)
		take(w, func(f wireFrame) bool { return f.Payload.Delta == last })
		on <- struct{}{}
		if round == 5 {
			take(w, over)
		}
		w.ws.CloseNow()
	}
	heard := ""
	for _, seq := range slices.Sorted(maps.Keys(deltas)) {
		heard += deltas[seq]
	}
	if heard != said.String() {
		t.Errorf("heard %q", heard)
	}
	again := s.runWire(secret) // a reload: all of it, from the log
	again.send(fmt.Sprintf(`{"type":"run.subscribe","payload":{"run_id":%q}}`, run))
	for _, f := range again.until(over) {
		if f.Seq != 0 && f.raw != bySeq[f.Seq] {
			t.Errorf("replayed %s, live it was %s", f.raw, bySeq[f.Seq])
		}
	}
	history := get[[]struct {
		ID   string
		Kind string
	}](s, "/sessions/main/messages")
	if last := history[len(history)-1]; last.ID != entry {
		t.Errorf("REST has the answer as %s, its deltas were of %s", last.ID, entry)
	}
}

// TestA08ACursorOfAnotherLifeOfTheLogIsAnsweredByName: an older backup in the place of the
// file, and values that are none.
func TestA08ACursorOfAnotherLifeOfTheLogIsAnsweredByName(t *testing.T) {
	model := newStand(t, func(a *answer) { a.say("well") })
	p := reported(t, model, "")
	s := p.serve()
	s.post(http.StatusCreated, "/sessions", `{"id":"main"}`)
	s.post(http.StatusOK, "/sessions/main/runs", `{"input":"one"}`, "Prefer", "wait=600")
	kept := get[[]struct{ ID string }](s, "/sessions/main/messages")
	run := s.runOf("main")
	if _, errs, code := p.run("backup", filepath.Join(p.dir, "old.db")); code != 0 {
		t.Fatal(errs)
	}
	s.post(http.StatusOK, "/sessions/main/runs", `{"input":"two"}`, "Prefer", "wait=600")
	lost := s.runOf("main")
	tip := get[protocol.Session](s, "/sessions/main").LastSeq
	s.term()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		os.Remove(filepath.Join(p.dir, "hitchpost.db"+suffix))
	}
	if err := os.Rename(filepath.Join(p.dir, "old.db"), filepath.Join(p.dir, "hitchpost.db")); err != nil {
		t.Fatal(err)
	}
	s = p.serve()
	w := s.runWire(secret)
	for payload, code := range map[string]protocol.Code{
		fmt.Sprintf(`{"run_id":%q,"from_seq":%d}`, run, tip):   protocol.CodeBadFrame,
		fmt.Sprintf(`{"run_id":%q,"from_seq":%d}`, lost, tip):  protocol.CodeRunNotFound,
		`{"run_id":"` + run + `","from_seq":-1}`:               protocol.CodeBadFrame,
		`{"run_id":"` + run + `","from_seq":1.5}`:              protocol.CodeBadFrame,
		`{"run_id":"` + run + `","from_seq":"7"}`:              protocol.CodeBadFrame,
		`{"run_id":"` + run + `","from_seq":null}`:             protocol.CodeBadFrame,
		`{"run_id":"` + run + `","from_seq":9007199254740992}`: protocol.CodeBadFrame,
	} {
		w.send(`{"type":"run.subscribe","payload":` + payload + `}`)
		all := w.until(func(f wireFrame) bool { return f.Type == protocol.TypeRunError })
		if got := all[len(all)-1].Payload.Code; got != code {
			t.Errorf("%s: %s, want %s", payload, got, code)
		}
	}
	for cursor, want := range map[string]int{fmt.Sprint(tip): http.StatusBadRequest, "-1": 400, "1.5": 400, "null": 400, "9007199254740992": 400} {
		if status, body := s.ask(secret, "GET", "/api/v1/runs/"+run+"/events?from_seq="+cursor, ""); status != want {
			t.Errorf("the stream from %s: %d %s", cursor, status, body)
		}
	}
	if status, _ := s.ask(secret, "GET", "/api/v1/runs/"+lost+"/events", ""); status != http.StatusNotFound {
		t.Errorf("a run that the backup does not have: %d", status)
	}
	if now := get[[]struct{ ID string }](s, "/sessions/main/messages"); !slices.Equal(now, kept) {
		t.Errorf("the history is %v, it was %v", now, kept)
	}
	s.ask(secret, "DELETE", "/api/v1/sessions/main", "") // and an id is never the name of another log
	if status, _ := s.ask(secret, "POST", "/api/v1/sessions", `{"id":"main"}`); status != http.StatusConflict {
		t.Errorf("the id of a deleted session: %d", status)
	}
}

// runOf is the newest run of a session.
func (s *running) runOf(session string) string {
	s.t.Helper()
	entries := get[[]struct {
		RunID string `json:"run_id"`
	}](s, "/sessions/"+session+"/messages")
	return entries[len(entries)-1].RunID
}

// TestA24TextIsTheSameBytesOnEveryWay: to the model and back, byte by byte, as deltas, as
// entries, over REST, and in the next request.
func TestA24TextIsTheSameBytesOnEveryWay(t *testing.T) {
	const hard = "漢字 👩‍👩‍👧‍👦 e\u0301 \u2028\u2029\u0085\r\x7f\u200f a<b && c>d </script> \\u0041 \"q\""
	quoted, err := json.Marshal(hard)
	if err != nil {
		t.Fatal(err)
	}
	model := newStand(t, func(a *answer) {
		for _, b := range []byte(`data: {"choices":[{"index":0,"delta":{"content":` + string(quoted) + "}}]}\n\n") {
			a.Write([]byte{b})
			a.ResponseWriter.(http.Flusher).Flush()
		}
		a.send(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]")
	})
	p := reported(t, model, "")
	s := p.serve()
	s.post(http.StatusCreated, "/sessions", `{"id":"main"}`)
	w := s.runWire(secret)
	for range 2 {
		w.send(`{"type":"run.create","payload":{"session_id":"main","input":` + string(quoted) + `}}`)
		heard := ""
		for _, f := range w.until(over) {
			heard += f.Payload.Delta
		}
		if heard != hard {
			t.Errorf("the deltas say %q", heard)
		}
	}
	entries := get[[]struct {
		Payload struct {
			Content []struct{ Text string }
		}
	}](s, "/sessions/main/messages")
	if len(entries) != 4 {
		t.Fatalf("%d entries", len(entries))
	}
	for i, e := range entries {
		if len(e.Payload.Content) != 1 || e.Payload.Content[0].Text != hard {
			t.Errorf("entry %d is %q", i, e.Payload.Content)
		}
	}
	for _, m := range model.asked()[1] {
		if m.Role != "system" && m.Content != hard {
			t.Errorf("the model heard %q", m.Content)
		}
	}
}

// TestA27ATokenOpensWhatItListsEverywhereAndItsBytesAreNowhere: over the run wire and REST,
// right and wrong, in headers, frames and addresses.
func TestA27ATokenOpensWhatItListsEverywhereAndItsBytesAreNowhere(t *testing.T) {
	const few, wrong = "few-secret-token-0123456789abcdef", "wrong-secret-token-0123456789abcdef"
	p := newPlace(t, "[[tokens]]\nname = \"few\"\ntoken = \""+few+"\"\nagents = [\"few-*\"]\n")
	s := p.serve()
	for _, id := range []string{"main", "few-1"} {
		s.post(http.StatusCreated, "/sessions", `{"id":"`+id+`"}`)
	}
	s.post(http.StatusOK, "/sessions/main/runs", `{"input":"hello"}`, "Prefer", "wait=600")
	run := s.runOf("main")
	never := strings.Repeat("0", 16)
	for _, path := range []string{"/sessions/%s", "/sessions/%s/messages", "/sessions/%s/events", "/sessions/%s/inbox", "/sessions/%s/policy"} {
		_, one := s.ask(few, "GET", fmt.Sprintf("/api/v1"+path, "main"), "")
		status, other := s.ask(few, "GET", fmt.Sprintf("/api/v1"+path, "never"), "")
		if status != http.StatusNotFound || strings.ReplaceAll(one, "main", "never") != other {
			t.Errorf("%s: %s and %s", path, one, other)
		}
	}
	for _, path := range []string{"/runs/%s", "/runs/%s/events"} {
		_, one := s.ask(few, "GET", fmt.Sprintf("/api/v1"+path, run), "")
		status, other := s.ask(few, "GET", fmt.Sprintf("/api/v1"+path, never), "")
		if status != http.StatusNotFound || strings.ReplaceAll(one, run, never) != other {
			t.Errorf("%s: %s and %s", path, one, other)
		}
	}
	w := s.runWire(few)
	refusal := func(frame string) string {
		w.send(frame)
		all := w.until(func(f wireFrame) bool { return f.Type == protocol.TypeRunError })
		return all[len(all)-1].raw
	}
	for frame, ids := range map[string][2]string{
		`{"type":"run.create","payload":{"session_id":"%s","input":"x"}}`:             {"main", "never"},
		`{"type":"run.subscribe","payload":{"run_id":"%s"}}`:                          {run, never},
		`{"type":"run.cancel","payload":{"run_id":"%s"}}`:                             {run, never},
		`{"type":"run.inject","payload":{"run_id":"%s","queue":"steer","input":"x"}}`: {run, never},
	} {
		one, other := refusal(fmt.Sprintf(frame, ids[0])), refusal(fmt.Sprintf(frame, ids[1]))
		if strings.ReplaceAll(one, ids[0], ids[1]) != other {
			t.Errorf("%s: %s and %s", frame, one, other)
		}
	}
	answers := ""
	for _, ask := range [][2]string{{wrong, "/sessions"}, {"", "/sessions?token=" + few}, {few, "/runs/" + never}} {
		_, body := s.ask(ask[0], "GET", "/api/v1"+ask[1], "")
		answers += body
	}
	for _, origin := range []string{"https://evil.example", "null"} {
		if status, _ := s.ask(secret, "GET", "/api/v1/sessions", "", "Origin", origin); status != http.StatusForbidden {
			t.Errorf("a page of %s: %d", origin, status)
		}
	}
	_, figures := s.ask("", "GET", "/metrics", "")
	s.term()
	found := map[string]string{"the answers": answers, "the figures": figures, "the server's log": s.log.String()}
	files, err := os.ReadDir(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name() == "hitchpost.toml" || f.IsDir() {
			continue
		}
		body, err := os.ReadFile(filepath.Join(p.dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		found[f.Name()] = string(body)
	}
	for where, body := range found {
		for _, token := range []string{secret, few, wrong} {
			if strings.Contains(body, token) {
				t.Errorf("%s hold the token %.8s…", where, token)
			}
		}
	}
}
