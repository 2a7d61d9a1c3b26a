package store

import (
	"context"
	"encoding/json"
)

// Copy is temporary.
func (s *Store) Copy(ctx context.Context, x Session, source string, n int64, rest []NewEvent, _ json.RawMessage) error {
	log, err := s.OpenLog(ctx, source)
	if err != nil {
		return err
	}
	defer log.Close()
	first := make([]NewEvent, n)
	structural, err := log.Structural(ctx, 0, n-1)
	if err != nil {
		return err
	}
	streamed, err := log.Streamed(ctx, 0, n-1)
	if err != nil {
		return err
	}
	for _, e := range structural {
		first[e.Seq] = NewEvent{ID: e.ID, Type: e.Type, Payload: e.Payload}
	}
	for _, e := range streamed {
		first[e.Seq] = NewEvent{ID: e.ID, Type: e.Type, Payload: e.Payload, Streamed: true}
	}
	return s.Create(ctx, x, append(first, rest...))
}

// Delete is temporary.
func (s *Store) Delete(context.Context, string) error { return ErrClosed }
