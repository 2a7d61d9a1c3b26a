package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxProblems = 10      // told of one call's arguments
	maxVisits   = 1 << 20 // schemas looked at for one call's arguments
	maxHops     = 64      // schemas looked at for one value by $ref, anyOf and their like
	maxEcho     = 60      // characters of a refused value that are shown
)

// Object returns a call's arguments as one JSON object: nothing at all, and null,
// become {}. Anything else that is no object is an error that says what it is.
func Object(args json.RawMessage) (json.RawMessage, error) {
	trimmed := bytes.TrimSpace(args)
	if len(trimmed) == 0 || string(trimmed) == "null" {
		return json.RawMessage("{}"), nil
	}
	v, err := decode(trimmed)
	if err != nil {
		return nil, fmt.Errorf("the arguments are not valid JSON: %w", err)
	}
	if kind := kindOf(v); kind != "object" {
		return nil, fmt.Errorf("the arguments must be a JSON object, not %s", withArticle(kind))
	}
	return trimmed, nil
}

// Validate checks arguments against a JSON schema. It reads type, properties,
// required, additionalProperties, items, enum, const, anyOf, oneOf (as anyOf), allOf,
// local $ref, nullable and the bounds on numbers, lengths and counts; guarantee 3
// says what becomes of the rest. The error has one line a problem: "limit: must be
// an integer, not a string".
func Validate(schema, args json.RawMessage) error {
	root, err := decode(schema)
	if err != nil {
		return fmt.Errorf("the tool's schema is not valid JSON: %w", err)
	}
	value, err := decode(args)
	if err != nil {
		return fmt.Errorf("the arguments are not valid JSON: %w", err)
	}
	c := &checker{root: root}
	c.check(root, value, "", 0)
	if c.visits >= maxVisits {
		return errors.New("the arguments are too large to check against the tool's schema")
	}
	if len(c.problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(c.problems, "\n"))
}

func decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() || len(bytes.TrimSpace(b[d.InputOffset():])) > 0 {
		return nil, errors.New("there is more behind the first value")
	}
	return v, nil
}

// checker walks one schema and one value side by side and gathers what is wrong.
type checker struct {
	root     any
	problems []string
	visits   int
}

func (c *checker) report(path, format string, a ...any) {
	if len(c.problems) == maxProblems {
		return
	}
	if path == "" {
		path = "arguments"
	}
	c.problems = append(c.problems, path+": "+fmt.Sprintf(format, a...))
}

// check reports what of the schema the value breaks. hops counts the schemas already
// looked at for this same value.
func (c *checker) check(schema, value any, path string, hops int) {
	c.visits++
	if c.visits >= maxVisits || hops > maxHops || len(c.problems) == maxProblems {
		return
	}
	s, ok := schema.(map[string]any)
	if !ok {
		if schema == false {
			c.report(path, "must be left out")
		}
		return
	}
	if s["nullable"] == true && value == nil {
		return
	}
	if ref, ok := s["$ref"].(string); ok {
		if target, ok := c.lookup(ref); ok {
			c.check(target, value, path, hops+1)
		}
	}
	if !c.checkType(s, value, path) || !c.checkEnum(s, value, path) {
		return // whatever else is wrong with it would only confuse
	}
	switch v := value.(type) {
	case map[string]any:
		c.checkObject(s, v, path)
	case []any:
		c.checkArray(s, v, path)
	case string:
		c.checkString(s, v, path)
	case json.Number:
		c.checkNumber(s, v, path)
	}
	c.checkCombined(s, value, path, hops)
}

// lookup finds a schema by a reference within the same document: "#/$defs/Name".
func (c *checker) lookup(ref string) (any, bool) {
	rest, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil, false
	}
	at := c.root
	for _, name := range strings.Split(rest, "/")[1:] {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		m, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		if at, ok = m[name]; !ok {
			return nil, false
		}
	}
	return at, rest == "" || strings.HasPrefix(rest, "/")
}

func (c *checker) checkCombined(s map[string]any, value any, path string, hops int) {
	for _, sub := range list(s["allOf"]) {
		c.check(sub, value, path, hops+1)
	}
	// oneOf asks for exactly one, but a keyword that is passed over may be all that
	// tells two branches apart: that at least one fits is what can be said.
	for _, word := range []string{"anyOf", "oneOf"} {
		c.checkAny(list(s[word]), value, path, hops)
	}
}

func (c *checker) checkAny(branches []any, value any, path string, hops int) {
	if len(branches) == 0 {
		return
	}
	var reasons []string
	for _, sub := range branches {
		trial := &checker{root: c.root, visits: c.visits}
		trial.check(sub, value, path, hops+1)
		c.visits = trial.visits
		if len(trial.problems) == 0 {
			return
		}
		reasons = append(reasons, trial.problems[0])
	}
	slices.Sort(reasons)
	c.report(path, "fits none of the allowed forms (%s)", strings.Join(first(slices.Compact(reasons), 3), "; or "))
}

func (c *checker) checkObject(s, v map[string]any, path string) {
	for _, r := range list(s["required"]) {
		if name, ok := r.(string); ok {
			if _, there := v[name]; !there {
				c.report(join(path, name), "required")
			}
		}
	}
	properties, _ := s["properties"].(map[string]any)
	_, patterned := s["patternProperties"]
	extra, limited := s["additionalProperties"]
	for _, name := range slices.Sorted(maps.Keys(v)) {
		sub, known := properties[name]
		switch {
		case known:
			c.check(sub, v[name], join(path, name), 0)
		case patterned || !limited: // whether a pattern covers it cannot be said here
		case extra == false:
			c.report(join(path, shorten(name)), "unknown; the known ones are: %s", known10(properties))
		default:
			c.check(extra, v[name], join(path, shorten(name)), 0)
		}
	}
	c.checkCount(s, "minProperties", "maxProperties", len(v), path, "members")
}

func (c *checker) checkArray(s map[string]any, v []any, path string) {
	c.checkCount(s, "minItems", "maxItems", len(v), path, "items")
	_, tuple := s["prefixItems"]
	items, one := s["items"]
	if _, older := items.([]any); !one || tuple || older {
		return // positional items are passed over
	}
	for i, item := range v {
		c.check(items, item, fmt.Sprintf("%s[%d]", path, i), 0)
	}
}

func (c *checker) checkString(s map[string]any, v, path string) {
	c.checkCount(s, "minLength", "maxLength", utf8.RuneCountInString(v), path, "characters")
}

func (c *checker) checkCount(s map[string]any, least, most string, n int, path, unit string) {
	if bound, ok := s[least].(json.Number); ok && float64(n) < float(bound) {
		c.report(path, "must have at least %s %s, has %d", bound, unit, n)
	}
	if bound, ok := s[most].(json.Number); ok && float64(n) > float(bound) {
		c.report(path, "must have at most %s %s, has %d", bound, unit, n)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func first(all []string, n int) []string { return all[:min(n, len(all))] }

func known10(properties map[string]any) string {
	if len(properties) == 0 {
		return "none"
	}
	names := slices.Sorted(maps.Keys(properties))
	if len(names) > 10 {
		return strings.Join(names[:10], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// shorten keeps a message readable whatever the model wrote.
func shorten(s string) string {
	if utf8.RuneCountInString(s) <= maxEcho {
		return s
	}
	return string([]rune(s)[:maxEcho]) + "…"
}
