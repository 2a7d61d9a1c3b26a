package rest

import (
	"net/http"
	"strings"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
	"hitchpost/store"
)

// Bounds of a search, in hits.
const (
	hitsByDefault = 50
	maxHits       = 200

	// mostLookedAt bounds what is looked through for a token that reaches few sessions.
	mostLookedAt = 5000
)

func searchRoutes() []route {
	return []route{{
		method: http.MethodGet, path: "/search", verbs: auth.Watch, serve: search,
		about: "Searches titles and messages.",
		params: []param{
			query("q", "The words to be found; any text will do.", text),
			query("limit", "How many hits at most: 50 if not given, and no more than 200.", positive),
		},
		answers: append([]answer{ok([]protocol.SearchHit{})}, refused(http.StatusBadRequest)...),
	}}
}

func search(c *call) error {
	words := c.query("q")
	if strings.TrimSpace(words) == "" {
		return invalid("q is blank; give the words to be found")
	}
	limit, err := c.limit(hitsByDefault, maxHits)
	if err != nil {
		return err
	}
	rows, err := c.server.book.Rows(c.ctx, c.token)
	if err != nil {
		return err
	}
	titles := map[string]string{}
	for _, x := range rows {
		titles[x.ID] = x.Title
	}
	hits, err := c.hits(words, int(limit), func(h store.Hit) bool { _, mine := titles[h.Session]; return mine })
	if err != nil {
		return err
	}
	list := make([]protocol.SearchHit, len(hits))
	for i, h := range hits {
		list[i] = protocol.SearchHit{SessionID: h.Session, Title: titles[h.Session], EntryID: h.EventID, Seq: h.Seq, Snippet: h.Snippet}
	}
	return c.answer(http.StatusOK, list)
}

// hits searches the owner's sessions and keeps those that the token reaches; if that
// leaves too few, it looks further.
func (c *call) hits(words string, limit int, reached func(store.Hit) bool) ([]store.Hit, error) {
	for n := limit; ; n = min(4*n, mostLookedAt) {
		found, err := c.server.Store.Search(c.ctx, c.token.Owner, words, n)
		if err != nil {
			return nil, err
		}
		kept := []store.Hit{}
		for _, h := range found {
			if reached(h) && len(kept) < limit {
				kept = append(kept, h)
			}
		}
		if len(kept) == limit || len(found) < n || n == mostLookedAt {
			return kept, nil
		}
	}
}
