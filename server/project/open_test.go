package project_test

import (
	"context"
	"errors"
	"testing"

	"hitchpost/server/project"
	"hitchpost/server/protocol"
	"hitchpost/turn/event"
)

func TestARunIsFoundWithItsExtentHoweverLongItIs(t *testing.T) {
	st := library(t)
	s := begin()
	var runs []project.Run
	for _, length := range []int{1, 255, 256, 257, 258, 767, 768, 769, 770} { // around the ends of the windows
		first := int64(len(s.events))
		id := s.add(event.TurnStart{Agent: "default"})
		for range length - 1 {
			s.add(event.AssistantChunk{Text: "x"})
		}
		s.add(event.TurnEnd{Status: event.Completed})
		runs = append(runs, project.Run{ID: id, First: first, Last: first + int64(length), End: event.Completed})
	}
	first := int64(len(s.events))
	id, _ := s.open()
	runs = append(runs, project.Run{ID: id, First: first, Last: first + 1})
	log := s.write(t, st, session)
	defer log.Close()
	for _, want := range runs {
		if got, err := project.Find(context.Background(), log, want.ID); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestWhatIsNoRunIsNotFound(t *testing.T) {
	st := library(t)
	s := begin()
	_, step := s.open()
	log := s.write(t, st, session)
	defer log.Close()
	for _, id := range []string{"", "nonsense", "ffffffffffffffff", step} {
		if _, err := project.Find(context.Background(), log, id); !errors.Is(err, project.ErrNoRun) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// imported is a log that another program wrote: its messages have ids of their own. The
// last run was open when it was brought in, and our loop closed what was left of it.
func imported() *script {
	s := begin()
	s.open()
	s.add(event.AssistantChunk{Text: "22"})
	s.add(event.AssistantMessage{Parts: []event.Part{{Type: event.PartText, Text: "22"}}})
	call := event.ToolCall{ID: "c1", Name: "Bash", Args: args(`{}`)}
	s.add(call)
	s.add(event.ToolProgress{ID: "c1", Text: "out"})
	s.add(event.ToolResult{ID: "c1", Content: args(`"out"`)})
	s.add(event.StepEnd{N: 1})
	step := s.add(event.StepStart{N: 2})
	s.add(event.AssistantChunk{Text: "half"})
	s.addAs(event.MessageID(step), event.Interrupted{Text: "half"})
	s.add(event.StepEnd{N: 2})
	step = s.add(event.StepStart{N: 3})
	s.add(event.AssistantChunk{Text: "ours"})
	s.reply(step, "ours")
	s.add(event.TurnEnd{Status: event.Completed})
	return s
}

// guarantee 7
func TestChunksOfAnImportedMessageMakeNoDeltas(t *testing.T) {
	st := library(t)
	log := imported().write(t, st, session)
	defer log.Close()
	var deltas []string
	for _, f := range fold(behind(t, log, 0), read(t, log, 1)) {
		if f.Type == protocol.TypeRunDelta {
			deltas = append(deltas, string(f.Line))
		}
	}
	like(t, deltas,
		`{"type":"run.delta","seq":6,…"field":"tool_output","delta":"out"}}`,
		`{"type":"run.delta","seq":10,…"field":"text","delta":"half"}}`,
		`{"type":"run.delta","seq":14,…"field":"text","delta":"ours"}}`)
}

// guarantee 7
func TestReasoningThatWasImportedMakesNoDeltas(t *testing.T) {
	st := library(t)
	s := begin()
	_, step := s.open()
	s.add(event.ReasoningChunk{Text: "hm"})
	s.add(event.Reasoning{Text: "hm"})
	s.reply(step, "a")
	log := s.write(t, st, session)
	defer log.Close()
	for _, f := range fold(behind(t, log, 0), read(t, log, 1)) {
		if f.Type == protocol.TypeRunDelta {
			t.Errorf("%s", f.Line)
		}
	}
}

// guarantee 10
func TestATrailByIndexIsTheTrailOfTheFold(t *testing.T) {
	st := library(t)
	s := begin()
	_, step := s.open()
	question := s.add(event.UserMessage{Text: "q"})
	answer := s.reply(step, "a")
	s.add(event.TurnEnd{Status: event.Completed})
	s.add(event.TurnStart{})
	s.add(event.TurnEnd{Status: event.Empty}) // ends without an entry
	s.add(event.SessionBranched{To: question, Previous: answer})
	s.open()
	log := s.write(t, st, session)
	defer log.Close()
	var folded project.Trail
	for _, ev := range read(t, log, 0) {
		seq := ev.Seq
		got, err := project.TrailBefore(context.Background(), log, seq)
		if err != nil {
			t.Fatal(err)
		}
		if got != folded {
			t.Errorf("before seq %d: by index %+v, folded %+v", seq, got, folded)
		}
		folded.Next(ev)
	}
}

// guarantee 10
func TestACursorRightBeforeTheEndOfARunGetsTheEnd(t *testing.T) {
	st := library(t)
	s := begin()
	_, step := s.open()
	s.reply(step, "done")
	s.add(event.TurnEnd{Status: event.Completed})
	log := s.write(t, st, session)
	defer log.Close()
	like(t, lines(behind(t, log, 3).Next(read(t, log, 4)[0])),
		`{"type":"run.output","seq":4,"payload":{"run_id":"0000000000000001","final_output":"done"}}`)
}
