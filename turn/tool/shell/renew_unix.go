//go:build unix

package shell

import (
	"context"
	"strings"
)

// saveState prints bash code that brings a fresh shell to where this one is. Options
// come last, so that none of them (errexit, say) meets what fails on the way, as setting
// bash's own constants does.
const saveState = `{ declare -p; declare -f; alias -p; trap -p; umask -p; printf 'cd -- %q\n' "$PWD"; shopt -p; set +o; } 2>/dev/null`

// renew replaces a shell by one that reaches what has come to the folders that the
// sandbox grants entry by entry, and carries directory, variables, functions and options
// over. A shell with background jobs stays, and the model is told.
func (s *Shells) renew(ctx context.Context, one *session, old *shell) (*shell, string, error) {
	if !old.proc.Alone() {
		return old, "[what is new directly in " + strings.Join(s.box.Split(), ", ") + " is out of reach while background jobs run]\n", nil
	}
	old.drain()
	printed := old.said.take() // by jobs that have ended; it belongs to the call that is to come
	state := old.call(ctx, saveState, nil)
	if state.err != nil || state.end != "" {
		return s.fresh(one)
	}
	old.end("it was replaced")
	sh, _, err := s.fresh(one)
	if err != nil {
		return nil, "", err
	}
	if out := sh.call(ctx, state.text, nil); out.err != nil {
		return s.fresh(one)
	}
	return sh, printed, nil
}
