package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hitchpost/server/protocol"
)

// ended is a session whose run had two steps, with a verdict between them.
func (w *world) ended(session string) (run string) {
	w.t.Helper()
	w.session(session)
	w.outcome(session, "before", "an ", "answer").want(w.t, http.StatusOK)
	w.model.Answers("let me ", "ask", asks)
	run = w.run(session, "go")
	w.stream(run, 0).until(protocol.TypeRunInterrupted)
	w.model.Answers("so ", "that is <it>\u2028")
	w.ask(http.StatusAccepted, "POST", "/approvals/c1/approve", "")
	w.stream(run, 0).rest()
	return run
}

// guarantee 6
func TestAStreamGoesOnExactlyFromEveryCursor(t *testing.T) {
	w := newWorld(t, settings{})
	run := w.ended("s")
	whole := w.stream(run, 0).rest()
	if first, last := whole[0], whole[len(whole)-1]; first.Type != string(protocol.TypeRunStarted) || last.Type != string(protocol.TypeRunOutput) {
		t.Fatalf("the stream is %v", whole)
	}
	for i, m := range whole {
		var f struct {
			Type string
			Seq  int64
		}
		if err := json.Unmarshal([]byte(m.Data), &f); err != nil || f.Type != m.Type || m.ID != "" && strconv.FormatInt(f.Seq, 10) != m.ID || m.ID == "" && f.Seq != 0 {
			t.Fatalf("message %d is %+v", i, m)
		}
	}
	shown := parse[protocol.Run](t, w.ask(http.StatusOK, "GET", "/runs/"+run, ""))
	for cursor := range shown.LastSeq {
		at := 0 // behind the last message whose number the cursor has reached
		for i, m := range whole {
			if n, err := strconv.ParseInt(m.ID, 10, 64); err == nil && n <= cursor {
				at = i + 1
			}
		}
		if got := w.stream(run, cursor).rest(); !slices.Equal(got, whole[at:]) {
			t.Fatalf("behind %d: %v\nwant %v", cursor, got, whole[at:])
		}
		byHeader := w.streamAs("all", "/runs/"+run+"/events?from_seq=0", "Last-Event-ID", fmt.Sprint(cursor)).rest()
		if !slices.Equal(byHeader, whole[at:]) {
			t.Fatalf("behind %d by Last-Event-ID, which goes first: %v", cursor, byHeader)
		}
	}
	if got := w.as("all", "GET", fmt.Sprintf("/runs/%s/events?from_seq=%d", run, shown.LastSeq), ""); got.status != http.StatusNoContent || got.body != "" {
		t.Errorf("with all of it: %d %q", got.status, got.body)
	}
	w.as("all", "GET", "/runs/"+run+"/events", "", "Last-Event-ID", fmt.Sprint(shown.LastSeq)).want(t, http.StatusNoContent)
	w.restart()
	if got := w.stream(run, 0).rest(); !slices.Equal(got, whole) {
		t.Errorf("after a restart: %v\nwant %v", got, whole)
	}
}

func TestACursorThatIsNoneIsRefused(t *testing.T) {
	w := newWorld(t, settings{})
	run := w.ended("s")
	tip, _ := w.log("s").Tip()
	for _, cursor := range []string{"-1", "1.5", "x", "", "9007199254740993", "99999999999999999999", fmt.Sprint(tip + 1)} {
		w.as("all", "GET", "/runs/"+run+"/events?from_seq="+cursor, "").refused(t, http.StatusBadRequest, "")
		if cursor != "" { // an empty one is how a browser that has none says so
			w.as("all", "GET", "/runs/"+run+"/events", "", "Last-Event-ID", cursor).refused(t, http.StatusBadRequest, "")
		}
	}
}

// guarantee 6: not at a pause, and what is sent live is what is sent again.
func TestALiveStreamDoesNotEndAtAPauseAndSaysWhatAReplaySays(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	w.model.Answers("a ", pause, "b", asks)
	run := w.run("s", "go")
	<-w.model.Reached
	live := w.stream(run, 0)
	all := live.until(protocol.TypeRunDelta)
	w.model.Resume <- struct{}{}
	all = append(all, live.until(protocol.TypeRunInterrupted)...)
	w.model.Answers("done")
	w.ask(http.StatusAccepted, "POST", "/approvals/c1/approve", "")
	all = append(all, live.rest()...)
	if again := w.stream(run, 0).rest(); !slices.Equal(all, again) {
		t.Errorf("live\n%v\nagain\n%v", all, again)
	}
}

