package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of the search.
const (
	MaxSearchText = 64 << 10 // bytes of a text that can be found; what stands behind them cannot
	MaxQuery      = 1 << 10  // bytes of a query that are heeded
	MaxHits       = 1000
	maxQueryWords = 32
	shortestStart = 2 // characters of a last word from which on it stands for all words that begin so
)

// Hit is a title or an event that a search found.
type Hit struct {
	Session string
	EventID string // "" = the title
	Seq     int64  // of the event; -1 for the title
	Snippet string // some words around the first match, … where text was left out
}

// Search finds the titles and texts of an owner's sessions that hold every word of
// the query, the last one also as the beginning of a word; case and accents make no
// difference. Any text is a query: nothing in it is an operator, and one without a
// word finds nothing. Words run together by punctuation ("foo-bar") must stand in
// this order. At most limit hits, the newest first by when they became searchable:
// what a fork or an import brought counts as of then.
func (s *Store) Search(ctx context.Context, owner, query string, limit int) ([]Hit, error) {
	hits, err := s.search(ctx, owner, query, limit)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return hits, nil
}

func (s *Store) search(ctx context.Context, owner, query string, limit int) ([]Hit, error) {
	match := matchAll(query)
	if match == "" || limit <= 0 {
		return nil, nil
	}
	done, err := s.reading()
	if err != nil {
		return nil, err
	}
	defer done()
	match = fmt.Sprintf("owner : %s AND text : (%s)", ownerWord(owner), match)
	rows, err := s.queries.search.QueryContext(ctx, match, owner)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hits []Hit
	for len(hits) < min(limit, MaxHits) && rows.Next() {
		var h Hit
		var id []byte
		if err := rows.Scan(&h.Session, &h.Seq, &id, &h.Snippet); err != nil {
			return nil, err
		}
		h.EventID = hex.EncodeToString(id)
		if !s.unpublished(h) {
			hits = append(hits, h)
		}
	}
	return hits, rows.Err()
}

// unpublished tells whether readers of its log are not shown the event yet.
func (s *Store) unpublished(h Hit) bool {
	l := s.held(h.Session)
	if l == nil {
		return false
	}
	tip, _ := l.Tip()
	return h.Seq > tip
}

// matchAll is the query in FTS5's language: each word a string of its own, in which
// FTS5 finds the words itself. "" if there is none.
func matchAll(query string) string {
	query = strings.ToValidUTF8(cutText(query, MaxQuery), " ")
	words := strings.Fields(strings.ReplaceAll(query, "\x00", " "))
	if len(words) > maxQueryWords {
		words = words[:maxQueryWords]
	}
	if len(words) == 0 {
		return ""
	}
	var b strings.Builder
	for _, word := range words {
		b.WriteString(`"` + strings.ReplaceAll(word, `"`, `""`) + `" `)
	}
	if utf8.RuneCountInString(words[len(words)-1]) >= shortestStart {
		b.WriteString("*")
	}
	return b.String()
}

// ownerWord stands for an owner in the index, so that a search reads the lists of his
// documents only, however many others there are.
func ownerWord(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return "o" + hex.EncodeToString(sum[:16])
}

// cutText cuts a text to at most n bytes, between two characters.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// searchText is a text on its way into the index.
type searchText struct {
	seq  int64 // of its event; titleSeq: the title
	text string
}

const titleSeq = -1

// searchTexts are what can be found of events, the first of which has the seq from.
// Of a streamed piece it is never anything: the whole comes later.
func (s *Store) searchTexts(from int64, events []NewEvent) (out []searchText) {
	if s.options.SearchText == nil {
		return nil
	}
	for i := range events {
		if e := &events[i]; !e.Streamed {
			out = s.addText(out, from+int64(i), e.Type, e.Payload)
		}
	}
	return out
}

func (s *Store) addText(to []searchText, seq int64, typ string, payload json.RawMessage) []searchText {
	if text := s.options.SearchText(typ, payload); text != "" {
		return append(to, searchText{seq, text})
	}
	return to
}

// index puts texts into the index, in the open transaction.
func (w *writer) index(key int64, owner string, texts []searchText) error {
	for _, t := range texts {
		text := strings.ReplaceAll(cutText(t.text, MaxSearchText), "\x00", " ") // NUL would end it in a snippet
		res, err := w.sql.addText.run(key, t.seq)
		if err != nil {
			return err
		}
		doc, err := res.LastInsertId()
		if err != nil {
			return err
		}
		if _, err := w.sql.addDoc.run(doc, owner, text); err != nil {
			return err
		}
	}
	return nil
}

// indexTitle has a session found by another title from now on.
func (w *writer) indexTitle(key int64, owner, title string) error {
	if _, err := w.sql.dropTitleDoc.run(key); err != nil {
		return err
	}
	if _, err := w.sql.dropTitle.run(key); err != nil {
		return err
	}
	if title == "" {
		return nil
	}
	return w.index(key, owner, []searchText{{titleSeq, title}})
}
