package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// guarantee 2, 3
func TestABatchGetsConsecutiveSeqsAndReadsBackAsItWasAnswered(t *testing.T) {
	l := session(t, open(t, Options{}), "s1")
	got := add(t, l, event("turn/start", `{"agent":"default"}`), chunk("hel"), chunk("lo"))
	lines := all(t, l)
	if len(lines) != 4 {
		t.Fatalf("the log has %d events, want 4", len(lines))
	}
	for i, e := range got {
		if e.Seq != int64(i+1) || lines[i+1] != string(e.Line) {
			t.Errorf("event %d: seq %d, stored %s, answered %s", i, e.Seq, lines[i+1], e.Line)
		}
		want := fmt.Sprintf(`{"id":%q,"session_id":"s1","seq":%d,"at":%q,"type":%q,"payload":%s}`,
			e.ID, e.Seq, e.At.Format(atFormat), e.Type, e.Payload)
		if string(e.Line) != want {
			t.Errorf("envelope is\n%s, want\n%s", e.Line, want)
		}
	}
	newest, ok, err := l.Newest(context.Background(), -1, "turn/start", "session/created")
	if err != nil || !ok || newest.Seq != 1 {
		t.Errorf("Newest = %v %v %v, want seq 1", newest.Seq, ok, err)
	}
	e, ok, err := l.ByID(context.Background(), got[0].ID)
	if err != nil || !ok || string(e.Line) != string(got[0].Line) || !e.At.Equal(got[0].At) {
		t.Errorf("ByID = %s %v %v", e.Line, ok, err)
	}
	s, err := l.Structural(context.Background(), 0, 100)
	if err != nil || len(s) != 2 || s[0].Seq != 0 || s[1].Seq != 1 {
		t.Errorf("Structural = %v %v, want seqs 0 and 1", s, err)
	}
	p, err := l.Streamed(context.Background(), 0, 100)
	if err != nil || len(p) != 2 || !strings.Contains(string(p[1].Payload), "lo") {
		t.Errorf("Streamed = %v %v, want two chunks", p, err)
	}
}

// guarantee 3
func TestABatchThatExpectsAnotherSeqIsAConflictAndWritesNothing(t *testing.T) {
	l := session(t, open(t, Options{}), "s1")
	for _, from := range []int64{0, 2, 100, -1} {
		_, err := l.Append(context.Background(), Batch{From: from, Events: []NewEvent{chunk("x")}, Seen: []string{"c1"}})
		if !errors.Is(err, ErrConflict) {
			t.Errorf("from %d: %v, want ErrConflict", from, err)
		}
	}
	if lines := all(t, l); len(lines) != 1 {
		t.Errorf("the log has %d events, want the first one only", len(lines))
	}
	if seen, err := l.SeenInput(context.Background(), "c1"); seen || err != nil {
		t.Errorf("SeenInput = %v %v, want false: nothing of a refused batch stays", seen, err)
	}
}

