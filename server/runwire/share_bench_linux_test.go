package runwire

import (
	"strings"
	"testing"
	"time"

	"hitchpost/turn/event"
)

const (
	largeAnswer = 4 << 20 // bytes of text; its entry has it twice, in payload and in display
	slowReaders = 20
)

// BenchmarkSlowReadersOfOneLargeAnswer compares the memory that an answer takes on its way
// to many clients that read nothing with what it takes on its way to one, in turns, and
// the time until all of them have it before them. Goal: the memory's ratio is 1.
func BenchmarkSlowReadersOfOneLargeAnswer(b *testing.B) {
	measureLargeAnswer(b, 1) // warms up
	var one, many, oneTook, manyTook float64
	b.ReportAllocs()
	for b.Loop() {
		held, took := measureLargeAnswer(b, 1)
		one, oneTook = one+held, oneTook+took
		held, took = measureLargeAnswer(b, slowReaders)
		many, manyTook = many+held, manyTook+took
	}
	b.ReportMetric(many/one, "memory-×20readers")
	b.ReportMetric(manyTook/oneTook, "time-×20readers")
	b.ReportMetric(many/float64(b.N)/slowReaders/largeAnswer, "B/reader/B")
}

// measureLargeAnswer has n clients that read nothing follow a run, and returns the bytes
// that its answer takes in memory once it is on its way to all of them, and the seconds
// until it was.
func measureLargeAnswer(b *testing.B, n int) (held, took float64) {
	b.Helper()
	w := newWorld(b, settings{narrow: true})
	r := w.lay(3, 20, "a")[0]
	peers := make([]*peer, n)
	for i := range peers {
		peers[i] = w.join("secret-all")
	}
	w.untilPast(r, n)
	before, began := resting(), time.Now()
	r.answer(strings.Repeat("x", largeAnswer))
	w.untilPast(r, n)
	took = time.Since(began).Seconds()
	held = float64(resting() - before)
	for _, p := range peers {
		p.ws.CloseNow()
	}
	w.stop()
	w.start() // for the end of the benchmark, which stops it
	return held, took
}

// answer appends the step's answer.
func (r *laid) answer(text string) {
	r.t.Helper()
	r.append(encoded(r.t, event.MessageID(r.step), event.AssistantMessage{Parts: []event.Part{{Type: event.PartText, Text: text}}}))
}
