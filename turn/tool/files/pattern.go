package files

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxAlternatives bounds what the braces of one pattern may stand for together.
const maxAlternatives = 100

// pattern is a glob over slash-separated paths: * and ? stay within a name, ** stands
// for any number of directories, {a,b} for either.
type pattern struct {
	plain []string // the same without braces
}

// parsePattern expands the braces before anything is matched. The library would try
// them anew at each place where a star may end, which has no bound worth the name.
func parsePattern(s string) (pattern, error) {
	if !doublestar.ValidatePattern(s) {
		return pattern{}, fmt.Errorf("%q is no valid glob pattern: a [ or { is not closed, or a \\ ends it", s)
	}
	var p pattern
	todo := []string{s}
	for len(todo) > 0 {
		if len(todo)+len(p.plain) > maxAlternatives {
			return pattern{}, fmt.Errorf("%q stands for more than %d patterns: use fewer braces", s, maxAlternatives)
		}
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if forms := expand(next); forms == nil {
			p.plain = append(p.plain, next)
		} else {
			todo = append(todo, forms...)
		}
	}
	return p, nil
}

// expand returns the forms that the first braces of s stand for; nil without braces.
func expand(s string) (forms []string) {
	open, from, depth := -1, 0, 0
	var parts []string
	class := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			if depth == 0 {
				open, from = i, i+1
			}
			depth++
		case c == ',' && depth == 1:
			parts, from = append(parts, s[from:i]), i+1
		case c == '}' && depth == 1:
			for _, part := range append(parts, s[from:i]) {
				forms = append(forms, s[:open]+part+s[i+1:])
			}
			return forms
		case c == '}' && depth > 1:
			depth--
		}
	}
	return nil
}

func (p pattern) match(name string) bool {
	for _, plain := range p.plain {
		if doublestar.MatchUnvalidated(plain, name) {
			return true
		}
	}
	return false
}

// matchFile matches as ignore files do: a pattern without a slash is about the last
// name of the path, however deep it lies.
func (p pattern) matchFile(name string) bool {
	for _, plain := range p.plain {
		subject := name
		if !strings.Contains(plain, "/") {
			subject = path.Base(name)
		}
		if doublestar.MatchUnvalidated(plain, subject) {
			return true
		}
	}
	return false
}

// deepest is how many directories below the first a match can lie; -1 for no bound.
func (p pattern) deepest() int {
	most := 0
	for _, plain := range p.plain {
		if strings.Contains(plain, "**") {
			return -1
		}
		most = max(most, strings.Count(plain, "/"))
	}
	return most
}
