package runwire

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// crowd is how many connections are compared.
const crowd = 200

// watched is how long they are watched, and how often each is pinged meanwhile: hundreds
// of times as often as in service, so that there is something to measure.
const (
	watched = 500 * time.Millisecond
	beat    = 20 * time.Millisecond
)

// cost is what one of a crowd of connections takes, its client's side included.
type cost struct {
	bytes   float64       // at rest
	connect time.Duration // CPU, from the dial to the answer to a first frame
	watch   time.Duration // CPU of a second, at that beat
}

// BenchmarkWatchingIdleSessions compares connections that watch 1,000 sessions that rest
// with connections that watch ten, in turns: memory, CPU of coming and CPU of staying.
// Goal: the ratios are 1.
func BenchmarkWatchingIdleSessions(b *testing.B) {
	few, many := newWorld(b, settings{heartbeat: beat}), newWorld(b, settings{heartbeat: beat})
	for i := range 1000 {
		if i < 10 {
			few.create(fmt.Sprint("s", i), "me")
		}
		many.create(fmt.Sprint("s", i), "me")
	}
	few.crowd()
	many.crowd() // these two warm up
	costs := map[*world][]cost{}
	b.ReportAllocs()
	for b.Loop() {
		for range 5 { // the median of one is none
			for _, w := range []*world{few, many} {
				costs[w] = append(costs[w], w.crowd())
			}
		}
	}
	for name, of := range map[string]func(cost) float64{
		"memory": func(c cost) float64 { return c.bytes }, "connect-cpu": func(c cost) float64 { return float64(c.connect) },
		"watch-cpu": func(c cost) float64 { return float64(c.watch) },
	} {
		b.ReportMetric(median(costs[many], of)/median(costs[few], of), name+"-×10sessions")
	}
	b.ReportMetric(median(costs[many], func(c cost) float64 { return c.bytes }), "B/conn")
}

func median(costs []cost, of func(cost) float64) float64 {
	all := make([]float64, len(costs))
	for i, c := range costs {
		all[i] = of(c)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// crowd has many clients come, watch and leave.
func (w *world) crowd() (c cost) {
	w.t.Helper()
	before, began := resting(), busy()
	peers := make([]*peer, crowd)
	for i := range peers {
		peers[i] = w.join("secret-all")
		peers[i].alive()
	}
	c.connect = (busy() - began) / crowd
	c.bytes = float64(resting()-before) / crowd
	var all sync.WaitGroup
	for _, p := range peers {
		all.Go(func() { p.ws.Read(context.Background()) }) // answers the pings
	}
	began = busy()
	time.Sleep(watched)
	c.watch = (busy() - began) * time.Duration(time.Second/watched) / crowd
	for _, p := range peers {
		p.ws.CloseNow()
	}
	all.Wait()
	for w.server.Group.Len() > 0 {
		time.Sleep(time.Millisecond)
	}
	return c
}

// busy is the CPU time of this process so far.
func busy() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of this process it cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
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
