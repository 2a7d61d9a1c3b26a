package rest

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
	"hitchpost/server/strictjson"
)

// Bounds of a policy, as on the agent socket.
const (
	maxPatterns = 128
	maxPattern  = 256 // characters
)

func settingRoutes() []route {
	absent := refused(http.StatusNotFound)
	return []route{
		{
			method: http.MethodGet, path: "/sessions/{session}/policy", verbs: auth.Watch, serve: getPolicy,
			about:   "Shows which tools run without asking.",
			answers: append([]answer{ok(protocol.Policy{})}, absent...),
		},
		{
			method: http.MethodPut, path: "/sessions/{session}/policy", verbs: auth.Admin, serve: putPolicy,
			about: "Says which tools run without asking, from the very next call on.",
			body:  protocol.Policy{}, answers: append([]answer{ok(protocol.Policy{})}, absent...),
		},
		{
			method: http.MethodGet, path: "/sessions/{session}/models", verbs: auth.Watch, serve: getModels,
			about:   "Shows the model of each role.",
			answers: append([]answer{ok(map[string]string{})}, absent...),
		},
		{
			method: http.MethodPut, path: "/sessions/{session}/models", verbs: auth.Admin, serve: putModels,
			about: "Repoints the roles that are named, from the next step on.",
			body:  map[string]string{}, answers: append([]answer{ok(map[string]string{})}, absent...),
		},
	}
}

func getPolicy(c *call) error {
	a, release, err := c.agent()
	if err != nil {
		return err
	}
	defer release()
	patterns, err := a.Policy(c.ctx)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, protocol.Policy{Patterns: append([]string{}, patterns...)})
}

func putPolicy(c *call) error {
	in, err := decode[protocol.Policy](c)
	if err != nil {
		return err
	}
	if len(in.Patterns) > maxPatterns {
		return invalid("patterns has %d entries; at most %d are kept", len(in.Patterns), maxPatterns)
	}
	for i, p := range in.Patterns {
		if n := utf8.RuneCountInString(p); n > maxPattern || strings.Contains(p, "\x00") {
			return invalid("patterns[%d] has more than %d characters, or a NUL, which no tool's name has", i, maxPattern)
		}
	}
	a, release, err := c.agent()
	if err != nil {
		return err
	}
	defer release()
	if err := a.SetPolicy(c.lasting(), in.Patterns, c.token.Name); err != nil {
		return err
	}
	return getPolicy(c)
}

func getModels(c *call) error {
	a, release, err := c.agent()
	if err != nil {
		return err
	}
	defer release()
	models, err := a.Models(c.ctx)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, models)
}

func putModels(c *call) error {
	text, err := c.body()
	if err != nil {
		return err
	}
	members, err := strictjson.Object("the body", text)
	if err != nil {
		return invalid("%v", err)
	}
	if len(members) == 0 {
		return invalid(`no role is named; send {"main":"provider/model"}`)
	}
	models := map[string]string{}
	for role, raw := range members {
		var spec *string
		if err := json.Unmarshal(raw, &spec); err != nil || spec == nil {
			return invalid("%.80q must be a string, provider/model", role)
		}
		models[role] = *spec
	}
	a, release, err := c.agent()
	if err != nil {
		return err
	}
	defer release()
	if err := a.SetModels(c.lasting(), models); err != nil {
		return err
	}
	return getModels(c)
}