// guarantee 6: many deltas, many readers that come and go with the cursor they have.
func TestReadersThatComeAndGoHaveEveryFrameOnce(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("s")
	var chunks []string
	for i := range 1500 {
		chunks = append(chunks, fmt.Sprint(i, " "))
	}
	w.model.Answers(append([]string{pause}, chunks...)...)
	run := w.run("s", "go")
	<-w.model.Reached
	got := make([][]message, 6)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			cursor := "0"
			for n := 1; ; n++ {
				s := w.streamAs("all", "/runs/"+run+"/events", "Last-Event-ID", cursor)
				for k := 0; k < 97*n*(i+1); k++ {
					m, ok := s.next()
					if !ok {
						return
					}
					if m.ID != "" {
						cursor = m.ID
					} // else it comes again with the numbered one behind it; none of this run is such
					got[i] = append(got[i], m)
					if protocol.ServerType(m.Type).Terminal() {
						s.close()
						return
					}
				}
				s.close()
			}
		})
	}
	w.model.Resume <- struct{}{}
	wg.Wait()
	want := w.stream(run, 0).rest()
	for i := range got {
		if !slices.Equal(got[i], want) {
			t.Errorf("reader %d has %d messages, want %d", i, len(got[i]), len(want))
		}
	}
}

func TestAStreamThatHasNothingToSayKeepsItsConnectionWarm(t *testing.T) {
	w := newWorld(t, settings{heartbeat: 5 * time.Millisecond})
	run := w.parked("s")
	s := w.stream(run, 0)
	s.until(protocol.TypeRunInterrupted)
	for range 3 {
		if text, ok := s.line(); !ok || text != ": ping" {
			t.Fatalf("got %q, %v, want a ping", text, ok)
		}
		s.line()
	}
}

// guarantee 7
func TestAStreamEndsWithItsTokenAndItsVerbAndTheServer(t *testing.T) {
	for name, end := range map[string]func(w *world){
		"token": func(w *world) { w.keys.Replace(nil) },
		"verb": func(w *world) {
			all := tokens()
			for i, tok := range all {
				if tok.Name == "all" {
					all[i] = narrowed()
				}
			}
			w.keys.Replace(all)
		},
		"server": func(w *world) { w.server.Drain() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, settings{heartbeat: 10 * time.Millisecond})
			run := w.parked("s")
			s := w.stream(run, 0)
			s.until(protocol.TypeRunInterrupted)
			end(w)
			if rest := s.rest(); len(rest) > 0 {
				t.Errorf("more came: %v", rest)
			}
		})
	}
}

// guarantee 7: nothing is left behind by clients that vanish.
func TestAStreamEndsWithItsClient(t *testing.T) {
	w := newWorld(t, settings{})
	run := w.parked("s")
	for range 5 {
		s := w.stream(run, 0)
		s.until(protocol.TypeRunInterrupted)
		s.close()
	}
	deadline := time.Now().Add(patience)
	for w.server.attached.count() > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d streams are left", w.server.attached.count())
		}
		time.Sleep(time.Millisecond) // the server hears of it from the kernel
	}
}

func TestAForkHasEntriesOfItsSourceAndNoneOfItsRuns(t *testing.T) {
	w := newWorld(t, settings{})
	run := w.ended("s")
	fork := parse[protocol.Session](t, w.ask(http.StatusCreated, "POST", "/sessions/s/fork", ""))
	if x := parse[protocol.Run](t, w.ask(http.StatusOK, "GET", "/runs/"+run, "")); x.SessionID != "s" {
		t.Errorf("the run is one of %s", x.SessionID)
	}
	entries := w.ask(http.StatusOK, "GET", "/sessions/"+fork.ID+"/messages", "").body
	if source := w.ask(http.StatusOK, "GET", "/sessions/s/messages", "").body; entries != source {
		t.Errorf("the copy has\n%s\nthe source\n%s", entries, source)
	}
	w.ask(http.StatusNoContent, "DELETE", "/sessions/s", "")
	w.ask(http.StatusNotFound, "GET", "/runs/"+run, "") // it ran there alone
	if again := w.ask(http.StatusOK, "GET", "/sessions/"+fork.ID+"/messages", "").body; again != entries {
		t.Errorf("without its source the copy has %s", again)
	}
	if !strings.Contains(entries, run) {
		t.Error("the copied entries do not say which run they are of")
	}
}

// guarantee 6: far more than a connection's buffers hold.
func TestASlowReaderHoldsUpNobodyAndMissesNothing(t *testing.T) {
	const pieces = 1000
	w := newWorld(t, settings{narrow: true})
	w.session("s")
	chunks := slices.Repeat([]string{strings.Repeat("x", 2<<10)}, pieces) // 2 MiB
	w.model.Answers(append([]string{pause}, chunks...)...)
	run := w.run("s", "go")
	<-w.model.Reached
	slow := w.stream(run, 0)
	slow.until(protocol.TypeRunAgentStart)
	w.model.Resume <- struct{}{}
	quick := w.stream(run, 0).rest()
	if last := quick[len(quick)-1]; last.Type != string(protocol.TypeRunOutput) {
		t.Fatalf("the quick one ends with %s", last.Type)
	}
	rest := slow.rest()
	if want := quick[len(quick)-len(rest):]; len(rest) < pieces || !slices.Equal(rest, want) {
		t.Errorf("the slow one has %d messages behind the first", len(rest))
	}
}
