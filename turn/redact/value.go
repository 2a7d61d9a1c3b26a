package redact

import "bytes"

// span is a secret's place in a stream: positions in bytes from its start.
type span struct{ start, end int }

// valueFinder finds every occurrence of the values, overlapping ones too.
type valueFinder struct {
	values [][]byte
	seen   int // up to here every occurrence has been reported
}

// find looks at the text from position base on. It returns the spans that are new,
// and up to where everything is decided.
func (f *valueFinder) find(text []byte, base int, last bool) (spans []span, safe int) {
	end := base + len(text)
	safe = end
	for _, value := range f.values {
		from := max(f.seen-len(value)+1, base)
		for {
			at := bytes.Index(text[from-base:], value)
			if at < 0 {
				break
			}
			spans = append(spans, span{from + at, from + at + len(value)})
			from += at + 1
		}
		tail := text[max(0, len(text)-len(value)):]
		if last {
			if n := begun(tail, value); n > 0 {
				spans = append(spans, span{end - n, end})
			}
			continue
		}
		safe = min(safe, end-overlap(tail, value))
	}
	f.seen = end
	return spans, safe
}

// overlap is the length of the longest end of text that value begins with, and is
// longer than.
func overlap(text, value []byte) int {
	for n := min(len(text), len(value)-1); n > 0; n-- {
		if text[len(text)-n] == value[0] && bytes.HasPrefix(value, text[len(text)-n:]) {
			return n
		}
	}
	return 0
}

// begun is that length where it is so much of the value that it must not be shown
// (guarantee 5), else 0.
func begun(text, value []byte) int {
	if n := overlap(text, value); n >= max(MinValue, (len(value)+1)/2) && string(value) != Mark {
		return n
	}
	return 0
}
