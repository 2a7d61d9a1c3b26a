package project_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hitchpost/server/project"
	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn/event"
)

// overRandomLogs keeps each random log in a real store and hands it to check.
func overRandomLogs(t *testing.T, make func(*rapid.T) *script, check func(*rapid.T, *store.Log, []store.Event)) {
	st := library(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		log := make(t).write(t, st, fmt.Sprintf("s%d", n))
		defer log.Close()
		check(t, log, read(t, log, 0))
	})
}

func sameLines(t *rapid.T, what string, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("%s\ngot\n\t%s\nwant\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// groups folds a log from its beginning: the frames of each event.
func groups(t *rapid.T, log *store.Log, events []store.Event) (out [][]project.Frame) {
	p := behind(t, log, -1)
	// What the log knows of steps written elsewhere is looked up run by run.
	for _, ev := range events {
		if event.Type(ev.Type) == event.TurnStartType {
			p = behind(t, log, ev.Seq-1)
		}
		out = append(out, p.Next(ev))
	}
	return out
}

// guarantees 2 and 10: what a cursor at any place gets is the rest of what was live, to
// the byte, whether the process that served it began at the log's beginning or there.
func TestFramesBehindAnyCursorAreTheRestOfTheLiveOnes(t *testing.T) {
	overRandomLogs(t, anyLog, func(t *rapid.T, log *store.Log, events []store.Event) {
		live := groups(t, log, events)
		cursor := rapid.IntRange(-1, len(events)-1).Draw(t, "cursor")
		end := cursor + 1 // of the run that the cursor stands in; later runs are opened anew
		for end < len(events) && (event.Type(events[end].Type) != event.TurnStartType || end == cursor+1) {
			end++
		}
		if shortest(events) <= cursor { // all that comes is ours, as it is for whoever follows
			end = len(events)
		}
		p := behind(t, log, int64(cursor))
		for i := cursor + 1; i < end; i++ {
			sameLines(t, fmt.Sprintf("event %d from cursor %d", i, cursor), lines(p.Next(events[i])), lines(live[i]))
		}
	})
}

// guarantee 2: a shorter life of the same log had the same frames.
func TestFramesOfAPrefixAreAPrefixOfTheFrames(t *testing.T) {
	st := library(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		s := lived(t)
		k := rapid.IntRange(shortest(s.log()), len(s.events)-1).Draw(t, "prefix")
		short := (&script{events: s.events[:k+1]}).write(t, st, fmt.Sprintf("short%d", n))
		defer short.Close()
		long := s.write(t, st, fmt.Sprintf("long%d", n))
		defer long.Close()
		full := groups(t, long, read(t, long, 0))
		for i, frames := range groups(t, short, read(t, short, 0)) {
			sameLines(t, fmt.Sprintf("event %d", i), anonymous(lines(frames)), anonymous(lines(full[i])))
		}
	})
}

// shortest is the newest event of what was brought in whole, by a fork or an import:
// nobody saw a shorter log.
func shortest(events []store.Event) (newest int) {
	step, imported := "", false
	for i, ev := range events {
		switch event.Type(ev.Type) {
		case event.StepStartType:
			step = ev.ID
		case event.AssistantMessageType, event.ReasoningType, event.InterruptedType:
			imported = imported || ev.ID != event.MessageID(step) && ev.ID != event.ReasoningID(step)
		case event.SessionForkedType, event.TurnEndType:
			if imported || event.Type(ev.Type) == event.SessionForkedType {
				newest, imported = i, false
			}
		}
	}
	if imported {
		return len(events) - 1
	}
	return newest
}

// anonymous leaves out what two sessions of the same script differ in.
func anonymous(lines []string) (out []string) {
	for _, l := range lines {
		if head, rest, ok := strings.Cut(l, `"session_id":"`); ok {
			_, rest, _ = strings.Cut(rest, `"`)
			l = head + rest
		}
		if strings.Contains(l, `"created_at":"`) {
			l = cut(l)
		}
		out = append(out, l)
	}
	return out
}

// guarantees 3 and 4
func TestEachSeqIsSentOnceAndOnlyByTheLastFrameOfItsGroup(t *testing.T) {
	overRandomLogs(t, anyLog, func(t *rapid.T, log *store.Log, events []store.Event) {
		for i, frames := range groups(t, log, events) {
			for j, f := range frames {
				want := int64(0)
				if f.Run != "" && j == len(frames)-1 {
					want = events[i].Seq
				}
				var head struct {
					Type    protocol.ServerType
					Seq     int64
					Payload struct {
						RunID string `json:"run_id"`
					}
				}
				if err := json.Unmarshal(f.Line, &head); err != nil {
					t.Fatal(err)
				}
				if f.Seq != want || head.Seq != want || head.Type != f.Type || head.Payload.RunID != f.Run {
					t.Fatalf("event %d, frame %d of %d: want seq %d, got %+v of %s", i, j+1, len(frames), want, f.Seq, f.Line)
				}
			}
		}
	})
}

// guarantee 4
func TestARunStartsFirstAndEndsOnceAndNothingFollows(t *testing.T) {
	overRandomLogs(t, anyLog, func(t *rapid.T, log *store.Log, events []store.Event) {
		started, ended := map[string]bool{}, map[string]bool{}
		for i, frames := range groups(t, log, events) {
			for _, f := range frames {
				switch {
				case f.Run == "":
				case ended[f.Run]:
					t.Fatalf("event %d: %s behind the end of its run", i, f.Line)
				case !started[f.Run] && f.Type != protocol.TypeRunStarted:
					t.Fatalf("event %d: %s before its run.started", i, f.Line)
				}
				started[f.Run] = true
				ended[f.Run] = ended[f.Run] || f.Terminal()
			}
			if run := openRun(events[:i+1]); run != "" && ended[run] {
				t.Fatalf("event %d: run %s is open and has ended", i, run)
			}
			if event.Type(events[i].Type) == event.TurnEndType {
				if run := openRun(events[:i]); run != "" && started[run] && !ended[run] {
					t.Fatalf("event %d: run %s has no terminal frame", i, run)
				}
			}
		}
	})
}

func openRun(events []store.Event) (run string) {
	for _, ev := range events {
		switch event.Type(ev.Type) {
		case event.TurnStartType:
			run = ev.ID
		case event.TurnEndType:
			run = ""
		}
	}
	return run
}

// guarantees 1, 5 and 6
func TestEntriesAreEqualWhicheverPathMadeThem(t *testing.T) {
	overRandomLogs(t, anyLog, func(t *rapid.T, log *store.Log, events []store.Event) {
		byPage := history(t, log)
		var byIndex []string
		for _, ev := range events {
			if !project.MakesEntry(ev) {
				continue
			}
			trail, err := project.TrailBefore(context.Background(), log, ev.Seq)
			if err != nil {
				t.Fatal(err)
			}
			at, _ := trail.Next(ev)
			line, _ := project.Entry(ev, at, protocol.View{OnPath: true})
			byIndex = append(byIndex, string(line))
		}
		sameLines(t, "entries by page and by index", byIndex, byPage)

		framed := map[string]string{}
		for _, frames := range groups(t, log, events) {
			for _, f := range frames {
				if f.Type == protocol.TypeRunEntry {
					_, entry, _ := strings.Cut(string(f.Line), `"entry":`)
					id, _ := identity(t, f.Line)
					framed[id] = strings.TrimSuffix(entry, "}}")
				}
			}
		}
		copied := forkedAt(events)
		for i, ev := range entriesOf(events) {
			if line, ok := framed[ev.ID]; ok != (ev.Seq >= copied) || ok && line != byPage[i] {
				t.Fatalf("in a frame %s\non a page %s", line, byPage[i])
			}
		}
	})
}

func entriesOf(events []store.Event) (out []store.Event) {
	for _, ev := range events {
		if project.MakesEntry(ev) {
			out = append(out, ev)
		}
	}
	return out
}

func forkedAt(events []store.Event) (seq int64) {
	for _, ev := range events {
		if event.Type(ev.Type) == event.SessionForkedType {
			seq = ev.Seq
		}
	}
	return seq
}

// guarantee 7: what streamed for an entry is the text of the entry, and no delta names an
// entry that a finished step does not have.
func TestDeltasAddUpToTheirEntry(t *testing.T) {
	overRandomLogs(t, lived, func(t *rapid.T, log *store.Log, events []store.Event) {
		streamed := map[string]string{}
		for _, frames := range groups(t, log, events) {
			for _, f := range frames {
				if f.Type == protocol.TypeRunDelta {
					var d struct{ Payload protocol.RunDelta }
					if err := json.Unmarshal(f.Line, &d); err != nil {
						t.Fatal(err)
					}
					if d.Payload.Field != protocol.FieldToolOutput {
						streamed[d.Payload.EntryID] += d.Payload.Delta
					}
				}
			}
		}
		open := openRun(events)
		for id, text := range streamed {
			ev, found, err := log.ByID(context.Background(), id)
			if err != nil {
				t.Fatal(err)
			}
			var said struct {
				Text  string
				Parts []struct{ Text string }
			}
			switch {
			case !found && open == "":
				t.Fatalf("deltas for %s, which no event is", id)
			case !found:
				continue
			}
			if err := json.Unmarshal(ev.Payload, &said); err != nil {
				t.Fatal(err)
			}
			if len(said.Parts) > 0 {
				said.Text = said.Parts[0].Text
			}
			if said.Text != text {
				t.Fatalf("streamed %q, entry %q", text, said.Text)
			}
		}
	})
}

// The pending list that was sent last is what stands by the definition of standing: asked
// for in the open turn, with neither verdict nor result.
func TestThePendingListSentLastIsWhatStands(t *testing.T) {
	overRandomLogs(t, lived, func(t *rapid.T, log *store.Log, events []store.Event) {
		var told []string
		silent := false // a cancel decided: the end follows, nothing is told
		for i, frames := range groups(t, log, events) {
			for _, f := range frames {
				switch f.Type {
				case protocol.TypeRunInterrupted:
					var p struct{ Payload protocol.RunInterrupted }
					if err := json.Unmarshal(f.Line, &p); err != nil {
						t.Fatal(err)
					}
					told = nil
					for _, c := range p.Payload.Pending {
						told = append(told, c.ToolCallID)
					}
				case protocol.TypeRunStarted:
					told = nil
				}
				if f.Terminal() {
					told, silent = nil, false
				}
			}
			if strings.Contains(string(events[i].Payload), `"cause":"cancelled"`) {
				silent = true
			}
			if events[i].Seq >= forkedAt(events) && !silent {
				sameLines(t, fmt.Sprintf("standing after event %d", i), told, standing(events[:i+1], forkedAt(events)))
			}
		}
	})
}

func standing(events []store.Event, copied int64) (calls []string) {
	for _, ev := range events {
		var p struct {
			CallID string `json:"call_id"`
			ID     string `json:"id"`
		}
		_ = json.Unmarshal(ev.Payload, &p)
		drop := func(id string) {
			for i, c := range calls {
				if c == id {
					calls = append(calls[:i:i], calls[i+1:]...)
					return
				}
			}
		}
		switch event.Type(ev.Type) {
		case event.TurnStartType, event.TurnEndType, event.SessionForkedType:
			calls = nil
		case event.ApprovalRequestedType:
			if ev.Seq >= copied {
				calls = append(calls, p.CallID)
			}
		case event.ApprovalResolvedType:
			drop(p.CallID)
		case event.ToolResultType:
			drop(p.ID)
		}
	}
	return calls
}
