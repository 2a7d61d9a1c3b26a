package redact

import (
	"bytes"
	"regexp/syntax"
	"unicode/utf8"
)

// patternFinder finds what a pattern matches in a text that comes in pieces, which
// package regexp cannot. It follows all ways of a match at once, in order of
// priority, as Pike's machine does, and so knows at each moment where the earliest
// one that is still open began.
type patternFinder struct {
	prog   *syntax.Prog
	prefix []byte   // every match begins with it
	next   int      // position of the character that comes
	prev   rune     // the one before it, -1 at the start
	open   []thread // by priority, and so by start; not yet followed up to next
	found  bool
	best   span // the match so far, while a better one is open

	list []thread // those at next that want a character
	seen []int    // by instruction: the step that followed it last
	step int
}

type thread struct {
	pc    uint32
	start int
}

func newPatternFinder(prog *syntax.Prog) *patternFinder {
	prefix, _ := prog.Prefix()
	return &patternFinder{prog: prog, prefix: []byte(prefix), prev: -1, seen: make([]int, len(prog.Inst))}
}

// find is like valueFinder's.
func (f *patternFinder) find(text []byte, base int, last bool) (spans []span, safe int) {
	end := base + len(text)
	for {
		f.skip(text, base, last)
		if f.next == end && !last {
			break
		}
		r, size := rune(-1), 0 // behind the last character
		if f.next < end {
			r, size = utf8.DecodeRune(text[f.next-base:])
		}
		f.follow(r)
		f.consume(r, size)
		f.forget(text, base)
		switch {
		case f.found && (len(f.open) == 0 || f.best.start < f.next-MaxMatch):
			if f.best.start < f.best.end {
				spans = append(spans, f.best)
			} else if f.best.start == end {
				return spans, end
			}
			f.again(text, base)
		case size == 0:
			return spans, end
		}
	}
	safe = f.next
	if len(f.open) > 0 {
		safe = f.open[0].start
	}
	if f.found {
		safe = min(safe, f.best.start)
	}
	return spans, safe
}

// skip goes to where a match may begin.
func (f *patternFinder) skip(text []byte, base int, last bool) {
	if f.found || len(f.open) > 0 || len(f.prefix) == 0 {
		return
	}
	rest := text[f.next-base:]
	at := bytes.Index(rest, f.prefix)
	switch {
	case at < 0 && last:
		at = len(rest)
	case at < 0:
		at = len(rest) - overlap(rest, f.prefix)
	}
	if at > 0 {
		f.next += at
		f.prev, _ = utf8.DecodeLastRune(rest[:at])
	}
}

// follow takes the open threads, and a new one unless there is a match to better,
// to what they want at next; r is the character there, -1 at the end.
func (f *patternFinder) follow(r rune) {
	f.step++
	f.list = f.list[:0]
	flags := syntax.EmptyOpContext(f.prev, r)
	for _, t := range f.open {
		if f.add(t.pc, t.start, flags) {
			return
		}
	}
	if !f.found {
		f.add(uint32(f.prog.Start), f.next, flags)
	}
}

// add returns true when the thread matches: all that have less priority are void then.
func (f *patternFinder) add(pc uint32, start int, flags syntax.EmptyOp) (matched bool) {
	if f.seen[pc] == f.step {
		return false
	}
	f.seen[pc] = f.step
	inst := &f.prog.Inst[pc]
	switch inst.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return f.add(inst.Out, start, flags) || f.add(inst.Arg, start, flags)
	case syntax.InstEmptyWidth:
		return syntax.EmptyOp(inst.Arg)&^flags == 0 && f.add(inst.Out, start, flags)
	case syntax.InstCapture, syntax.InstNop:
		return f.add(inst.Out, start, flags)
	case syntax.InstMatch:
		f.best, f.found = span{start, f.next}, true
		return true
	case syntax.InstFail:
		return false
	}
	f.list = append(f.list, thread{pc, start})
	return false
}

func (f *patternFinder) consume(r rune, size int) {
	f.open = f.open[:0]
	for _, t := range f.list {
		if inst := &f.prog.Inst[t.pc]; size > 0 && inst.MatchRune(r) {
			f.open = append(f.open, thread{inst.Out, t.start})
		}
	}
	f.next += size
	f.prev = r
}

// forget lets a match that grows too long begin later (guarantee 2), so that what
// it holds back stays bounded.
func (f *patternFinder) forget(text []byte, base int) {
	floor := f.next - MaxMatch
	if len(f.open) == 0 || f.open[0].start >= floor {
		return
	}
	for !utf8.RuneStart(text[floor-base]) {
		floor++
	}
	for i := range f.open {
		f.open[i].start = max(f.open[i].start, floor)
	}
}

// again looks for the next match behind the one found. Behind an empty one that is
// a character on.
func (f *patternFinder) again(text []byte, base int) {
	f.open, f.found = f.open[:0], false
	f.next = f.best.end
	if f.best.start == f.best.end {
		_, size := utf8.DecodeRune(text[f.next-base:])
		f.next += size
	}
	f.prev = -1
	if before := text[:f.next-base]; len(before) > 0 {
		f.prev, _ = utf8.DecodeLastRune(before)
	}
}
