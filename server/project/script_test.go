package project_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hitchpost/server/project"
	"hitchpost/store"
	"hitchpost/turn/event"
)

const session = "s1"

// script writes a log, event by event. The id of an event is its seq in hex, unless the
// script says another one.
type script struct{ events []store.NewEvent }

func begin() *script {
	s := &script{}
	s.add(event.SessionCreated{})
	return s
}

func (s *script) next() string { return fmt.Sprintf("%016x", len(s.events)) }

func (s *script) add(p event.Payload) (id string) { return s.addAs(s.next(), p) }

func (s *script) addAs(id string, p event.Payload) string {
	raw, err := event.Encode(p)
	if err != nil {
		panic(err)
	}
	s.raw(id, string(p.EventType()), string(raw))
	return id
}

func (s *script) raw(id, typ, payload string) {
	s.events = append(s.events, store.NewEvent{
		ID: id, Type: typ, Payload: json.RawMessage(payload), Streamed: event.Type(typ).Streamed(),
	})
}

// open begins a turn and its first step.
func (s *script) open() (run, step string) {
	run = s.add(event.TurnStart{Agent: "default"})
	return run, s.add(event.StepStart{N: 1, Model: "demo/guide"})
}

// reply logs the message of a step, a text and calls.
func (s *script) reply(step, text string, calls ...event.ToolCall) string {
	parts := []event.Part{}
	if text != "" {
		parts = append(parts, event.Part{Type: event.PartText, Text: text})
	}
	for _, c := range calls {
		parts = append(parts, event.Part{Type: event.PartToolCall, ID: c.ID, Name: c.Name, Args: c.Args})
	}
	return s.addAs(event.MessageID(step), event.AssistantMessage{Parts: parts})
}

// log is the script as a log in memory, an event a second.
func (s *script) log() []store.Event {
	out := make([]store.Event, len(s.events))
	at := time.Date(2026, 8, 18, 4, 10, 0, 123456000, time.UTC)
	for i, e := range s.events {
		out[i] = store.Event{
			Seq: int64(i), ID: e.ID, At: at.Add(time.Duration(i) * time.Second), Type: e.Type, Payload: e.Payload,
		}
	}
	return out
}

// frames folds the script from its beginning.
func (s *script) frames() []project.Frame { return fold(project.New(session), s.log()) }

// last is what the newest event of the script makes.
func (s *script) last() []string {
	p, log := project.New(session), s.log()
	fold(p, log[:len(log)-1])
	return lines(p.Next(log[len(log)-1]))
}

func fold(p *project.Projector, events []store.Event) (out []project.Frame) {
	for _, ev := range events {
		out = append(out, p.Next(ev)...)
	}
	return out
}

func lines(frames []project.Frame) (out []string) {
	for _, f := range frames {
		out = append(out, string(f.Line))
	}
	return out
}

// library is a real store on a disk.
func library(t testing.TB) *store.Store {
	t.Helper()
	st, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "log.db"), store.Options{Durability: "normal"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// fatal is what rapid and testing have in common.
type fatal interface {
	Helper()
	Fatal(args ...any)
}

// write keeps the script as a session of the store; the log is to be closed.
func (s *script) write(t fatal, st *store.Store, id string) *store.Log {
	t.Helper()
	ctx := context.Background()
	if err := st.Create(ctx, store.Session{ID: id, Owner: "ada", Agent: "default"}, s.events); err != nil {
		t.Fatal(err)
	}
	log, err := st.OpenLog(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// read returns the events of a log from seq from on, from the disk.
func read(t fatal, log *store.Log, from int64) []store.Event {
	t.Helper()
	tip, _ := log.Tip()
	whole, err := log.Structural(context.Background(), from, tip)
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := log.Streamed(context.Background(), from, tip)
	if err != nil {
		t.Fatal(err)
	}
	all := append(whole, pieces...)
	slices.SortFunc(all, func(a, b store.Event) int { return int(a.Seq - b.Seq) })
	return all
}

// behind opens a projector behind a seq of a stored log.
func behind(t fatal, log *store.Log, seq int64) *project.Projector {
	t.Helper()
	p, err := project.Behind(context.Background(), log, seq)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func args(text string) json.RawMessage { return json.RawMessage(text) }

func ptr[T any](v T) *T { return &v }

// like compares lines with a pattern: "…" in it stands for anything.
func like(t *testing.T, got []string, want ...string) {
	t.Helper()
	ok := len(got) == len(want)
	for i := 0; ok && i < len(got); i++ {
		ok = matches(got[i], want[i])
	}
	if !ok {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func matches(line, pattern string) bool {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), "…", ".*") + "$").MatchString(line)
}
