package turn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// record is what readers have seen of a session, in all lives. It holds for ever.
type record struct {
	lines  [][]byte
	events []store.Event // the same, read
}

// tail is a reader of a session in one life.
type tail struct {
	log  *store.Log
	stop func()
}

func (s *sim) sessionIDs() (ids []string) {
	for i := range s.shape.sessions {
		ids = append(ids, fmt.Sprintf("s%d", i))
	}
	return ids
}

// watch attaches readers to the sessions that have come to be, and lets those that
// fell behind catch up.
func (s *sim) watch() {
	if s.disk.gone() {
		return
	}
	for _, id := range s.sessionIDs() {
		if s.life.tails[id] == nil {
			log, err := s.life.store.OpenLog(context.Background(), id)
			if err != nil {
				continue
			}
			x := &tail{log: log}
			s.life.tails[id] = x
			x.stop = log.Watch(func() { s.follow(id, log) })
		}
		s.replay(id, s.life.tails[id].log, int64(len(s.record(id).lines)))
	}
}

func (s *sim) unwatch() {
	for _, x := range s.life.tails {
		x.stop()
		x.log.Close()
	}
	s.life.tails = map[string]*tail{}
}

func (s *sim) record(id string) *record {
	s.logs.Lock()
	defer s.logs.Unlock()
	if s.records[id] == nil {
		s.records[id] = &record{}
	}
	return s.records[id]
}

// follow is called by the writer behind each commit, when its events are visible.
func (s *sim) follow(id string, log *store.Log) {
	if s.disk.gone() {
		return // its readers are gone, too
	}
	r := s.record(id)
	for {
		lines, _, ok := log.Recent(int64(len(r.lines)), 256, 1<<20)
		if !ok || len(lines) == 0 {
			return // it fell out: pages are read again when everybody waits
		}
		s.see(id, r, int64(len(r.lines)), lines)
	}
}

// replay reads pages from a seq on and compares them with what was seen before.
func (s *sim) replay(id string, log *store.Log, from int64) {
	r := s.record(id)
	for {
		page, err := log.Page(context.Background(), from)
		if err != nil {
			s.breach("reading goes on whatever the disk does", "%v", err)
			return
		}
		if len(page.Lines) == 0 {
			break
		}
		s.see(id, r, from, page.Lines)
		from += int64(len(page.Lines))
	}
	if from < int64(len(r.lines)) {
		s.breach("what was shown is on the disk", "%s: seq %d was shown, the log ends at %d", id, len(r.lines)-1, from-1)
	}
}

func (s *sim) see(id string, r *record, from int64, lines [][]byte) {
	for i, line := range lines {
		seq := from + int64(i)
		if seq < int64(len(r.lines)) {
			if !bytes.Equal(r.lines[seq], line) {
				s.breach("a seq has one content for ever", "%s, seq %d: %s, and before: %s", id, seq, line, r.lines[seq])
			}
			continue
		}
		var ev struct {
			ID, Type string
			Seq      int64
			At       time.Time
			Payload  json.RawMessage
		}
		if err := json.Unmarshal(line, &ev); err != nil || ev.Seq != seq {
			s.breach("a log is gapless", "%s, seq %d: %s (%v)", id, seq, line, err)
			return
		}
		r.lines = append(r.lines, slices.Clone(line))
		r.events = append(r.events, store.Event{Seq: ev.Seq, ID: ev.ID, At: ev.At, Type: ev.Type, Payload: ev.Payload})
	}
}

// reread holds a file that was just opened against all that clients know.
func (s *sim) reread() {
	for _, id := range s.sessionIDs() {
		log, err := s.life.store.OpenLog(context.Background(), id)
		if errors.Is(err, store.ErrNotFound) && len(s.record(id).lines) == 0 {
			s.judge(id, nil)
			continue
		}
		if err != nil {
			s.breach("what was shown is on the disk", "%s: %v", id, err)
			continue
		}
		s.replay(id, log, 0)
		waiting, err := log.Inbox(context.Background())
		log.Close()
		if err != nil {
			s.breach("reading goes on whatever the disk does", "%v", err)
		}
		s.judge(id, waiting)
	}
	s.rereadTasks()
	s.rereadDigests()
}

// rereadDigests holds what is stored of each session against its log.
func (s *sim) rereadDigests() {
	sessions, err := s.life.store.Sessions(context.Background())
	if err != nil {
		s.breach("reading goes on whatever the disk does", "%v", err)
	}
	for _, x := range sessions {
		stored := x.Digest
		x.Digest = nil
		d, err := ReadDigest(context.Background(), s.life.store, x)
		if err != nil {
			s.breach("what was shown is on the disk", "%s: %v", x.ID, err)
			continue
		}
		if stored == nil && cmp.Equal(d, Digest{}) {
			continue // no agent has written to it yet
		}
		if folded, _ := d.MarshalJSON(); !bytes.Equal(folded, stored) {
			s.breach("the stored digest is what the log says", "%s: %s, and the log says %s", x.ID, stored, folded)
		}
	}
}

// rereadTasks does the same with the subagents' sessions, which only the file knows. No
// client speaks to them.
func (s *sim) rereadTasks() {
	sessions, err := s.life.store.Sessions(context.Background())
	if err != nil {
		s.breach("reading goes on whatever the disk does", "%v", err)
	}
	for _, session := range sessions {
		if session.ParentID == "" {
			continue
		}
		log, err := s.life.store.OpenLog(context.Background(), session.ID)
		if err != nil {
			s.breach("what was shown is on the disk", "%s: %v", session.ID, err)
			continue
		}
		s.replay(session.ID, log, 0)
		log.Close()
		s.judge(session.ID, nil)
	}
}

// judge holds the log of a session, and what waits in its inbox, against the promises.
func (s *sim) judge(id string, waiting []store.Input) {
	events := s.record(id).events
	checkInvariants(jury{s.t, s, "at most one turn is open, and a call of an ended turn has one result"}, events)
	j := judgement{sim: s, session: id, read: map[string]int{}, calls: map[string]*judged{}}
	for _, ev := range events {
		j.add(ev)
	}
	for _, text := range waiting {
		j.read[text.Text]++
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j.texts()
	j.verdicts()
	for mark, session := range s.marks {
		if session == id && !j.marked[mark] {
			s.breach("what was acknowledged is in the log", "%s: no policy with %s", id, mark)
		}
	}
	if j.cancelled > s.stops[id] && slices.Contains(s.sessionIDs(), id) {
		s.breach("a cancel stops the turn it was for and no other", "%s: %d turns ended cancelled by %d stops", id, j.cancelled, s.stops[id])
	}
}

// jury turns a failed check into a breach of a promise.
type jury struct {
	testing.TB
	sim     *sim
	promise string
}

func (j jury) Errorf(format string, args ...any) { j.sim.breach(j.promise, format, args...) }

func isTextEvent(ev store.Event) bool {
	return ev.Type == string(event.UserMessageType) || ev.Type == string(event.ContextInjectedType)
}
