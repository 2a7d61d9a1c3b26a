package config

import (
	"cmp"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// decode reads the source over the defaults that c holds, and reports everything
// that has no place in it. toml.Decode into the struct would stop at the first wrong
// type, and Undecoded cannot tell which entry of [[tokens]] holds a typo.
func decode(source string, c *Config) (*report, error) {
	tree := map[string]any{}
	if _, err := toml.Decode(source, &tree); err != nil {
		var syntax toml.ParseError
		if !errors.As(err, &syntax) {
			return nil, err
		}
		r := &report{problems: []Problem{{
			Line: max(syntax.Position.Line, 1), Key: syntax.LastKey, Text: syntax.Message}}}
		return r, nil
	}
	r := &report{lines: linesOf(source)}
	r.table(tree, reflect.ValueOf(c).Elem(), "")
	return r, nil
}

// put stores the value found at key into dst, which holds the default.
func (r *report) put(found any, dst reflect.Value, key string) {
	if own, ok := dst.Addr().Interface().(value); ok {
		if err := own.set(found); err != nil {
			r.add(key, "%v", err)
		}
		if text, ok := found.(string); ok && strings.HasPrefix(text, filePrefix) {
			r.secretFiles = append(r.secretFiles, strings.TrimPrefix(text, filePrefix))
		}
		return
	}
	switch dst.Kind() {
	case reflect.Struct:
		r.table(found, dst, key)
	case reflect.Map:
		r.tables(found, dst, key)
	case reflect.Slice:
		r.list(found, dst, key)
	case reflect.String:
		put(r, found, key, "a string", dst.SetString)
	case reflect.Bool:
		put(r, found, key, "true or false", dst.SetBool)
	case reflect.Int:
		put(r, found, key, "an integer", dst.SetInt)
	default:
		panic("config: no way to read a " + dst.Type().String())
	}
}

func put[T any](r *report, found any, key, want string, set func(T)) {
	v, ok := found.(T)
	if !ok {
		r.add(key, "must be %s, not %s", want, kindOf(found))
		return
	}
	set(v)
}

// table fills a struct, member by member.
func (r *report) table(found any, dst reflect.Value, key string) {
	members, ok := found.(map[string]any)
	if !ok {
		r.add(key, "must be a table, not %s", kindOf(found))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		field, ok := fieldOf(dst, name)
		if !ok {
			r.add(joinKey(key, name), "unknown key%s", nearest(dst, name))
			continue
		}
		r.put(members[name], field, joinKey(key, name))
	}
}

// tables fills a map, entry by entry; an entry that the defaults have is read over it,
// and an agent over the default agent.
func (r *report) tables(found any, dst reflect.Value, key string) {
	entries, ok := found.(map[string]any)
	if !ok {
		r.add(key, "must be a table, not %s", kindOf(found))
		return
	}
	own := reflect.MakeMap(dst.Type()) // agents may share theirs with the default agent
	for name, entry := range dst.Seq2() {
		own.SetMapIndex(name, entry)
	}
	dst.Set(own)
	for _, name := range entryNames(entries) {
		base := name
		if key == "agents" {
			base = DefaultAgent
		}
		entry := newEntry(dst.Type().Elem(), key)
		if had := own.MapIndex(reflect.ValueOf(base)); had.IsValid() {
			entry.Set(had)
		}
		r.put(entries[name], entry, joinKey(key, name))
		own.SetMapIndex(reflect.ValueOf(name), entry)
	}
}

// entryNames sorts the names, the default agent first: the others are read over it.
func entryNames(entries map[string]any) []string {
	return slices.SortedFunc(maps.Keys(entries), func(a, b string) int {
		if (a == DefaultAgent) != (b == DefaultAgent) {
			if a == DefaultAgent {
				return -1
			}
			return 1
		}
		return cmp.Compare(a, b)
	})
}

// list replaces a slice.
func (r *report) list(found any, dst reflect.Value, key string) {
	from := reflect.ValueOf(found)
	if from.Kind() != reflect.Slice {
		r.add(key, "must be a list, not %s", kindOf(found))
		return
	}
	out := reflect.MakeSlice(dst.Type(), 0, from.Len())
	for i := range from.Len() {
		entry := newEntry(dst.Type().Elem(), key)
		r.put(from.Index(i).Interface(), entry, indexKey(key, i))
		out = reflect.Append(out, entry)
	}
	dst.Set(out)
}

func newEntry(t reflect.Type, key string) reflect.Value {
	entry := reflect.New(t).Elem()
	if d := defaultEntry(key); d != nil {
		entry.Set(reflect.ValueOf(d))
	}
	return entry
}

func fieldOf(dst reflect.Value, name string) (reflect.Value, bool) {
	for f, v := range dst.Fields() {
		if tag := f.Tag.Get("toml"); tag == name && tag != "-" {
			return v, true
		}
	}
	return reflect.Value{}, false
}

// nearest suggests the member of a table that was probably meant, or lists them all
// when none is near and they are few.
func nearest(dst reflect.Value, name string) string {
	var names []string
	for f := range dst.Fields() {
		if tag := f.Tag.Get("toml"); tag != "-" {
			names = append(names, tag)
		}
	}
	best := slices.MinFunc(names, func(a, b string) int {
		return cmp.Compare(distance(a, name), distance(b, name))
	})
	if distance(best, name) <= 1+len(name)/4 {
		return "; did you mean " + best + "?"
	}
	if len(names) <= 8 {
		return "; the keys here are " + strings.Join(names, ", ")
	}
	return "; `hitchpost config example` shows every key"
}

// distance counts the edits between two names, their case set aside.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j]+1, row[j+1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
