package tool

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

func (c *checker) checkType(s map[string]any, value any, path string) bool {
	var types []string
	switch t := s["type"].(type) {
	case string:
		types = []string{t}
	case []any:
		for _, e := range t {
			if name, ok := e.(string); ok {
				types = append(types, name)
			}
		}
	}
	if len(types) == 0 {
		return true
	}
	kind := kindOf(value)
	var wanted []string
	for _, t := range types {
		switch {
		case t == kind, t == "integer" && isInteger(value), !known(t):
			return true
		}
		wanted = append(wanted, withArticle(t))
	}
	if n, ok := value.(json.Number); ok {
		c.report(path, "must be %s, not %s", strings.Join(wanted, " or "), shorten(n.String()))
	} else {
		c.report(path, "must be %s, not %s", strings.Join(wanted, " or "), withArticle(kind))
	}
	return false
}

func (c *checker) checkEnum(s map[string]any, value any, path string) bool {
	allowed := list(s["enum"])
	if only, ok := s["const"]; ok {
		allowed = []any{only}
	}
	if len(allowed) == 0 {
		return true
	}
	var shown []string
	for _, a := range allowed {
		if equal(a, value) {
			return true
		}
		shown = append(shown, show(a))
	}
	if len(shown) > 20 {
		shown = append(shown[:20], "…")
	}
	c.report(path, "must be one of %s, not %s", strings.Join(shown, ", "), show(value))
	return false
}

func (c *checker) checkNumber(s map[string]any, v json.Number, path string) {
	n := float(v)
	breaks := func(word string, broken func(n, bound float64) bool) (json.Number, bool) {
		bound, ok := s[word].(json.Number) // in older drafts the exclusive ones are booleans
		return bound, ok && broken(n, float(bound))
	}
	if bound, bad := breaks("minimum", func(n, b float64) bool { return n < b }); bad {
		c.report(path, "must be at least %s, is %s", bound, shorten(v.String()))
	}
	if bound, bad := breaks("maximum", func(n, b float64) bool { return n > b }); bad {
		c.report(path, "must be at most %s, is %s", bound, shorten(v.String()))
	}
	if bound, bad := breaks("exclusiveMinimum", func(n, b float64) bool { return n < b || n == b && exact(n) }); bad {
		c.report(path, "must be above %s, is %s", bound, shorten(v.String()))
	}
	if bound, bad := breaks("exclusiveMaximum", func(n, b float64) bool { return n > b || n == b && exact(n) }); bad {
		c.report(path, "must be below %s, is %s", bound, shorten(v.String()))
	}
}

// kindOf names the JSON type of a decoded value; integers are numbers here.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func known(kind string) bool {
	switch kind {
	case "null", "boolean", "string", "number", "integer", "array", "object":
		return true
	}
	return false
}

func withArticle(kind string) string {
	switch kind {
	case "null":
		return kind
	case "integer", "array", "object":
		return "an " + kind
	}
	return "a " + kind
}

// isInteger: 7, 7.0 and 7e2 are integers to JSON schema, 7.5 is not. A number that
// a float64 cannot hold is judged by how it is written.
func isInteger(v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return false
	}
	if !strings.ContainsAny(n.String(), ".eE") {
		return true
	}
	f := float(n)
	return math.IsInf(f, 0) || f == math.Trunc(f)
}

// float is the nearest float64, infinite beyond its range. Values are compared by it,
// so from 2^53 on two neighbours may count as equal; then the value is let through.
func float(n json.Number) float64 {
	f, _ := strconv.ParseFloat(n.String(), 64)
	return f
}

// exact tells whether every integer around f has a float64 of its own.
func exact(f float64) bool { return math.Abs(f) < 1<<53 }

// equal compares decoded values as JSON schema does: 1 and 1.0 are the same.
func equal(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		y, ok := b.(json.Number)
		return ok && (x == y || float(x) == float(y))
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equal)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, equal)
	}
	return a == b // nil, a boolean or a string
}

func show(v any) string {
	b, err := encode(v)
	if err != nil {
		return kindOf(v)
	}
	return shorten(string(b))
}
