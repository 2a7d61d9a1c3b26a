package turn

import (
	"context"
	"errors"
	"fmt"

	"hitchpost/store"
)

// What a command can be refused with. The wires map these to their codes.
var (
	ErrNotRunning    = errors.New("no turn is running")
	ErrTurnOpen      = errors.New("a turn is open; wait for its end, or cancel it")
	ErrStaleCall     = errors.New("no standing approval request for this call")
	ErrUnsupported   = errors.New("approvals are switched off here ([approvals] enabled)")
	ErrNoEntry       = errors.New("no such entry")
	ErrForeign       = errors.New("no such session for this owner")
	ErrTooManyAgents = errors.New("too many agents in memory")
	ErrInboxFull     = errors.New("the inbox is full")
	ErrKeyReused     = errors.New("the idempotency key was used for another run of this session")
	ErrNoInput       = errors.New("no such text waits")
	ErrDraining      = errors.New("the server is shutting down")
)

// InvalidError refuses a command whose members make no sense here; its message
// says which and what to do.
type InvalidError struct{ Message string }

func (e *InvalidError) Error() string { return e.Message }

// AppendError is a command whose append failed: nothing of it is kept.
type AppendError struct{ Err error }

func (e *AppendError) Error() string { return fmt.Sprintf("the log could not be written: %v", e.Err) }
func (e *AppendError) Unwrap() error { return e.Err }

// unwritten makes an *AppendError of what the store could not do, and leaves alone what it
// refuses to do.
func unwritten(err error) error {
	for _, refusal := range []error{
		store.ErrNotFound, store.ErrExists, store.ErrDeleted, store.ErrInvalid, store.ErrClosed, store.ErrDamaged, context.Canceled,
	} {
		if errors.Is(err, refusal) {
			return err
		}
	}
	return &AppendError{err}
}
