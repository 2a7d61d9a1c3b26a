package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// draft is a session that is written piece by piece under a key of its own. It has
// no row before its last piece, so nobody sees it, and what a crash leaves of it is
// removed by the next Open. One goroutine at a time uses it.
type draft struct {
	store *Store
	key   int64
	owner string // in the search's index
	at    place
	begun bool // a piece may be in the file
}

func (s *Store) newDraft(owner string) *draft {
	return &draft{store: s, key: s.keys.Add(1), owner: ownerWord(owner), at: place{tip: -1}}
}

// write writes a piece, the last one if the request says what session it becomes,
// and waits for its commit: ErrExists, ErrDeleted.
func (d *draft) write(ctx context.Context, r *request) error {
	r.draft, r.begin = d, !d.begun && r.create == nil
	d.begun = true
	_, err := r.wait(ctx, func() {
		if !d.store.writer.queue.add(r) {
			r.answer(ErrClosed)
		}
	})
	if err != nil {
		if errors.Is(err, ErrExists) {
			return d.store.taken(ctx, r.create.ID)
		}
		return err
	}
	d.at.tip += int64(len(r.records))
	for i := range r.records {
		d.at.pos += int64(len(r.records[i].line))
	}
	return nil
}

// giveUp has the writer remove what was written. A last piece that is still under
// way when its caller gives up stays, if it is committed.
func (d *draft) giveUp() {
	if d.begun {
		r := &request{draft: d, giveUp: true, done: func([]Event, error) {}}
		d.store.writer.queue.add(r) // closed: the next Open removes it
	}
}

// free refuses an id that is taken.
func (s *Store) free(ctx context.Context, id string) error {
	switch _, err := s.Session(ctx, id); {
	case err == nil:
		return ErrExists
	case errors.Is(err, ErrNotFound):
		return nil
	default:
		return err
	}
}

// taken says why an id that is taken cannot be had.
func (s *Store) taken(ctx context.Context, id string) error {
	if _, found := s.Session(ctx, id); errors.Is(found, ErrDeleted) {
		return ErrDeleted
	}
	return ErrExists
}

// applyDraft writes what a piece of a draft says beside its events.
func (w *writer) applyDraft(r *request) error {
	d, x := r.draft, r.create
	if r.begin {
		_, err := w.sql.addLeftover.run(d.key)
		return err
	}
	if x == nil {
		return nil
	}
	_, err := w.sql.addSession.run(d.key, x.ID, x.Owner, x.Agent, x.Title, x.ParentID, x.Pinned, x.CreatedAt.UnixMicro())
	if isConstraint(err) {
		return ErrExists
	}
	if err != nil {
		return err
	}
	if _, err = w.sql.dropLeftover.run(d.key); err != nil || x.Title == "" { // there is none if this is its only piece
		return err
	}
	return w.index(d.key, d.owner, []searchText{{titleSeq, x.Title}})
}

// Copy makes a session whose log is the first n events of another's, with their ids,
// seqs, times and payloads, and then rest; digest is what Batch.Digest is. It is
// written in pieces of at most PageEvents events and PageBytes bytes (or one larger
// event) between the appends of others, and nobody sees it before it is whole: on an
// error, also that of ctx, there is nothing. ErrNotFound, or ErrDeleted, for the
// source; ErrExists or ErrDeleted for an id that is taken; ErrInvalid. As with
// Append, a ctx that ends during the last piece does not call it back.
func (s *Store) Copy(ctx context.Context, x Session, source string, n int64, rest []NewEvent, digest []byte) error {
	if err := s.copy(ctx, x, source, n, rest, digest); err != nil {
		return fmt.Errorf("copy session %q to %q: %w", source, x.ID, err)
	}
	return nil
}

func (s *Store) copy(ctx context.Context, x Session, source string, n int64, rest []NewEvent, digest []byte) (err error) {
	if err := checkSessionID(x.ID); err != nil {
		return err
	}
	checked, err := checkEvents(rest)
	if err != nil {
		return err
	}
	if err := checkDigest(digest); err != nil {
		return err
	}
	if err := s.free(ctx, x.ID); err != nil {
		return err
	}
	from, err := s.OpenLog(ctx, source)
	if err != nil {
		return err
	}
	defer from.Close()
	if tip, _ := from.Tip(); n < 0 || n > tip+1 {
		return fmt.Errorf("%w: the first %d events of %d", ErrInvalid, n, tip+1)
	}
	d := s.newDraft(x.Owner)
	defer func() {
		if err != nil {
			d.giveUp()
		}
	}()
	c := copying{from: from, to: d, head: envelopeHead(x.ID), n: n}
	for c.next < n {
		if err := c.read(ctx); err != nil {
			return err
		}
		if c.next < n {
			if err := d.write(ctx, &request{records: c.piece, texts: c.texts}); err != nil {
				return err
			}
		}
	}
	now := stampAfter(c.at)
	if x.CreatedAt.IsZero() {
		x.CreatedAt = now
	}
	records, _ := encode(c.head, n, now, checked)
	return d.write(ctx, &request{records: slices.Concat(c.piece, records),
		texts: append(c.texts, s.searchTexts(n, checked)...), create: &x, digest: digest})
}