// guarantee 3, run with -race
func TestSixtyFourSessionsAppendingAtOnceStayGapless(t *testing.T) {
	const sessions, each = 64, 40
	s := open(t, Options{})
	var logs []*Log
	for i := range sessions {
		logs = append(logs, session(t, s, fmt.Sprintf("s%d", i)))
	}
	var wg sync.WaitGroup
	for _, l := range logs {
		wg.Go(func() {
			for i := range each {
				events := []NewEvent{chunk("a"), event("turn/end", `{"status":"completed"}`)}[:1+i%2]
				if _, err := l.Append(context.Background(), Batch{From: next(l), Events: events}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, l := range logs {
		lines := all(t, l)
		if want := 1 + each + each/2; len(lines) != want {
			t.Errorf("%s has %d events, want %d", l.Session(), len(lines), want)
		}
		for i, line := range lines {
			if !strings.Contains(line, fmt.Sprintf(`"session_id":%q,"seq":%d,`, l.Session(), i)) {
				t.Fatalf("%s at %d: %s", l.Session(), i, line)
			}
		}
	}
}

// guarantee 4
func TestWhatWaitsWhileACommitRunsSharesTheNextOne(t *testing.T) {
	const n = 64
	var commits atomic.Int64
	inCommit, goOn := make(chan struct{}), make(chan struct{})
	armed := false
	s := open(t, Options{fault: func(stage string) error {
		if stage == "commit" {
			commits.Add(1)
			if armed {
				armed = false
				close(inCommit)
				<-goOn
			}
		}
		return nil
	}})
	l := session(t, s, "s1")
	var answered sync.WaitGroup
	answered.Add(n + 1)
	commits.Store(0)
	armed = true
	done := func(_ []Event, err error) {
		if err != nil {
			t.Error(err)
		}
		answered.Done()
	}
	l.Submit(Batch{From: 1, Events: []NewEvent{chunk("first")}}, done)
	<-inCommit
	for i := range n {
		l.Submit(Batch{From: int64(2 + i), Events: []NewEvent{chunk("x")}}, done)
	}
	close(goOn)
	answered.Wait()
	if got := commits.Load(); got != 2 {
		t.Errorf("%d commits for one append and %d that waited for it, want 2", got, n)
	}
}

// guarantee 1, 4
func TestWhoIsAnsweredCanReadItAndWatchersHeardBefore(t *testing.T) {
	l := session(t, open(t, Options{}), "s1")
	var heard atomic.Int64
	defer l.Watch(func() { tip, _ := l.Tip(); heard.Store(tip) })()
	answered := make(chan string, 1)
	l.Submit(Batch{From: 1, Events: []NewEvent{chunk("x"), chunk("y")}}, func(events []Event, err error) {
		tip, _ := l.Tip()
		answered <- fmt.Sprint(len(events), err, tip, heard.Load())
	})
	if got := <-answered; got != "2 <nil> 2 2" {
		t.Errorf("events, error, tip, watcher's tip = %s, want 2 <nil> 2 2", got)
	}
}

// guarantee 3, 5
func TestAFailingAppendAmongManyUnderWayFailsThoseBehindItAndLeavesNoHole(t *testing.T) {
	for name, spoil := range map[string]func(*Batch){
		"bad payload":      func(b *Batch) { b.Events[0].Payload = []byte(`[1]`) },
		"id that is taken": func(b *Batch) { b.Events[0] = NewEvent{ID: "00000000000000aa", Type: "x", Payload: []byte(`{}`)} },
		"text not there":   func(b *Batch) { b.Take = []int64{7} },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, Options{})
			l, other := session(t, s, "s1"), session(t, s, "s2")
			add(t, l, NewEvent{ID: "00000000000000aa", Type: "turn/start", Payload: []byte(`{}`)})
			var outcome [9]error
			var wg sync.WaitGroup
			wg.Add(2 * len(outcome))
			for i := range outcome {
				b := Batch{From: int64(2 + i), Events: []NewEvent{chunk(fmt.Sprint(i))}}
				if i == 4 {
					spoil(&b)
				}
				l.Submit(b, func(_ []Event, err error) { outcome[i] = err; wg.Done() })
				other.Submit(Batch{From: int64(1 + i), Events: []NewEvent{chunk("z")}}, func(_ []Event, err error) {
					if err != nil {
						t.Errorf("the other session's append %d: %v", i, err)
					}
					wg.Done()
				})
			}
			wg.Wait()
			for i, err := range outcome {
				if (err != nil) != (i >= 4) || i > 4 && !errors.Is(err, ErrConflict) {
					t.Errorf("append %d: %v", i, err)
				}
			}
			if tip, _ := l.Tip(); tip != 5 || len(all(t, l)) != 6 {
				t.Errorf("tip %d, %d events; want 5 and 6", tip, len(all(t, l)))
			}
			add(t, l, chunk("again"))
			if lines := all(t, l); !strings.Contains(lines[6], "again") {
				t.Errorf("seq 6 is %s", lines[6])
			}
		})
	}
}

// guarantee 5
func TestAPanicInOneRequestOrInACallbackLeavesTheWriterAtWork(t *testing.T) {
	var told bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&told, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	armed := false
	s := open(t, Options{fault: func(stage string) error {
		if armed && stage == "insert" {
			armed = false
			panic("a bad member")
		}
		return nil
	}})
	l := session(t, s, "s1")
	armed = true
	if _, err := l.Append(context.Background(), Batch{From: 1, Events: []NewEvent{chunk("x")}}); err == nil || !strings.Contains(err.Error(), "a bad member") {
		t.Errorf("append = %v, want the panic by name", err)
	}
	l.Submit(Batch{From: 1, Events: []NewEvent{chunk("y")}}, func([]Event, error) { panic("the caller's own") })
	if _, err := l.Append(context.Background(), Batch{From: 2, Events: []NewEvent{chunk("z")}}); err != nil {
		t.Errorf("append after the panics: %v", err)
	}
	if err := s.Close(); err != nil || !strings.Contains(told.String(), "the caller's own") {
		t.Errorf("close: %v; the callback's panic is in the process log: %s", err, told.String())
	}
}

// guarantee 5
func TestACallerThatGivesUpDoesNotUndoTheAppend(t *testing.T) {
	inCommit, goOn := make(chan struct{}, 1), make(chan struct{})
	armed := false
	s := open(t, Options{fault: func(stage string) error {
		if armed && stage == "commit" {
			inCommit <- struct{}{}
			<-goOn
		}
		return nil
	}})
	l := session(t, s, "s1")
	armed = true
	gone := errors.New("client left")
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() { <-inCommit; cancel(gone) }()
	if _, err := l.Append(ctx, Batch{From: 1, Events: []NewEvent{chunk("x")}}); !errors.Is(err, gone) {
		t.Errorf("append = %v, want the cause of the context", err)
	}
	close(goOn)
	if _, err := l.Append(context.Background(), Batch{From: 2, Events: []NewEvent{chunk("y")}}); err != nil {
		t.Errorf("the next append: %v; the abandoned one should have been committed", err)
	}
}

// guarantee 13
func TestCloseCommitsWhatWasAcceptedAndRefusesTheRest(t *testing.T) {
	s := open(t, Options{})
	l := session(t, s, "s1")
	var failed atomic.Int64
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Add(1)
		l.Submit(Batch{From: int64(1 + i), Events: []NewEvent{chunk("x")}}, func(_ []Event, err error) {
			if err != nil {
				failed.Add(1)
			}
			wg.Done()
		})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if failed.Load() != 0 {
		t.Errorf("%d appends accepted before Close failed", failed.Load())
	}
	if _, err := l.Append(context.Background(), Batch{From: 201, Events: []NewEvent{chunk("x")}}); !errors.Is(err, ErrClosed) {
		t.Errorf("append after Close = %v, want ErrClosed", err)
	}
	if _, err := l.Page(context.Background(), 0); !errors.Is(err, ErrClosed) {
		t.Errorf("read after Close = %v, want ErrClosed", err)
	}
	if exists(s.path + "-wal") {
		t.Error("the write-ahead log is still there after a clean stop")
	}
	if lines := all(t, hold(t, openAt(t, s.path, Options{}), "s1")); len(lines) != 201 {
		t.Errorf("the reopened log has %d events, want 201", len(lines))
	}
}

// TestAnEventHasTheTimeThatItsBatchGives but never one before its predecessor's.
func TestAnEventHasTheTimeThatItsBatchGives(t *testing.T) {
	l := session(t, open(t, Options{}), "s")
	at := l.Now().Add(time.Hour)
	first, err := l.Append(context.Background(), Batch{From: next(l), At: at, Events: []NewEvent{chunk("x")}})
	if err != nil || !first[0].At.Equal(at) {
		t.Fatalf("at %v %v, want %v", first, err, at)
	}
	second, err := l.Append(context.Background(), Batch{From: next(l), At: at.Add(-time.Hour), Events: []NewEvent{chunk("y")}})
	if err != nil || second[0].At.Before(at) {
		t.Errorf("at %v %v, want none before %v", second, err, at)
	}
	if now := l.Now(); now.Before(second[0].At) {
		t.Errorf("now is %v, before the newest event's %v", now, second[0].At)
	}
}
