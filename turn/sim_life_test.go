package turn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing/synctest"
	"time"

	"hitchpost/store"
	"hitchpost/turn/model"
	"hitchpost/turn/tool"
)

// life is one process: from the opening of the file to its close, or its death.
type life struct {
	disk  *disk
	store *store.Store
	host  *Host
	tails map[string]*tail
	looks *onlooker
	ended bool // its host was drained
}

func (s *sim) config() Config {
	tools := s.simTools()
	cfg := Config{
		Agents: map[string]Definition{DefaultAgent: {
			System: "Be brief.", Policy: []string{"*"}, Models: map[string]string{RoleMain: "demo/one"},
		}},
		Providers: map[string]model.Client{"demo": simModel{s}},
		Tools:     func() *tool.Set { return tools },
		MaxSteps:  s.shape.maxSteps, MaxAgents: 10, InboxTexts: 12, InboxBytes: 8 << 20,
		ToolTimeout: time.Minute, ResultLimit: 1 << 18,
		Approvals: true, Expires: s.shape.expires, Compaction: s.shape.budget, Resume: s.shape.resume,
		Log: slog.New(slog.DiscardHandler),
	}
	if s.bare {
		cfg.Providers = nil
	}
	for _, role := range s.shape.roles {
		cfg.Agents[DefaultAgent].Models[role] = "demo/" + role
	}
	return cfg
}

func (s *sim) path(n int) string { return filepath.Join(s.dir, fmt.Sprintf("log-%d.db", n)) }

// begin starts a process over the files of a path. It dies at a commit of its start,
// if it is to.
func (s *sim) begin() {
	for tries := 0; ; tries++ {
		d := s.disk
		st, err := store.Open(context.Background(), d.path, store.Options{RecentEvents: 4})
		if err == nil {
			s.life = &life{disk: d, store: st, tails: map[string]*tail{}}
			s.reread()
			s.life.host = New(st, s.config())
			s.life.looks = s.onlook(s.life)
			s.life.host.Watch(s.life.looks.hear)
			s.life.host.Reload(s.config()) // with the tool of the host itself
			err = s.life.host.Start(context.Background())
			s.quiesce()
			if !d.gone() && err != nil && !appendFailed(err) {
				s.breach("every session can go on", "the start failed: %v", err)
			}
			return
		}
		if !d.gone() || tries > 3 {
			s.breach("no death of a process keeps the file from being opened", "%v", err)
			panic(errBreach)
		}
		s.tell("died while it opened")
		d.kill()
		s.inherit(d)
	}
}

func appendFailed(err error) bool {
	var failed *AppendError
	return errors.As(err, &failed)
}

// inherit puts the disk of the next life where the last one left its files.
func (s *sim) inherit(last *disk) {
	if last.err != nil {
		s.t.Fatal(last.err)
	}
	last.forget()
	s.mount(last.heir)
}

func (s *sim) mount(path string) {
	s.lives++
	s.disk = newDisk(path, s.path(s.lives), func(n int64) int64 { return s.rng.Int64N(n) })
}

// bury ends what a dead process left in memory, none of which can reach the disk or
// anybody any more.
func (s *sim) bury() {
	s.tell("-- the process is dead")
	d := s.disk
	d.kill()
	s.quiesce()
	s.unwatch()
	if !s.life.ended {
		s.end(0)
	}
	s.fault = ""
	_ = s.life.store.Close() // its files are nobody's any more
	s.inherit(d)
	s.begin()
}

// end drains the host and sees to it that nothing of it is left.
func (s *sim) end(grace time.Duration) {
	s.life.ended = true
	s.draining = 0
	drained := make(chan error, 1)
	go func() { drained <- s.life.host.Drain(grace) }()
	for over := false; !over; {
		s.quiesce()
		select {
		case err := <-drained:
			if err != nil {
				s.breach("a drain waits for every tool", "%v", err)
			}
			over = true
		default:
			over = !s.whileDraining()
		}
	}
	s.quiesce()
	if left := s.unanswered(); len(left) > 0 {
		s.breach("every command has an answer", "%q has none after the drain", left[0].what)
	}
	if n := len(s.life.host.agents); n > 0 {
		s.breach("an agent that runs nothing is put away", "%d agents are in memory after the drain", n)
	}
}

// whileDraining lets something happen in the grace of a drain. It returns false when
// the drain hangs.
func (s *sim) whileDraining() bool {
	s.draining++
	if s.draining > 200 {
		s.breach("a drain ends", "it did not, although its grace is over")
		return false
	}
	if s.rng.IntN(3) > 0 && s.moveBeside() {
		return true
	}
	time.Sleep(time.Duration(s.rng.IntN(20)+1) * time.Second)
	return true
}

// restart is a deploy: a drain, a clean close, and the next process over the same file.
func (s *sim) restart(grace time.Duration) {
	d := s.disk
	d.release()
	s.quiesce()
	if d.gone() {
		return
	}
	s.end(grace)
	if d.gone() {
		return
	}
	s.unwatch()
	refused := d.refusals()
	err := s.life.store.Close()
	if d.gone() {
		return
	}
	if err != nil && s.fault == "" && d.refusals() == refused {
		s.breach("a clean stop folds the log into its file", "%v", err)
	}
	s.fault = ""
	d.forget()
	s.mount(d.path)
	s.begin()
}

// quiesce returns when nobody can go on without an order, a commit or time.
func (s *sim) quiesce() {
	synctest.Wait()
	for wait := 2 * simPause; s.disk.busy() || s.stopping.Load() > 0; wait += wait / 8 {
		time.Sleep(wait)
		synctest.Wait()
	}
}
