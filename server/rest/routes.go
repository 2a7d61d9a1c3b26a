package rest

import (
	"net/http"
	"slices"
)

// routes is everything that can be asked for.
func routes() []route {
	return slices.Concat(
		sessionRoutes(), historyRoutes(), treeRoutes(), inboxRoutes(), settingRoutes(),
		runRoutes(), approvalRoutes(), searchRoutes(),
		[]route{{
			method: http.MethodGet, path: "/openapi.json", serve: getDocument,
			about: "This document.", answers: []answer{ok(schema{})},
		}},
	)
}
