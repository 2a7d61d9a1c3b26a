package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"hitchpost/server/client"
	"hitchpost/turn/event"
)

const (
	rendererDiff = "diff" // the display of a call that changed a file
	diffLines    = 30     // of a diff that are shown
)

// noteChars bounds a line about a tool, in characters.
const noteChars = 120

// screen shows a turn: the answer as it streams, and what the agent does in short lines.
type screen struct {
	text     io.Writer // answers
	notes    io.Writer // everything else
	same     bool      // both go to one place: a note must begin on a line of its own
	plain    bool      // text goes to a terminal: it must not control it
	midLine  bool      // the answer's line is not ended
	streamed bool      // the step under way has shown its answer
	names    map[string]string
}

func (p *Program) screen(notes io.Writer) *screen {
	onTerminal := isTerminal(p.Stdout)
	return &screen{
		text: p.Stdout, notes: notes,
		same:  onTerminal || notes == p.Stdout,
		plain: onTerminal,
		names: map[string]string{},
	}
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// say prints a piece of an answer.
func (s *screen) say(text string) {
	if text == "" {
		return
	}
	if s.plain {
		text = harmless(text)
	}
	io.WriteString(s.text, text)
	s.midLine = !strings.HasSuffix(text, "\n")
}

// endLine ends the line of an answer.
func (s *screen) endLine() {
	if s.midLine {
		io.WriteString(s.text, "\n")
		s.midLine = false
	}
}

// note prints one line beside the answer.
func (s *screen) note(format string, args ...any) {
	s.line(short(fmt.Sprintf(format, args...)))
}

// question shows a call that a person is asked about, whole: who decides must have
// seen what will run.
func (s *screen) question(name string, args json.RawMessage) {
	s.line(harmless(fmt.Sprintf("? %s %s", name, args))) // JSON of the log holds no newline
}

func (s *screen) line(text string) {
	if s.same {
		s.endLine()
	}
	fmt.Fprintln(s.notes, text)
}

// event shows one event, if there is anything about it to see.
func (s *screen) event(e client.Event) {
	switch e.Type {
	case event.StepStartType:
		s.streamed = false
	case event.AssistantChunkType:
		s.streamed = true
		s.say(payload[event.AssistantChunk](e).Text)
	case event.AssistantMessageType:
		s.answer(payload[event.AssistantMessage](e))
	case event.ToolCallType:
		call := payload[event.ToolCall](e)
		s.names[call.ID] = call.Name
		s.note("→ %s %s", call.Name, call.Args)
	case event.ToolResultType:
		s.result(payload[event.ToolResult](e))
	case event.ApprovalResolvedType:
		v := payload[event.ApprovalResolved](e)
		s.note("%s %s", s.name(v.CallID), v.Verdict)
	case event.DiagnosticType:
		d := payload[event.Diagnostic](e)
		s.note("(%s: %s)", d.Type, d.Message)
	case event.InterruptedType:
		s.note("(cut off)")
	case event.TurnEndType:
		s.endLine()
		clear(s.names)
	}
}

// answer ends a reply; one that was not streamed is shown now.
func (s *screen) answer(m event.AssistantMessage) {
	for _, part := range m.Parts {
		if part.Type == event.PartText && !s.streamed {
			s.say(part.Text)
		}
	}
	s.endLine()
	if m.Cut() {
		s.note("(cut off)")
	}
}

func (s *screen) result(r event.ToolResult) {
	if r.Error != nil {
		s.note("✗ %s: %s", s.name(r.ID), *r.Error)
		return
	}
	var text string
	if json.Unmarshal(r.Content, &text) != nil {
		text = string(r.Content)
	}
	text = strings.TrimRight(text, "\n")
	first, rest, more := strings.Cut(text, "\n")
	if more {
		first += " … (" + moreLines(strings.Count(rest, "\n")+1) + ")"
	}
	s.note("← %s: %s", s.name(r.ID), first)
	s.diff(r.Display)
}

// diff shows what a call changed, if its display says so.
func (s *screen) diff(display json.RawMessage) {
	var d struct{ Renderer, Text string }
	if json.Unmarshal(display, &d) != nil || d.Renderer != rendererDiff {
		return
	}
	lines := strings.Split(strings.TrimRight(d.Text, "\n"), "\n")
	for _, line := range lines[:min(len(lines), diffLines)] {
		fmt.Fprintln(s.notes, "  "+harmless(line))
	}
	if more := len(lines) - diffLines; more > 0 {
		fmt.Fprintf(s.notes, "  … (%s)\n", moreLines(more))
	}
}

func moreLines(n int) string {
	if n == 1 {
		return "1 line more"
	}
	return fmt.Sprintf("%d lines more", n)
}

func (s *screen) name(callID string) string {
	if name := s.names[callID]; name != "" {
		return name
	}
	return callID
}

// payload reads what is known of an event; members it cannot read stay zero.
func payload[T any](e client.Event) T {
	var p T
	json.Unmarshal(e.Payload, &p)
	return p
}

// harmless takes out what would control a terminal, or show a text in another order
// than it has.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError {
			return '\uFFFD'
		}
		return r
	}, text)
}

// short makes one line of a text that may be anything.
func short(text string) string {
	text = harmless(strings.Join(strings.Fields(text), " "))
	if utf8.RuneCountInString(text) <= noteChars {
		return text
	}
	return string([]rune(text)[:noteChars-1]) + "…"
}
