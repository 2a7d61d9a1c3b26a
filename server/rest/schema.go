package rest

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
)

// schema is a JSON schema, or another object of the OpenAPI document.
type schema map[string]any

// The schemas of parameters.
var (
	text     = schema{"type": "string"}
	natural  = schema{"type": "integer", "format": "int64", "minimum": 0}
	positive = schema{"type": "integer", "format": "int64", "minimum": 1}
)

// schemas makes the schemas of Go types. Each struct is written once and referred to.
type schemas struct{ named schema }

func ref(kind, name string) schema { return schema{"$ref": "#/components/" + kind + "/" + name} }

func (s *schemas) of(t reflect.Type) schema {
	if t == reflect.TypeFor[json.RawMessage]() {
		return schema{} // any JSON
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return schema{"type": "integer", "format": "int64"}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.Slice:
		return schema{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return schema{"type": "object"}
		}
		return schema{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Interface:
		return schema{"type": "object"}
	case reflect.Struct:
		return s.object(t)
	}
	panic("no schema for " + t.String()) // a fault in the table of routes; a test makes the document
}

func (s *schemas) object(t reflect.Type) schema {
	if s.named[t.Name()] == nil {
		s.named[t.Name()] = schema{} // for a struct that holds itself
		members, required := schema{}, []string{}
		s.members(t, members, &required)
		x := schema{"type": "object", "properties": members}
		if len(required) > 0 {
			x["required"] = required
		}
		s.named[t.Name()] = x
	}
	return ref("schemas", t.Name())
}

func (s *schemas) members(t reflect.Type, members schema, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			s.members(f.Type, members, required)
			continue
		}
		name, optional := memberOf(f)
		member := s.of(f.Type)
		if f.Type.Kind() == reflect.Pointer && !optional {
			member = nullable(member)
		}
		members[name] = member
		if !optional {
			*required = append(*required, name)
		}
	}
}

// nullable allows null beside what a schema allows (OpenAPI 3.1).
func nullable(s schema) schema {
	kind, ok := s["type"].(string)
	if !ok {
		return schema{"anyOf": []schema{s, {"type": "null"}}}
	}
	s = maps.Clone(s)
	s["type"] = []string{kind, "null"}
	return s
}

// pathParams are the names between braces.
func pathParams(path string) (names []string) {
	for segment := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}
