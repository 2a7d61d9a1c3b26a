package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hitchpost/server/protocol"
	"hitchpost/turn/event"
)

// elements are those of a JSON array, as they were sent.
func elements(t *testing.T, r reply) []string {
	t.Helper()
	var all []string
	for _, raw := range parse[[]json.RawMessage](t, r) {
		all = append(all, string(raw))
	}
	return all
}

func idOf(t *testing.T, entry string) string {
	t.Helper()
	var e struct{ ID string }
	if err := json.Unmarshal([]byte(entry), &e); err != nil {
		t.Fatal(err)
	}
	return e.ID
}

// guarantee 5; wire protocol, F2
func TestAnElementOfTheHistoryIsTheEntryOfItsFrameByteForByte(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	w.model.Answers("text <&> \u2028 é", asks)
	run := w.run("s", "a<b && c>d \u2029")
	w.stream(run, 0).until(protocol.TypeRunInterrupted)
	w.model.Answers("\x07done", fails)
	w.ask(http.StatusAccepted, "POST", "/approvals/c1/reject", `{"reason":"no"}`)
	var frames []string
	for _, m := range w.stream(run, 0).rest() {
		if m.Type == string(protocol.TypeRunEntry) {
			var f struct {
				Payload struct{ Entry json.RawMessage }
			}
			if err := json.Unmarshal([]byte(m.Data), &f); err != nil {
				t.Fatal(err)
			}
			frames = append(frames, string(f.Payload.Entry))
		}
	}
	got := w.ask(http.StatusOK, "GET", "/sessions/s/messages", "")
	if entries := elements(t, got); !slices.Equal(entries, frames) || len(entries) < 6 {
		t.Errorf("history\n%s\nframes\n%s", strings.Join(entries, "\n"), strings.Join(frames, "\n"))
	}
	if tip, _ := w.log("s").Tip(); got.header.Get("X-Log-Seq") != fmt.Sprint(tip) {
		t.Errorf("X-Log-Seq is %q, the log ends at %d", got.header.Get("X-Log-Seq"), tip)
	}
}

// walk reads a history backwards in pages of a size; meanwhile is called before each page.
func (w *world) walk(session string, size int, meanwhile func()) (walked []string) {
	w.t.Helper()
	path := fmt.Sprintf("/sessions/%s/messages?limit=%d", session, size)
	for {
		meanwhile()
		from := path
		if len(walked) > 0 {
			from += "&before_id=" + idOf(w.t, walked[0])
		}
		page := elements(w.t, w.ask(http.StatusOK, "GET", from, ""))
		walked = append(page, walked...)
		if len(page) < size {
			return walked
		}
	}
}

// Every size up to one that takes all of it: first while runs end and begin between the
// pages, then while one streams.
//
// guarantee 5
func TestPagesOfEverySizeGiveEachEntryOnceAlsoWhileARunAppends(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	whole := func() []string { return elements(t, w.ask(http.StatusOK, "GET", "/sessions/s/messages", "")) }
	check := func(size int, walked, all []string) {
		if !slices.Equal(walked, all) {
			t.Fatalf("pages of %d give\n%s\nwant\n%s", size, strings.Join(walked, "\n"), strings.Join(all, "\n"))
		}
	}
	const growing = 12
	for size := 1; size <= growing; size++ {
		pages, before := 0, len(whole())
		walked := w.walk("s", size, func() {
			if pages++; pages%3 == 2 {
				w.outcome("s", "meanwhile", "so it is").want(t, http.StatusOK)
			}
		})
		if len(walked) < before {
			t.Fatalf("pages of %d give %d entries of %d", size, len(walked), before)
		}
		check(size, walked, whole()[:len(walked)])
		w.outcome("s", fmt.Sprint("question ", size), "answer").want(t, http.StatusOK)
	}
	w.model.Answers(slices.Repeat([]string{"x", pause}, 10_000)...)
	run := w.run("s", "and on")
	<-w.model.Reached
	all := whole()
	for size := growing + 1; size <= len(all)+1; size++ {
		check(size, w.walk("s", size, func() {
			w.model.Resume <- struct{}{}
			<-w.model.Reached
		}), all)
	}
	w.ask(http.StatusAccepted, "POST", "/runs/"+run+"/cancel", "")
	w.stream(run, 0).rest()
}

func TestABadPageIsRefused(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	w.session("other")
	w.outcome("other", "x", "y").want(t, http.StatusOK)
	elsewhere := idOf(t, elements(t, w.ask(http.StatusOK, "GET", "/sessions/other/messages", ""))[0])
	w.outcome("s", "x", "y").want(t, http.StatusOK)
	end, _, _ := w.log("s").Newest(t.Context(), -1, string(event.TurnEndType)) // of a run that completed: no entry
	for _, query := range []string{
		"limit=0", "limit=-1", "limit=1.5", "limit=x", "limit=", "limit=99999999999999999999", "before_id=", "before_id=x",
		"before_id=0123456789abcdef", "before_id=" + elsewhere, "before_id=" + end.ID,
	} {
		w.as("all", "GET", "/sessions/s/messages?"+query, "").refused(t, http.StatusBadRequest, "")
	}
	for _, query := range []string{"limit=0", "limit=1001", "limit=x", "from_seq=-1", "from_seq=x", "from_seq="} {
		w.as("all", "GET", "/sessions/s/events?"+query, "").refused(t, http.StatusBadRequest, "")
	}
}

