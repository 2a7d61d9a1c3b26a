package history

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"hitchpost/store"
	"hitchpost/turn/event"
)

const branchesPassed = 20

// BenchmarkPath prints what finding a path of 20 branches costs in a log of 100,000 events
// beside one of 2,000, which has as many branches.
func BenchmarkPath(b *testing.B) {
	st, err := store.Open(context.Background(), filepath.Join(b.TempDir(), "log.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	long, short := branched(b, st, "long", 100_000), branched(b, st, "short", 2_000)
	find := func(log *store.Log) time.Duration {
		start := time.Now()
		tip, _ := log.Tip()
		path, err := Paths(context.Background(), log, tip)
		if err != nil || len(path) != branchesPassed+1 {
			b.Fatalf("%d ranges, %v", len(path), err)
		}
		return time.Since(start)
	}
	find(long)
	find(short)
	var longTime, shortTime time.Duration
	b.ReportAllocs()
	for b.Loop() {
		shortTime += find(short)
		longTime += find(long)
	}
	b.ReportMetric(float64(longTime.Nanoseconds())/float64(b.N)/branchesPassed, "ns/branch")
	b.ReportMetric(float64(longTime)/float64(shortTime), "ratio")
}

// branched makes a log of n events whose path passed branches at even distances, each
// past the newest entry but one.
func branched(b *testing.B, st *store.Store, id string, n int) *store.Log {
	encode := func(seq int, p event.Payload) store.NewEvent {
		body, err := event.Encode(p)
		if err != nil {
			b.Fatal(err)
		}
		return store.NewEvent{ID: idOf(seq), Type: string(p.EventType()), Payload: body, Streamed: p.EventType().Streamed()}
	}
	if err := st.Create(context.Background(), store.Session{ID: id}, []store.NewEvent{encode(0, event.SessionCreated{})}); err != nil {
		b.Fatal(err)
	}
	log, err := st.OpenLog(context.Background(), id)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(log.Close)
	every := n / branchesPassed
	for at := 1; at < n; {
		batch := store.Batch{From: int64(at)}
		for ; at < n && len(batch.Events) < 1000; at++ {
			var p event.Payload = event.AssistantChunk{Text: "some words of an answer"}
			switch at % every {
			case every - 12:
				p = event.UserMessage{Text: "gone on from"}
			case every - 11:
				p = event.UserMessage{Text: "left"}
			case every - 10:
				p = event.SessionBranched{To: idOf(at - 2)}
			}
			batch.Events = append(batch.Events, encode(at, p))
		}
		if _, err := log.Append(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
	return log
}
