package store

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Between the commit of an event and its publishing a read of the disk would find what no
// tip tells of yet.
//
// guarantee 4
func TestNoReadShowsAnEventBeforeItIsPublished(t *testing.T) {
	ctx := context.Background()
	type pair struct{ first, second *Log }
	armed := make(chan pair, 1)
	var now pair
	s := open(t, Options{fault: func(stage string) error {
		switch {
		case stage == "insert" && now.first == nil:
			select {
			case now = <-armed: // the second's append joins the transaction of the first's
				now.second.Submit(Batch{From: 1, Events: []NewEvent{event("turn/start", `{}`), chunk("x")}, Digest: []byte(`{"new":true}`)}, func([]Event, error) {})
			default:
			}
		case stage == "commit" && now.first != nil:
			now.first.mu.Lock() // which is published first, and so stops the publishing of both
			now.first = nil
		}
		return nil
	}})
	if err := s.Create(ctx, Session{ID: "first", Owner: "bob", Agent: "default"}, []NewEvent{chunk("x")}); err != nil {
		t.Fatal(err)
	}
	first, l := hold(t, s, "first"), session(t, s, "second")
	armed <- pair{first, l}
	published := make(chan struct{})
	first.Submit(Batch{From: 1, Events: []NewEvent{chunk("x")}}, func([]Event, error) { close(published) })
	var id string
	for id == "" { // until the transaction is committed
		_ = s.read.QueryRow("SELECT lower(hex(id)) FROM events WHERE session = ? AND seq = 1", l.key).Scan(&id)
	}

	tip, pos := l.Tip()
	page, err := l.Page(ctx, 0)
	if err != nil || len(page.Lines) != 1 || page.Pos != pos {
		t.Errorf("a page of %d lines that ends at %d, %v; the tip is seq %d at %d", len(page.Lines), page.Pos, err, tip, pos)
	}
	if page, err := l.Page(ctx, 1); err != nil || len(page.Lines) != 0 {
		t.Errorf("past the tip %d lines, %v", len(page.Lines), err)
	}
	if _, found, err := l.ByID(ctx, id); found || err != nil {
		t.Errorf("found by its id: %v, %v", found, err)
	}
	if e, _, err := l.Newest(ctx, -1); err != nil || e.Seq != tip {
		t.Errorf("the newest is %d, %v", e.Seq, err)
	}
	for name, read := range map[string]func() ([]Event, error){
		"Structural": func() ([]Event, error) { return l.Structural(ctx, 1, 1<<40) },
		"Before":     func() ([]Event, error) { return l.Before(ctx, -1, 9, "turn/start") },
		"Streamed":   func() ([]Event, error) { return l.Streamed(ctx, 1, 1<<40) },
	} {
		if events, err := read(); err != nil || len(events) != 0 {
			t.Errorf("%s: %d events, %v", name, len(events), err)
		}
	}
	rows := make(chan Session, 2) // their digest and title would be those of the event
	var reading sync.WaitGroup
	reading.Go(func() {
		x, err := s.Session(ctx, "second")
		if err != nil {
			t.Error(err)
		}
		rows <- x
	})
	reading.Go(func() {
		all, err := s.SessionsOf(ctx, "ada")
		if err != nil || len(all) != 1 {
			t.Errorf("the list: %+v, %v", all, err)
		}
		rows <- all[0]
	})
	for stacks := make([]byte, 1<<20); strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "store.(*Store).upToTip(") < 2 && len(rows) == 0; {
		runtime.Gosched() // until both wait
	}
	select {
	case x := <-rows:
		t.Errorf("a row was read that ends at seq %d with the digest %s; the tip is %d", x.LastSeq, x.Digest, tip)
	default:
	}

	first.mu.Unlock()
	<-published
	reading.Wait()
	for range len(rows) {
		if x := <-rows; x.LastSeq != 2 || string(x.Digest) != `{"new":true}` {
			t.Errorf("a row ends at seq %d with the digest %s", x.LastSeq, x.Digest)
		}
	}
	if page, err := l.Page(ctx, 0); err != nil || len(page.Lines) != 3 {
		t.Errorf("published, a page has %d lines, %v", len(page.Lines), err)
	}
}

// A row that shows what is committed waits until that is published, and for nothing that is
// committed behind it.
//
// guarantee 8
func TestARowThatWaitsToBePublishedWaitsForNoCommitBehindIt(t *testing.T) {
	ctx := context.Background()
	var stopper, l *Log
	commits := -1 // that were begun since it counts
	read, committing := make(chan struct{}), make(chan struct{})
	s := open(t, Options{fault: func(stage string) error {
		switch {
		case commits < 0:
		case stage == "insert" && commits == 0 && l != nil: // joins the transaction of the stopper
			l.Submit(Batch{From: 1, Events: []NewEvent{chunk("x")}}, func([]Event, error) {})
			l = nil
		case stage == "commit":
			switch commits++; commits {
			case 1:
				stopper.mu.Lock() // which is published first, and so stops the publishing of both
			case 2:
				close(committing)
				select {
				case <-read:
				case <-time.After(30 * time.Second):
				}
			}
		}
		return nil
	}})
	stopper, l = session(t, s, "stopper"), session(t, s, "s1")
	key := l.key
	commits = 0
	stopper.Submit(Batch{From: 1, Events: []NewEvent{chunk("x")}}, func([]Event, error) {})
	for committed := false; !committed; {
		if err := s.read.QueryRow("SELECT EXISTS(SELECT 1 FROM events WHERE session = ? AND seq = 1)", key).Scan(&committed); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		defer close(read)
		if x, err := s.Session(ctx, "s1"); err != nil || x.LastSeq != 1 {
			t.Errorf("it ends at seq %d, %v", x.LastSeq, err)
		}
	}()
	for stacks := make([]byte, 1<<20); !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "store.(*Store).upToTip("); {
		runtime.Gosched() // until it waits
	}
	behind := make(chan struct{})
	stopper.Submit(Batch{From: 2, Events: []NewEvent{chunk("x")}}, func([]Event, error) { close(behind) })
	stopper.mu.Unlock()
	<-committing
	select {
	case <-read:
	case <-behind:
		t.Error("it was read behind another commit")
	}
	<-behind
	<-read
}
