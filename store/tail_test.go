package store

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// guarantee 1, 3
func TestReplayThenTailGivesEverySeqOnceWhileTheLogGrows(t *testing.T) {
	const events, readers = 3000, 8
	s := open(t, Options{RecentEvents: 16}) // readers fall out of the recent events all the time
	l := session(t, s, "s1")
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			woken := make(chan struct{}, 1)
			defer l.Watch(func() {
				select {
				case woken <- struct{}{}:
				default:
				}
			})()
			var next, pos int64
			for next <= events {
				lines, at, ok := l.Recent(next, 5, 1<<20)
				if !ok {
					p, err := l.Page(context.Background(), next)
					if err != nil {
						t.Error(err)
						return
					}
					lines, at = p.Lines, p.Pos
				}
				if ok && len(lines) == 0 {
					<-woken
					continue
				}
				for _, line := range lines {
					if !strings.Contains(string(line), fmt.Sprintf(`"seq":%d,`, next)) {
						t.Errorf("at seq %d came %s", next, line)
						return
					}
					next++
					pos += int64(len(line))
				}
				if pos != at {
					t.Errorf("after seq %d the position is %d, the bytes received are %d", next-1, at, pos)
					return
				}
			}
		})
	}
	var pending sync.WaitGroup
	for i := range events {
		pending.Add(1)
		l.Submit(Batch{From: int64(1 + i), Events: []NewEvent{chunk(strings.Repeat("x", i%50))}}, func(_ []Event, err error) {
			if err != nil {
				t.Error(err)
			}
			pending.Done()
		})
	}
	pending.Wait()
	wg.Wait()
}

func TestRecentEventsAreBoundedInNumberAndBytesAndKeptOnlyForWatchers(t *testing.T) {
	s := open(t, Options{RecentEvents: 10})
	l := session(t, s, "s1")
	add(t, l, chunk("unwatched"))
	if _, _, ok := l.Recent(1, 10, 1<<20); ok {
		t.Error("an event was kept though nobody watches")
	}
	stop := l.Watch(func() {})
	for range 15 {
		add(t, l, chunk("x"))
	}
	if _, _, ok := l.Recent(6, 100, 1<<20); ok {
		t.Error("seq 6 is the eleventh newest and still kept")
	}
	lines, pos, ok := l.Recent(7, 100, 1<<20)
	if _, tip := l.Tip(); !ok || len(lines) != 10 || pos != tip {
		t.Errorf("from seq 7: %d lines, pos %d, %v; want 10 up to %d", len(lines), pos, ok, tip)
	}
	if lines, _, ok := l.Recent(7, 3, 1<<20); !ok || len(lines) != 3 {
		t.Errorf("at most 3 events gave %d", len(lines))
	}
	if lines, _, ok := l.Recent(7, 100, 1); !ok || len(lines) != 1 {
		t.Errorf("at most 1 byte gave %d lines, want one all the same", len(lines))
	}
	if lines, _, ok := l.Recent(17, 100, 1<<20); !ok || len(lines) != 0 {
		t.Errorf("at the tip: %d lines, %v", len(lines), ok)
	}
	big := strings.Repeat("b", RecentBytes/2)
	add(t, l, chunk(big))
	add(t, l, chunk(big))
	if lines, _, ok := l.Recent(18, 100, 1<<30); !ok || len(lines) != 1 {
		t.Errorf("two events of half the byte bound each: %d kept, want 1", len(lines))
	}
	if _, _, ok := l.Recent(17, 100, 1<<30); ok {
		t.Error("more bytes than the bound are kept")
	}
	stop()
	if _, _, ok := l.Recent(18, 100, 1<<20); ok {
		t.Error("events are kept after the last watcher left")
	}
	if l.recent != nil {
		t.Error("the memory of the recent events is held after the last watcher left")
	}
}

func TestAWatcherThatStoppedHearsNoMore(t *testing.T) {
	l := session(t, open(t, Options{}), "s1")
	heard := [2]int{}
	stop := l.Watch(func() { heard[0]++ })
	defer l.Watch(func() { heard[1]++ })()
	add(t, l, chunk("x"))
	stop()
	add(t, l, chunk("y"))
	if heard != [2]int{1, 2} {
		t.Errorf("heard %v, want 1 and 2", heard)
	}
}