// run wire, GET events: the raw log, by which what a capped replay skipped is had.
func TestEventsAreTheStoredBytesFromAnySeqOn(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	var chunks []string
	for i := range 700 {
		chunks = append(chunks, strings.Repeat("x", i%50+1))
	}
	w.outcome("s", "go", chunks...).want(t, http.StatusOK)
	w.outcome("s", "and on", chunks...).want(t, http.StatusOK)
	whole := elements(t, w.ask(http.StatusOK, "GET", "/sessions/s/messages", ""))
	if got := elements(t, w.ask(http.StatusOK, "GET", "/sessions/s/messages?limit=1000", "")); !slices.Equal(got, whole) || len(whole) != 4 {
		t.Errorf("the whole history has %d entries, a page of it %d", len(whole), len(got))
	}
	log := w.log("s")
	var stored []string
	for tip, _ := log.Tip(); int64(len(stored)) <= tip; {
		page, err := log.Page(t.Context(), int64(len(stored)))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range page.Lines {
			stored = append(stored, string(line))
		}
	}
	for _, c := range []struct{ query, from, limit string }{
		{"", "0", "100"}, {"?from_seq=5", "5", "100"}, {"?limit=1", "0", "1"}, {"?from_seq=3&limit=1000", "3", "1000"},
		{"?from_seq=255&limit=3", "255", "3"}, {"?from_seq=600&limit=500", "600", "500"}, {"?from_seq=99999", "99999", "1"},
	} {
		from, _ := strconv.Atoi(c.from)
		limit, _ := strconv.Atoi(c.limit)
		from = min(from, len(stored))
		want := stored[from:min(from+limit, len(stored))]
		got := w.ask(http.StatusOK, "GET", "/sessions/s/events"+c.query, "")
		if all := elements(t, got); !slices.Equal(all, want) {
			t.Errorf("events%s: %d of them, want %d", c.query, len(all), len(want))
		}
		if got.header.Get("X-Log-Seq") != fmt.Sprint(len(stored)-1) {
			t.Errorf("X-Log-Seq is %s", got.header.Get("X-Log-Seq"))
		}
	}
}

func TestUsageSumsWhatTheProvidersTold(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	if got := w.ask(http.StatusOK, "GET", "/sessions/s/usage", ""); parse[protocol.UsageTotal](t, got) != (protocol.UsageTotal{Complete: true}) {
		t.Errorf("of nothing: %s", got.body)
	}
	w.outcome("s", "one", "a").want(t, http.StatusOK)
	w.outcome("s", "two", "b").want(t, http.StatusOK)
	want := protocol.UsageTotal{Answers: 2, InputTokens: 14, OutputTokens: 14, Complete: true}
	if got := parse[protocol.UsageTotal](t, w.ask(http.StatusOK, "GET", "/sessions/s/usage", "")); got != want {
		t.Errorf("of two answers: %+v", got)
	}
	fork := parse[protocol.Session](t, w.ask(http.StatusCreated, "POST", "/sessions/s/fork", ""))
	w.outcome(fork.ID, "three", "c").want(t, http.StatusOK)
	want = protocol.UsageTotal{Answers: 1, InputTokens: 7, OutputTokens: 7, Complete: true}
	if got := parse[protocol.UsageTotal](t, w.ask(http.StatusOK, "GET", "/sessions/"+fork.ID+"/usage", "")); got != want {
		t.Errorf("of a fork: %+v", got)
	}
}

// bug-reports A24: what was said comes back as it was said, also what is hard to send.
func TestHardTextComesBackAsItWasSent(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	hard := "NUL \x00 CR \r DEL \x7f NEL \u0085 LS \u2028 PS \u2029 RLM \u200f a<b && c>d 👩‍👩‍👧 e\u0301 \\ \" \ufffd"
	quoted, err := json.Marshal(hard)
	if err != nil {
		t.Fatal(err)
	}
	w.model.Answers(strings.SplitAfter(hard, " ")...)
	got := w.ask(http.StatusOK, "POST", "/sessions/s/runs", `{"input":`+string(quoted)+`}`, "Prefer", "wait=60")
	if x := parse[protocol.RunOutcome](t, got); x.FinalOutput == nil || *x.FinalOutput != hard {
		t.Errorf("the outcome is %s", got.body)
	}
	for _, e := range elements(t, w.ask(http.StatusOK, "GET", "/sessions/s/messages", "")) {
		var entry struct {
			Payload struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(e), &entry); err != nil || len(entry.Payload.Content) != 1 || entry.Payload.Content[0].Text != hard {
			t.Errorf("the entry is %s, %v", e, err)
		}
		if !strings.Contains(e, "a<b && c>d") {
			t.Errorf("escaped for a page that it is not: %s", e)
		}
	}
	streamed := ""
	for _, m := range w.stream(parse[protocol.RunOutcome](t, got).RunID, 0).rest() {
		var f struct{ Payload struct{ Delta string } }
		if err := json.Unmarshal([]byte(m.Data), &f); err != nil {
			t.Fatalf("%q: %v", m.Data, err)
		}
		streamed += f.Payload.Delta
	}
	if streamed != hard {
		t.Errorf("streamed %q", streamed)
	}
}
