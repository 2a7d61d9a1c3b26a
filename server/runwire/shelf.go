package runwire

import (
	"slices"
	"sync"

	"hitchpost/server/project"
	"hitchpost/store"
)

// shelfBytes bounds the frames of a shelf, save for the newest.
const shelfBytes = 64 << 20

// shelf keeps the newest large frames of the logs that streams follow, so that they are
// made once and all connections hold the same bytes. It is empty when nobody follows.
type shelf struct {
	mu      sync.Mutex
	streams map[*store.Log]int // that follow
	groups  []*group           // oldest first
}

// group is the frames of one event.
type group struct {
	log    *store.Log
	seq    int64
	once   sync.Once
	frames []project.Frame
	size   int // bytes of them, once they are made; guarded by shelf.mu
}

// enter counts a stream of a log, until leave.
func (s *shelf) enter(log *store.Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams == nil {
		s.streams = map[*store.Log]int{}
	}
	s.streams[log]++
}

func (s *shelf) leave(log *store.Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[log]--; s.streams[log] > 0 {
		return
	}
	delete(s.streams, log)
	s.groups = slices.DeleteFunc(s.groups, func(g *group) bool { return g.log == log })
}

// frames returns the frames of an event of a log that the caller follows. Whoever asks
// first makes them, and the others wait for it: it is less than to make them too.
func (s *shelf) frames(log *store.Log, seq int64, build func() []project.Frame) []project.Frame {
	s.mu.Lock()
	i := slices.IndexFunc(s.groups, func(g *group) bool { return g.log == log && g.seq == seq })
	if i < 0 {
		i = len(s.groups)
		s.groups = append(s.groups, &group{log: log, seq: seq})
	}
	g := s.groups[i]
	s.mu.Unlock()
	g.once.Do(func() {
		g.frames = build()
		s.weigh(g)
	})
	return g.frames
}

// weigh notes the size of a group, and takes down the oldest that are too much.
func (s *shelf) weigh(made *group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range made.frames {
		made.size += len(f.Line)
	}
	total := 0
	for _, g := range s.groups {
		total += g.size
	}
	for total > shelfBytes && len(s.groups) > 1 {
		total -= s.groups[0].size
		s.groups = slices.Delete(s.groups, 0, 1)
	}
}
