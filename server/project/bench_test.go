package project_test

import (
	"context"
	"testing"

	"hitchpost/server/project"
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
