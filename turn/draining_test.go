package turn

import (
	"errors"
	"testing"

	"hitchpost/store"
)

// TestADrainingHostBearsNoSession: whoever asks is told to come back, and the file has
// nothing of it.
func TestADrainingHostBearsNoSession(t *testing.T) {
	w := newWorld(t)
	if err := w.host.Drain(0); err != nil {
		t.Fatal(err)
	}
	w.drained = true
	for name, bear := range map[string]func() error{
		"CreateSession": func() error {
			_, err := w.host.CreateSession(ctx, store.Session{ID: "s2", Owner: "me"})
			return err
		},
		"Fork": func() error {
			_, err := w.host.Fork(ctx, "s1", ForkPoint{}, "s2")
			return err
		},
		"Hold": func() error {
			_, err := w.host.Hold(ctx, "s2", "me")
			return err
		},
	} {
		if err := bear(); !errors.Is(err, ErrDraining) {
			t.Errorf("%s while the host drains = %v, want ErrDraining", name, err)
		}
		if _, err := w.store.Session(ctx, "s2"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: the session is there: %v", name, err)
		}
	}
	if err := w.host.Delete(ctx, "s1"); !errors.Is(err, ErrDraining) {
		t.Errorf("Delete while the host drains = %v, want ErrDraining", err)
	}
}
