package redact

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Stream masks one text that comes in pieces. It is for one goroutine at a time.
type Stream struct {
	finders []finder
	text    []byte // not yet put out, or still needed
	base    int    // its position in the whole
	spans   []span // found, and not yet masked
	marked  int    // up to here the newest Mark stands for the text; -1 before the first
	out     []byte
}

// finder looks at the text from position base on, which ends with a whole character;
// last says that no more will come.
// It returns the spans that are new, and a position: before it, no other will begin.
type finder interface {
	find(text []byte, base int, last bool) (spans []span, safe int)
}

// Stream returns a Stream for one text; nil, which passes everything on, for a nil
// Redactor.
func (r *Redactor) Stream() *Stream {
	if r == nil {
		return nil
	}
	s := &Stream{marked: -1}
	s.finders = append(s.finders, &valueFinder{values: append([][]byte{[]byte(Mark)}, r.values...)})
	for _, p := range r.patterns {
		s.finders = append(s.finders, newPatternFinder(p.prog))
	}
	return s
}

// Write takes the next piece and returns what of the text can be shown by now, "" for
// nothing yet.
func (s *Stream) Write(piece string) string {
	if s == nil {
		return piece
	}
	s.text = append(s.text, piece...)
	return s.advance(false)
}

// Flush returns the rest. The Stream must not be used behind it.
func (s *Stream) Flush() string {
	if s == nil {
		return ""
	}
	return s.advance(true)
}

func (s *Stream) advance(last bool) string {
	text := s.text
	if !last {
		text = text[:len(text)-unfinished(text)]
	}
	safe := s.base + len(text)
	for _, f := range s.finders {
		spans, upto := f.find(text, s.base, last)
		s.spans = append(s.spans, spans...)
		safe = min(safe, upto)
	}
	slices.SortFunc(s.spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	s.out = s.out[:0]
	shown := max(s.base, s.marked)
	n := 0
	for ; n < len(s.spans) && s.spans[n].start < safe; n++ {
		secret := s.spans[n]
		if secret.start > s.marked { // else it goes on where the Mark already stands
			s.out = append(s.out, s.text[shown-s.base:secret.start-s.base]...)
			s.out = append(s.out, Mark...)
		}
		s.marked = max(s.marked, secret.end)
		shown = s.marked
	}
	s.spans = slices.Delete(s.spans, 0, n)
	if shown < safe {
		s.out = append(s.out, s.text[shown-s.base:safe-s.base]...)
	}
	s.text = append(s.text[:0], s.text[safe-s.base:]...)
	s.base = safe
	return string(s.out)
}

// unfinished is how many bytes of a character the text ends with that is not whole.
func unfinished(text []byte) int {
	for n := 1; n <= min(len(text), utf8.UTFMax-1); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return n
			}
			return 0
		}
	}
	return 0
}
