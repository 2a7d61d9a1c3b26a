package store

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// copying reads a log in pieces as the records of another session.
type copying struct {
	from *Log
	to   *draft
	head string // of the envelopes to be
	n    int64  // events to be copied

	next  int64 // seq of the first event of the next piece
	piece []record
	texts []searchText
	at    time.Time // of the newest event read
}

// read reads the next piece.
func (c *copying) read(ctx context.Context) error {
	c.piece, c.texts = nil, nil
	return c.from.reading(func() error {
		rows, err := c.from.store.queries.rows.QueryContext(ctx, c.from.key, c.next, min(PageEvents, c.n-c.next), PageBytes)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r record
			if err := rows.Scan(&r.typ, &r.id, &r.line); err != nil {
				return err
			}
			if err := c.rewrite(&r); err != nil {
				return err
			}
			c.piece = append(c.piece, r)
			c.next++
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if len(c.piece) == 0 {
			return fmt.Errorf("seq %d of %q is not there; run hitchpost verify", c.next, c.from.id)
		}
		return nil
	})
}

// rewrite puts the other session's id into an envelope.
func (c *copying) rewrite(r *record) error {
	e, err := decode(c.from.head, r.line)
	if err != nil {
		return fmt.Errorf("seq %d of %q: %w", c.next, c.from.id, err)
	}
	c.at = e.At
	if r.id != nil && c.from.store.options.SearchText != nil {
		c.texts = c.from.store.addText(c.texts, c.next, e.Type, e.Payload)
	}
	upToHead := len(envID) + idDigits
	r.line = bytes.Join([][]byte{r.line[:upToHead], []byte(c.head), r.line[upToHead+len(c.from.head):]}, nil)
	return nil
}
