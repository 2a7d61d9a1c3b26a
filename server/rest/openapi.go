package rest

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"
)

func getDocument(c *call) error { return c.answer(http.StatusOK, c.server.document) }

// document makes the OpenAPI document of a table of routes.
func document(routes []route) schema {
	s := &schemas{named: schema{}}
	paths := schema{}
	for _, r := range routes {
		if paths[r.path] == nil {
			paths[r.path] = schema{}
		}
		paths[r.path].(schema)[strings.ToLower(r.method)] = s.operation(r)
	}
	return schema{
		"openapi": "3.1.0",
		"info": schema{
			"title": "Hitchpost", "version": "1",
			"description": "Sessions of long-lived agents, each a projection of one append-only log. " +
				"Members of a request that are not listed here are refused.",
		},
		"servers":    []schema{{"url": Base}},
		"security":   []schema{{"bearer": []string{}}},
		"paths":      paths,
		"components": schema{"schemas": s.named, "securitySchemes": schema{"bearer": schema{"type": "http", "scheme": "bearer"}}},
	}
}

func (s *schemas) operation(r route) schema {
	op := schema{"summary": r.about, "operationId": operationID(r)}
	if r.verbs != 0 {
		op["description"] = "The token must be allowed: " + r.verbs.String() + "."
	}
	params := []schema{}
	for _, name := range pathParams(r.path) {
		params = append(params, schema{"in": "path", "name": name, "required": true, "schema": text})
	}
	for _, p := range r.params {
		params = append(params, schema{"in": p.in, "name": p.name, "description": p.about, "schema": p.schema})
	}
	if len(params) > 0 {
		op["parameters"] = params
	}
	if r.body != nil {
		op["requestBody"] = schema{"content": schema{"application/json": schema{"schema": s.of(reflect.TypeOf(r.body))}}}
	}
	answers := schema{"default": s.answer(answer{
		about: "Refused: 401, 403, 429, 500 or 503, as any request may be.", body: problemBody,
	})}
	for _, a := range r.answers {
		answers[strconv.Itoa(a.status)] = s.answer(a)
	}
	op["responses"] = answers
	return op
}

func (s *schemas) answer(a answer) schema {
	x := schema{"description": a.about}
	switch {
	case a.media != "":
		x["content"] = schema{a.media: schema{"schema": text}}
	case a.body != nil:
		x["content"] = schema{"application/json": schema{"schema": s.of(reflect.TypeOf(a.body))}}
	}
	return x
}

// operationID names an operation after its method and the fixed parts of its path.
func operationID(r route) string {
	name := strings.ToLower(r.method)
	for segment := range strings.SplitSeq(r.path, "/") {
		if fixed := strings.Trim(segment, "{}"); fixed != "" && fixed == segment {
			name += strings.ToUpper(fixed[:1]) + strings.TrimSuffix(fixed[1:], ".json")
		} else if fixed != "" {
			name += "Of" + strings.ToUpper(fixed[:1]) + fixed[1:]
		}
	}
	return name
}
