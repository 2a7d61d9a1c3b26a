package rest

import (
	"net/http"

	"hitchpost/server/auth"
)

// Base is the path that every route begins with.
const Base = "/api/v1"

// route is one thing that can be asked for. The table of them makes the server and
// the OpenAPI document.
type route struct {
	method  string
	path    string     // a pattern of net/http, behind base
	verbs   auth.Verbs // that the token must be allowed, all of them
	about   string     // one line
	params  []param
	body    any // zero value of what the request's body decodes to; nil = it has none
	answers []answer
	serve   func(*call) error
}

// param is a query or header parameter. Those of the path follow from it.
type param struct {
	in, name string
	about    string
	schema   schema
}

// answer is one way a route is answered when nothing is wrong, or a refusal that is its own.
type answer struct {
	status int
	about  string
	body   any    // zero value of what is encoded; nil = no body
	media  string // "" = JSON
}

const mediaEvents = "text/event-stream"

func query(name, about string, s schema) param  { return param{"query", name, about, s} }
func header(name, about string, s schema) param { return param{"header", name, about, s} }

func ok(body any) answer { return answer{status: http.StatusOK, about: "As asked.", body: body} }
func accepted() answer {
	return answer{status: http.StatusAccepted, about: "Accepted and on the disk; the run's events tell the rest."}
}
func noContent(about string) answer { return answer{status: http.StatusNoContent, about: about} }

// refused lists the refusals that are a route's own, beside those that any route may
// answer with: 401, 403, 429, 500, 503.
func refused(statuses ...int) []answer {
	var all []answer
	for _, status := range statuses {
		all = append(all, answer{status: status, about: http.StatusText(status) + ".", body: problemBody})
	}
	return all
}
