package config

import (
	"strconv"
	"strings"
)

// linesOf finds the line of every key and table in a source that has parsed as TOML.
// The parser itself tells positions only of what it could not read, and one line for
// all entries of a list of tables. Keys inside inline tables have the line of the
// key that holds them.
func linesOf(source string) map[string]int {
	s := &scanner{src: source, line: 1, found: map[string]int{}, entries: map[string]int{}}
	table := ""
	for s.blank(); s.pos < len(s.src); s.blank() {
		line := s.line
		if s.src[s.pos] == '[' {
			list := strings.HasPrefix(s.src[s.pos:], "[[")
			s.pos += 1
			if list {
				s.pos += 1
			}
			table = s.header(s.key(), list)
			s.note(table, line)
			s.rest()
			continue
		}
		full := table
		for _, part := range s.key() {
			full = joinKey(full, part)
			s.note(full, line)
		}
		s.rest()
	}
	return s.found
}

type scanner struct {
	src     string
	pos     int
	line    int
	found   map[string]int
	entries map[string]int // of each list of tables, how many were begun
}

func (s *scanner) note(key string, line int) {
	if _, ok := s.found[key]; !ok {
		s.found[key] = line
	}
}

// header turns the parts of [a.b] or [[a.b]] into a key, with the current entry of
// every list of tables on the way.
func (s *scanner) header(parts []string, list bool) string {
	key := ""
	for i, part := range parts {
		key = joinKey(key, part)
		if list && i == len(parts)-1 {
			s.entries[key]++
		}
		if n := s.entries[key]; n > 0 {
			s.note(key, s.line)
			key = indexKey(key, n-1)
		}
	}
	return key
}

// blank skips white space, line ends and comments.
func (s *scanner) blank() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case '\n':
			s.line++
		case ' ', '\t', '\r':
		case '#':
			s.comment()
			continue
		default:
			return
		}
		s.pos++
	}
}

func (s *scanner) comment() {
	for s.pos < len(s.src) && s.src[s.pos] != '\n' {
		s.pos++
	}
}

// key reads the parts of a dotted key, up to what ends it.
func (s *scanner) key() []string {
	var parts []string
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '"' || c == '\'':
			parts = append(parts, s.quoted())
		case bareKeyChar(rune(c)):
			start := s.pos
			for s.pos < len(s.src) && bareKeyChar(rune(s.src[s.pos])) {
				s.pos++
			}
			parts = append(parts, s.src[start:s.pos])
		case c == '.' || c == ' ' || c == '\t':
			s.pos++
		default: // = or ]
			return parts
		}
	}
	return parts
}

// rest skips what follows a key on its logical line: the value, with all its lines.
func (s *scanner) rest() {
	depth := 0
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case '"', '\'':
			s.quoted()
			continue
		case '#':
			s.comment()
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '\n':
			if depth <= 0 {
				return
			}
			s.line++
		}
		s.pos++
	}
}

// quoted skips a string of any of the four kinds and returns what it means where
// that matters: in a key, which has one line.
func (s *scanner) quoted() string {
	mark := s.src[s.pos : s.pos+1]
	if long := strings.Repeat(mark, 3); strings.HasPrefix(s.src[s.pos:], long) {
		mark = long
	}
	start := s.pos
	s.pos += len(mark)
	for s.pos < len(s.src) && !strings.HasPrefix(s.src[s.pos:], mark) {
		if s.src[s.pos] == '\n' {
			s.line++
		}
		if s.src[s.pos] == '\\' && mark[0] == '"' {
			s.pos++
		}
		s.pos++
	}
	for len(mark) == 3 && strings.HasPrefix(s.src[min(s.pos+1, len(s.src)):], mark) {
		s.pos++ // a quote that belongs to the text stands before the closing three
	}
	s.pos = min(s.pos+len(mark), len(s.src))
	text := s.src[start:s.pos]
	if mark == `"` {
		if plain, err := strconv.Unquote(text); err == nil {
			return plain
		}
	}
	return strings.Trim(text, mark)
}
