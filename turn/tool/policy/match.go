package policy

import (
	"strings"
	"unicode/utf8"
)

// Allows reports whether one of the patterns matches the name.
func Allows(patterns []string, name string) bool {
	for _, p := range patterns {
		if Match(p, name) {
			return true
		}
	}
	return false
}

// Match reports whether the pattern covers the whole name, by the rules of the
// package (Agent Socket v1, set_policy: File.fnmatch).
func Match(pattern, name string) bool {
	if strings.ContainsRune(pattern, 0) || strings.ContainsRune(name, 0) {
		return false // rule 10
	}
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(unescape(pattern), ".") {
		return false // rule 4
	}
	// The latest star: the pattern behind it, and the name behind what it took so far.
	var starred bool
	var afterStar, untaken string
	for {
		if strings.HasPrefix(pattern, "*") {
			pattern = strings.TrimLeft(pattern, "*")
			if unescape(pattern) == "" {
				return true
			}
			starred, afterStar, untaken = true, pattern, name
		}
		if name == "" {
			return unescape(pattern) == ""
		}
		if p, n, ok := step(pattern, name); ok {
			pattern, name = p, n
			continue
		}
		if !starred {
			return false
		}
		// Let the star take one character more. An earlier star has no need to move:
		// what it could take the latest one takes as well.
		_, size := decode(untaken)
		untaken = untaken[size:]
		pattern, name = afterStar, untaken
	}
}

// step matches one character of the name, which is not empty, against what the
// pattern begins with, which is not a star. It returns what remains of both.
func step(pattern, name string) (restPattern, restName string, ok bool) {
	c, size := decode(name)
	rest := name[size:]
	switch {
	case strings.HasPrefix(pattern, "?"):
		return pattern[1:], rest, true
	case strings.HasPrefix(pattern, "["):
		after, member := class(pattern[1:], c)
		return after, rest, member
	}
	pattern = unescape(pattern)
	if pattern == "" {
		return "", "", false
	}
	p, psize := decode(pattern)
	return pattern[psize:], rest, p == c && p < invalid // rule 11
}

// class looks the character up in the class that begins behind its [. It returns
// the pattern behind the class. A class that is not closed has no members.
func class(pattern string, c rune) (after string, member bool) {
	negated := strings.HasPrefix(pattern, "!") || strings.HasPrefix(pattern, "^")
	if negated {
		pattern = pattern[1:]
	}
	listed := false
	for pattern != "" {
		if pattern[0] == ']' {
			return pattern[1:], listed != negated
		}
		pattern = unescape(pattern)
		lo, size := decode(pattern)
		pattern = pattern[size:]
		hi := lo
		if len(pattern) > 1 && pattern[0] == '-' && pattern[1] != ']' {
			pattern = unescape(pattern[1:])
			hi, size = decode(pattern)
			pattern = pattern[size:]
		}
		listed = listed || c == lo || c == hi || lo < c && c < hi
	}
	return "", false // rule 7
}

// unescape drops the backslash that the pattern begins with, if it does.
func unescape(pattern string) string { return strings.TrimPrefix(pattern, `\`) }

// invalid is added to a byte that is no UTF-8, so that it differs from every rune.
const invalid = utf8.MaxRune + 1

// decode returns the first character of s and its length in bytes; 0, 0 at the end.
func decode(s string) (rune, int) {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case size == 0:
		return 0, 0
	case r == utf8.RuneError && size == 1:
		return invalid + rune(s[0]), 1
	}
	return r, size
}
