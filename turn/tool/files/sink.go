package files

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	sinkLine = 500 // characters of a line that are shown
	sinkLead = 100 // bytes shown before a match further on in a longer line
)

var (
	errFull    = errors.New("the output is full")
	errDecided = errors.New("the rest of the file adds nothing")
)

// sink turns lines, matched or not, into the output of one search. It holds no more
// than the lines that may still turn out to be context.
type sink struct {
	mode          string
	number        bool
	before, after int
	limit         int // lines of output; 0 = as many as fit

	out     strings.Builder
	written int  // lines of output
	files   int  // with a match
	full    bool // something was left out

	name    string // the file at hand
	matched int    // lines of it that matched
	recent  []kept // lines not shown, at most `before`
	owed    int    // lines still to show after a match
	last    int    // the last line shown, 0 for none
}

type kept struct {
	n    int
	text string
}

func (s *sink) begin(name string) {
	s.name, s.matched, s.recent, s.owed, s.last = name, 0, nil, 0, 0
}

// line takes the next line; at is where it matches, -1 for not at all.
func (s *sink) line(n int, text []byte, at int) error {
	if at < 0 {
		return s.context(n, text)
	}
	s.matched++
	if s.matched == 1 {
		s.files++
	}
	switch s.mode {
	case modeFiles:
		if err := s.write(s.name); err != nil {
			return err
		}
		return errDecided
	case modeCount:
		return nil
	}
	if err := s.gap(n - len(s.recent)); err != nil {
		return err
	}
	for _, k := range s.recent {
		if err := s.show(k.n, '-', k.text); err != nil {
			return err
		}
	}
	s.recent, s.owed = nil, s.after
	return s.show(n, ':', excerpt(text, at))
}

func (s *sink) context(n int, text []byte) error {
	switch {
	case s.mode != modeContent:
		return nil
	case s.owed > 0:
		s.owed--
		return s.show(n, '-', excerpt(text, 0))
	case s.before == 0:
		return nil
	}
	if len(s.recent) == s.before {
		s.recent = s.recent[1:] // append below moves them to a fresh array now and then
	}
	s.recent = append(s.recent, kept{n, excerpt(text, 0)})
	return nil
}

// gap marks that lines are left out before line n, where context is shown at all.
func (s *sink) gap(n int) error {
	first := s.written == 0
	if s.before+s.after == 0 || first || s.last > 0 && n == s.last+1 {
		return nil
	}
	return s.write("--")
}

func (s *sink) show(n int, mark byte, text string) error {
	s.last = n
	if s.number {
		return s.write(fmt.Sprintf("%s%c%d%c%s", s.name, mark, n, mark, text))
	}
	return s.write(fmt.Sprintf("%s%c%s", s.name, mark, text))
}

func (s *sink) end() error {
	if s.mode != modeCount || s.matched == 0 {
		return nil
	}
	return s.write(fmt.Sprintf("%s:%d", s.name, s.matched))
}

func (s *sink) write(line string) error {
	if s.limit > 0 && s.written >= s.limit || s.out.Len()+len(line) > maxOutput {
		s.full = true
		return errFull
	}
	s.written++
	s.out.WriteString(line + "\n")
	return nil
}

func (s *sink) summary() string {
	if s.full {
		return "more than " + plural(s.written, "line")
	}
	return plural(s.files, "file")
}

// excerpt is the line as shown: from its beginning, or from a little before the match
// if that would be cut off.
func excerpt(line []byte, at int) string {
	lead := ""
	if at > sinkLine-sinkLead {
		from := at - sinkLead
		for from < len(line) && !utf8.RuneStart(line[from]) {
			from++
		}
		line, lead = line[from:], "…"
	}
	text, cut := clip(line[:min(len(line), 4*sinkLine)], sinkLine)
	if cut || len(line) > 4*sinkLine {
		text += "… [line cut]"
	}
	return lead + text
}
