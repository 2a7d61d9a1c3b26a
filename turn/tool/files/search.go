package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"sort"
	"strings"
)

const (
	searchLine      = 1 << 20 // bytes of a line that are searched
	searchMultiline = 8 << 20 // bytes of a file that is searched with multiline
	searchSpans     = 1 << 18 // matches of such a file that are looked at
)

// search looks for one expression in one file after the other.
type search struct {
	sink
	ctx       context.Context
	w         *Workspace
	re        *regexp.Regexp
	globs     []pattern // all of them must match
	multiline bool
	unread    int // files and directories
	large     int // files too large for multiline
}

func (s *search) wants(name string) bool {
	for _, g := range s.globs {
		if !g.matchFile(name) {
			return false
		}
	}
	return true
}

// visit searches a file met on the way: one that is binary or cannot be read does not
// end the search.
func (s *search) visit(p place) error {
	f, _, err := s.w.open(p)
	if errors.Is(err, errHidden) {
		return nil
	}
	if err != nil {
		s.unread++
		return nil
	}
	defer f.Close()
	err = s.file(s.w.show(p), f)
	switch {
	case err == nil, errors.Is(err, errBinary):
		return nil
	case err == errFull, s.ctx.Err() != nil:
		return err
	}
	s.unread++
	return nil
}

// file searches one open file. errBinary: it is no text, errFull: no more output fits.
func (s *search) file(name string, f *os.File) error {
	l := newLines(s.ctx, f, searchLine)
	if bytes.IndexByte(l.head(), 0) >= 0 {
		return errBinary
	}
	s.begin(name)
	var err error
	if s.multiline {
		err = s.whole(l)
	} else {
		err = s.byLine(l)
	}
	if err == nil || errors.Is(err, errBinary) { // text up to a NUL has been searched
		err = s.end()
	}
	return err
}

func (s *search) byLine(l *lines) error {
	for n := 1; ; n++ {
		line, _, err := l.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		at := -1
		if loc := s.re.FindIndex(line); loc != nil {
			at = loc[0]
		}
		if err := s.line(n, line, at); err != nil {
			if err == errDecided {
				return nil
			}
			return err
		}
	}
}

// whole searches a file in one piece, so that a match may span lines.
func (s *search) whole(l *lines) error {
	data, err := io.ReadAll(io.LimitReader(l.r, searchMultiline+1))
	if err != nil {
		return err
	}
	if len(data) > searchMultiline {
		s.large++
		return nil
	}
	spans := s.re.FindAllIndex(data, searchSpans)
	s.full = s.full || len(spans) == searchSpans
	for n, start := 1, 0; start < len(data); n++ {
		end := len(data)
		if i := bytes.IndexByte(data[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		if s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		line := bytes.TrimSuffix(bytes.TrimSuffix(data[start:end], []byte("\n")), []byte("\r"))
		if err := s.line(n, line, within(spans, start, end)); err != nil {
			if err == errDecided {
				return nil
			}
			return err
		}
		start = end
	}
	return nil
}

// within tells where in the line from start to end the first match is, or goes on; -1
// if none does. The matches are in order and do not overlap.
func within(spans [][]int, start, end int) int {
	i := sort.Search(len(spans), func(i int) bool { return spans[i][1] > start || spans[i][0] >= start })
	if i == len(spans) || spans[i][0] >= end {
		return -1
	}
	return max(0, spans[i][0]-start)
}

func (s *search) text() string {
	var b strings.Builder
	b.WriteString(s.out.String())
	if s.files == 0 {
		b.WriteString("No match.\n")
	}
	if s.full {
		b.WriteString("[there may be more than is shown: narrow the search, or raise head_limit]\n")
	}
	if s.large > 0 {
		fmt.Fprintf(&b, "[%s over %d MiB not searched, which multiline cannot hold]\n", plural(s.large, "file"), searchMultiline>>20)
	}
	if s.unread > 0 {
		fmt.Fprintf(&b, "[%s could not be read]\n", plural(s.unread, "path"))
	}
	return b.String()
}
