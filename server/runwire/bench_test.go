package runwire

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

// crowd is how many connections are compared.
const crowd = 200

// BenchmarkWatchingIdleSessions compares connections that watch 1,000 sessions that rest
// with connections that watch ten: memory each, client's side included, and the time of a
// connection from the dial to auth.ok and the answer to a first frame. Goal: the ratios are 1.
func BenchmarkWatchingIdleSessions(b *testing.B) {
	few, many := newWorld(b, settings{}), newWorld(b, settings{})
	for i := range 1000 {
		if i < 10 {
			few.create(fmt.Sprint("s", i), "me")
		}
		many.create(fmt.Sprint("s", i), "me")
	}
	bytes := map[*world]float64{}
	for _, w := range []*world{few, many, few, many} { // the first two warm up
		before := resting()
		var peers []*peer
		for range crowd {
			peers = append(peers, w.join("secret-all"))
		}
		bytes[w] = float64(resting()-before) / crowd
		for _, p := range peers {
			p.ws.CloseNow()
		}
		for w.server.Group.Len() > 0 {
			time.Sleep(time.Millisecond)
		}
	}
	took := map[*world]time.Duration{}
	b.ReportAllocs()
	for b.Loop() {
		for _, w := range []*world{few, many} {
			began := time.Now()
			p := w.join("secret-all")
			p.alive()
			took[w] += time.Since(began)
			p.ws.CloseNow()
		}
	}
	b.ReportMetric(bytes[many], "B/conn")
	b.ReportMetric(bytes[many]/bytes[few], "memory-ratio")
	b.ReportMetric(float64(took[many])/float64(took[few]), "time-ratio")
}

// resting is the memory in use once what can be freed is.
func resting() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// BenchmarkReplay is a finished run of 10,000 frames, from subscribe to its end.
func BenchmarkReplay(b *testing.B) {
	w := newWorld(b, settings{})
	r := w.lay(10_000, 20, "a")[0]
	r.finish()
	w.restart()
	p := w.join("secret-all")
	frames := 0
	b.ReportAllocs()
	for b.Loop() {
		frames += p.count(r.id)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(frames), "ns/frame")
}
