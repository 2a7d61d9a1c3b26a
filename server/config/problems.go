package config

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing wrong with a file.
type Problem struct {
	Line int    // from 1; 0 when it is about no line
	Key  string // as one would write it, e.g. timeouts.stall or tokens[1].agents; "" for the whole file
	Text string // what is wrong and what to do
}

// Error is every problem of a file, in the order of its lines.
type Error struct {
	File     string
	Problems []Problem
}

// Error gives one line a problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = e.File
		if p.Line > 0 {
			lines[i] += fmt.Sprintf(":%d", p.Line)
		}
		if p.Key != "" {
			lines[i] += ": " + p.Key
		}
		lines[i] += ": " + p.Text
	}
	return strings.Join(lines, "\n")
}

// report collects problems while a file is read.
type report struct {
	lines       map[string]int // of each key
	problems    []Problem
	secretFiles []string // that secrets were read from
}

func (r *report) add(key, format string, args ...any) {
	r.problems = append(r.problems, Problem{Line: r.line(key), Key: key, Text: fmt.Sprintf(format, args...)})
}

// line finds the line of a key, or of the nearest table or list around it that the
// file names.
func (r *report) line(key string) int {
	for key != "" {
		if n, ok := r.lines[key]; ok {
			return n
		}
		key = parentKey(key)
	}
	return 0
}

// has tells whether a problem of this very key was found already, so that a value
// which could not be read is not judged as well.
func (r *report) has(key string) bool {
	return slices.ContainsFunc(r.problems, func(p Problem) bool {
		return p.Key == key || strings.HasPrefix(p.Key, key+"[")
	})
}

func (r *report) err(file string) error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Line - b.Line })
	return &Error{File: file, Problems: r.problems}
}

// joinKey writes a member of a table as TOML would: quoted where it must be.
func joinKey(table, member string) string {
	for _, c := range member {
		if !bareKeyChar(c) {
			member = fmt.Sprintf("%q", member)
			break
		}
	}
	if member == "" {
		member = `""`
	}
	if table == "" {
		return member
	}
	return table + "." + member
}

func bareKeyChar(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func indexKey(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// parentKey takes the last step off a key.
func parentKey(key string) string {
	quoted := false
	for i := len(key) - 1; i >= 0; i-- {
		switch c := key[i]; {
		case c == '"' && (i == 0 || key[i-1] != '\\'):
			quoted = !quoted
		case (c == '.' || c == '[') && !quoted:
			return key[:i]
		}
	}
	return ""
}
