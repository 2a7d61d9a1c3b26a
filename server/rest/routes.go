package rest

import (
	"net/http"
	"slices"
)

// routes is everything that can be asked for.
func routes() []route {
	all := slices.Concat(
		sessionRoutes(), historyRoutes(), treeRoutes(), inboxRoutes(), settingRoutes(),
		runRoutes(), approvalRoutes(), searchRoutes(),
		[]route{{
			method: http.MethodGet, path: "/openapi.json", serve: getDocument,
			about: "This document.", answers: []answer{ok(schema{})},
		}},
	)
	for i := range all {
		if all[i].body != nil { // it may be none, or too large
			all[i].answers = append(all[i].answers, refused(http.StatusBadRequest, http.StatusRequestEntityTooLarge)...)
		}
	}
	return all
}
