package project_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"hitchpost/server/project"
	"hitchpost/store"
	"hitchpost/turn/event"
)

// streamed is a run of n chunks and its message.
func streamed(n int) *script {
	s := begin()
	_, step := s.open()
	for range n {
		s.add(event.AssistantChunk{Text: "some words, "})
	}
	s.reply(step, "some words, and so on")
	return s
}

func BenchmarkProjectChunks(b *testing.B) {
	log := streamed(1000).log()
	b.ReportAllocs()
	for b.Loop() {
		fold(project.New(session), log)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(log)), "ns/event")
}

func BenchmarkEncodeEntries(b *testing.B) {
	s := begin()
	for range 100 {
		s.add(event.ToolResult{ID: "c1", Content: args(`"some lines of output"`)})
	}
	log := s.log()
	b.ReportAllocs()
	for b.Loop() {
		fold(project.New(session), log)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*100), "ns/entry")
}

// A cursor behind a long stream costs what one behind a short stream does.
func BenchmarkBehind(b *testing.B) {
	for name, chunks := range map[string]int{"chunks=10": 10, "chunks=10000": 10_000} {
		b.Run(name, func(b *testing.B) {
			log := streamed(chunks).write(b, library(b), session)
			defer log.Close()
			tip, _ := log.Tip()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := project.Behind(context.Background(), log, tip); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// conversation is a log of n entries in turns of four, with a branch and a checkpoint.
func conversation(n int) *script {
	s := begin()
	for made := 0; made < n; made += 4 {
		_, step := s.open()
		s.add(event.UserMessage{Text: "and what is the weather like today, or tomorrow?"})
		s.reply(step, "let me look", event.ToolCall{ID: "c1", Name: "Weather", Args: args(`{"city":"Paris"}`)})
		s.add(event.ToolCall{ID: "c1", Name: "Weather", Args: args(`{"city":"Paris"}`)})
		last := s.add(event.ToolResult{ID: "c1", Content: args(`"22 °C"`)})
		s.add(event.StepEnd{N: 1})
		s.add(event.TurnEnd{Status: event.Completed})
		if made == n/2 {
			s.add(event.SessionCompacted{UptoSeq: int64(len(s.events) - 1), Summary: "so far"})
			s.add(event.SessionBranched{To: last, Previous: s.next()})
		}
	}
	return s
}

// BenchmarkPageOfHistory measures row 19: the newest 100 entries of a session of 50,000
// beside those of one of 500, in turns.
func BenchmarkPageOfHistory(b *testing.B) {
	st := library(b)
	sizes := []int{500, 50_000}
	logs, times := map[int]*store.Log{}, map[int][]time.Duration{}
	for _, n := range sizes {
		logs[n] = conversation(n).write(b, st, fmt.Sprintf("entries%d", n))
		defer logs[n].Close()
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, n := range sizes {
			start := time.Now()
			page, err := project.History(context.Background(), logs[n], -1, 100)
			if err != nil || len(page) != 100 {
				b.Fatal(len(page), err)
			}
			times[n] = append(times[n], time.Since(start))
		}
	}
	for _, n := range sizes {
		slices.Sort(times[n])
	}
	long, short := times[50_000], times[500]
	b.ReportMetric(float64(long[len(long)/2])/float64(short[len(short)/2]), "×500entries")
	b.ReportMetric(float64(long[len(long)/2].Microseconds()), "µs/page")
}
