package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"hitchpost/server/auth"
	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn"
)

// ErrAbsent: the owner has no such session, or the token does not reach it.
var ErrAbsent = errors.New("no such session")

// Book looks sessions up. It is safe for concurrent use.
type Book struct {
	Store *store.Store
	Host  *turn.Host
}

// Row returns the row of a session that the token reaches: ErrAbsent.
func (b *Book) Row(ctx context.Context, t *auth.Token, id string) (store.Session, error) {
	x, err := b.Store.Session(ctx, id)
	switch {
	case isGone(err):
		return store.Session{}, absent(id)
	case err != nil:
		return store.Session{}, err
	case !sees(t, x):
		return store.Session{}, absent(id)
	}
	return x, nil
}

func absent(id string) error { return fmt.Errorf("%w: %.140q", ErrAbsent, id) }

// sees tells whether a session is the token's owner's and reached by the token.
func sees(t *auth.Token, x store.Session) bool { return x.Owner == t.Owner && t.Reaches(x.ID) }

// Rows returns the rows of every session that the token reaches.
func (b *Book) Rows(ctx context.Context, t *auth.Token) ([]store.Session, error) {
	rows, err := b.Store.SessionsOf(ctx, t.Owner)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(x store.Session) bool { return !sees(t, x) }), nil
}

// Get returns the object of a session that the token reaches: ErrAbsent.
func (b *Book) Get(ctx context.Context, t *auth.Token, id string) (protocol.Session, error) {
	x, err := b.Row(ctx, t, id)
	if err != nil {
		return protocol.Session{}, err
	}
	return b.Object(ctx, x)
}

// List returns the objects of every session that the token reaches, pinned first,
// then newest activity; never nil.
func (b *Book) List(ctx context.Context, t *auth.Token) ([]protocol.Session, error) {
	rows, err := b.Rows(ctx, t)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b store.Session) int {
		if a.Pinned != b.Pinned {
			if a.Pinned {
				return -1
			}
			return 1
		}
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	list := make([]protocol.Session, 0, len(rows))
	for _, x := range rows {
		o, err := b.Object(ctx, x)
		if isGone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// isGone tells of a session that was deleted since its row was read: a list leaves it out.
func isGone(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDeleted)
}
