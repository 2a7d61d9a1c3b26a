//go:build linux

package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// bare is the ceiling that the store is measured against: the same schema and
// settings, prepared inserts of ready envelopes, nothing else.
type bare struct {
	db     *sql.DB
	insert *sql.Stmt
	line   string
	seqs   [producers]int
	writes int
}

func newBare(b *testing.B) *bare {
	db, err := sql.Open("sqlite", dsn(filepath.Join(b.TempDir(), "bare.db"), "rwc",
		"_journal_mode=WAL", "_synchronous=FULL", "_txlock=immediate", fmt.Sprintf("_pragma=wal_autocheckpoint(%d)", walPages)))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if err := fillBare(db); err != nil {
		b.Fatal(err)
	}
	insert, err := db.Prepare("INSERT INTO events(session, seq, type, id, pos, event) VALUES(?,?,'assistant/chunk',NULL,?,?)")
	if err != nil {
		b.Fatal(err)
	}
	return &bare{db: db, insert: insert, line: sample()}
}

func fillBare(db *sql.DB) error {
	_, err := db.Exec(schemaV1)
	return err
}

// commit inserts n events, by turns into the sessions, in one transaction.
func (x *bare) commit(b *testing.B, n int) {
	tx, err := x.db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	in := tx.Stmt(x.insert)
	for range n {
		s := x.writes % producers
		x.writes++
		if _, err := in.Exec(s, x.seqs[s], (x.seqs[s]+1)*len(x.line), x.line); err != nil {
			b.Fatal(err)
		}
		x.seqs[s]++
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}

// rig is a store with one log for each producer.
type rig struct {
	store   *Store
	logs    [producers]*Log
	payload json.RawMessage
	commits atomic.Int64
}

func newRig(b *testing.B) *rig {
	r := &rig{payload: json.RawMessage(`{"text":"` + strings.Repeat("x", 208) + `"}`)}
	r.store = open(b, Options{fault: func(stage string) error {
		if stage == "commit" {
			r.commits.Add(1)
		}
		return nil
	}})
	for i := range r.logs {
		r.logs[i] = session(b, r.store, fmt.Sprintf("s%d", i))
	}
	return r
}

// produce has every producer append n events, each waiting for its own commit.
func (r *rig) produce(b *testing.B, n int) {
	var wg sync.WaitGroup
	for _, l := range r.logs {
		wg.Go(func() {
			for range n {
				e := NewEvent{Type: "assistant/chunk", Payload: r.payload, Streamed: true}
				if _, err := l.Append(context.Background(), Batch{From: next(l), Events: []NewEvent{e}}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkAppendOf64Producers is rows 1 to 4 of the performance goals. Rounds of
// the store and of the two ceilings alternate, so that a disk that changes its
// pace between minutes slows all of them.
func BenchmarkAppendOf64Producers(b *testing.B) {
	const each = 50
	r, by64, by1000 := newRig(b), newBare(b), newBare(b)
	var storeTime, ceilingTime, storeCPU, ceilingCPU, bareCPU time.Duration
	var wrote int64
	events, bareEvents := 0, 0
	r.commits.Store(0)
	b.ReportAllocs()
	for b.Loop() {
		start, cpu, w := time.Now(), cpuTime(), written(b)
		r.produce(b, each)
		storeTime, storeCPU, wrote = storeTime+time.Since(start), storeCPU+cpuTime()-cpu, wrote+written(b)-w
		events += each * producers

		start, cpu = time.Now(), cpuTime()
		for range each {
			by64.commit(b, producers)
		}
		ceilingTime, ceilingCPU = ceilingTime+time.Since(start), ceilingCPU+cpuTime()-cpu

		cpu = cpuTime()
		for range each * producers / 1000 {
			by1000.commit(b, 1000)
			bareEvents += 1000
		}
		bareCPU += cpuTime() - cpu
	}
	perEvent := float64(storeCPU.Nanoseconds()) / float64(events)
	b.ReportMetric(float64(ceilingTime)/float64(storeTime), "of-batch-64-ceiling")
	b.ReportMetric(float64(events)/float64(r.commits.Load()), "events/fsync")
	b.ReportMetric(float64(wrote)/float64(events)/float64(len(r.payload)), "disk-B/payload-B")
	b.ReportMetric(perEvent/(float64(bareCPU.Nanoseconds())/float64(bareEvents)), "CPU/batch-1000-CPU")
	b.ReportMetric(perEvent/(float64(ceilingCPU.Nanoseconds())/float64(events)), "CPU/batch-64-CPU")
	b.ReportMetric(perEvent/1e3, "µs-CPU/event")
	b.ReportMetric(float64(events)/storeTime.Seconds(), "events/s")
}

// BenchmarkReplay is the store's part of rows 6 and 8: pages of a 10,000-event log
// against a scan of the same rows inside SQLite, which hands none of them out.
func BenchmarkReplay(b *testing.B) {
	const n = 10_000
	l := session(b, open(b, Options{}), "s1")
	grow(b, l, n)
	var paged, scanned time.Duration
	var ms0, ms1 runtime.MemStats
	var mallocs uint64
	scan, err := l.store.read.Prepare(`SELECT max(event) FROM events WHERE session = ?1 AND seq >= ?2 AND seq < ?2 + ?3`)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		runtime.ReadMemStats(&ms0)
		cpu := cpuTime()
		for from := int64(0); from < n; {
			p, err := l.Page(context.Background(), from)
			if err != nil || len(p.Lines) == 0 {
				b.Fatal(err, from)
			}
			from += int64(len(p.Lines))
		}
		paged += cpuTime() - cpu
		runtime.ReadMemStats(&ms1)
		mallocs += ms1.Mallocs - ms0.Mallocs
		cpu = cpuTime()
		for from := 0; from < n; from += PageEvents {
			var greatest sql.RawBytes
			rows, err := scan.Query(l.key, from, PageEvents)
			if err != nil || !rows.Next() {
				b.Fatal(err)
			}
			if err := rows.Scan(&greatest); err != nil {
				b.Fatal(err)
			}
			rows.Close()
		}
		scanned += cpuTime() - cpu
	}
	b.ReportMetric(float64(paged)/float64(scanned), "CPU/scan-CPU")
	b.ReportMetric(float64(paged.Microseconds())/float64(b.N)/n, "µs-CPU/event")
	b.ReportMetric(float64(mallocs)/float64(b.N)/n, "allocs/event")
}

// BenchmarkOpen is the store's part of rows 15 and 16: opening a log, with its
// tip and the newest events a hello needs, at 1,000 and at 1,000,000 events; and
// opening the file that holds the long one.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "log.db")
	s, err := Open(context.Background(), path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	for name, n := range map[string]int{"short": 1_000, "long": 1_000_000} {
		l := session(b, s, name)
		grow(b, l, n)
	}
	b.Run("log", func(b *testing.B) {
		var spent [2]time.Duration
		for b.Loop() {
			for i, id := range []string{"short", "long"} {
				start := time.Now()
				l := hold(b, s, id)
				if _, ok, err := l.Newest(context.Background(), -1, "turn/start", "turn/end", "session/created"); err != nil || !ok {
					b.Fatal(ok, err)
				}
				if _, err := l.Page(context.Background(), next(l)-1); err != nil {
					b.Fatal(err)
				}
				spent[i] += time.Since(start)
			}
		}
		b.ReportMetric(float64(spent[1])/float64(spent[0]), "1M/1k")
		b.ReportMetric(float64(spent[1].Microseconds())/float64(b.N), "µs/open")
	})
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("file", func(b *testing.B) {
		for b.Loop() {
			s, err := Open(context.Background(), path, Options{})
			if err != nil {
				b.Fatal(err)
			}
			l, err := s.OpenLog(context.Background(), "long")
			if err != nil {
				b.Fatal(err)
			}
			if p, err := l.Page(context.Background(), 999_000); err != nil || len(p.Lines) == 0 {
				b.Fatal(err)
			}
			b.StopTimer()
			l.Close()
			s.Close()
			b.StartTimer()
		}
	})
}

// BenchmarkIdleLog gives the memory of a log that is open and watched, with nothing going on.
func BenchmarkIdleLog(b *testing.B) {
	const n = 10_000
	s := open(b, Options{})
	var pending sync.WaitGroup
	for i := range n {
		r := &request{create: &Session{ID: fmt.Sprintf("s%d", i)}, done: func(_ []Event, err error) {
			if err != nil {
				b.Error(err)
			}
			pending.Done()
		}}
		r.records, r.events = encode(envelopeHead(r.create.ID), 0, time.Now().UTC(), []NewEvent{event("session/created", `{}`)})
		pending.Add(1)
		s.writer.queue.add(r)
	}
	pending.Wait()
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		logs := make([]*Log, n)
		for i := range logs {
			l, err := s.OpenLog(context.Background(), fmt.Sprintf("s%d", i))
			if err != nil {
				b.Fatal(err)
			}
			l.Watch(func() {})
			logs[i] = l
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		for _, l := range logs {
			l.Close()
		}
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/log")
}
