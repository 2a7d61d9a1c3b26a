//go:build unix

package shell

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// saveState prints bash code that brings a fresh shell to where this one is. Options
// come last, so that none of them (errexit, say) meets what fails on the way, as setting
// bash's own constants does. It goes to a file, since of an output the middle is left out.
const saveState = `{ declare -p; declare -f; alias -p; trap -p; umask -p; printf 'builtin cd -- %%q\n' "$PWD"; shopt -p; set +o; } 2>/dev/null >|%s`

// loadState runs that code. A trap on RETURN would take the end of source for its own.
const loadState = `builtin eval "$(<%s)"`

// renew replaces a shell by one that reaches what has come to the folders that the
// sandbox grants entry by entry, and carries directory, variables, functions and options
// over. A shell with background jobs stays, and the model is told.
func (s *Shells) renew(ctx context.Context, one *session, old *shell) (*shell, string, error) {
	if !old.proc.Alone() {
		return old, "[what is new directly in " + strings.Join(s.box.Split(), ", ") + " is out of reach while background jobs run]\n", nil
	}
	old.drain()
	printed := old.said.take()                     // by jobs that have ended; it belongs to the call that is to come
	file, err := os.CreateTemp(one.temp, "state-") // a new name: nothing that a command left there can stand for it
	if err != nil {
		return nil, "", fmt.Errorf("the shell's state cannot be kept: %w", err)
	}
	file.Close()
	defer os.Remove(file.Name())
	state := old.call(ctx, fmt.Sprintf(saveState, quoted(file.Name())), nil)
	switch {
	case state.err != nil || state.end != "":
		return s.fresh(one)
	case state.code != 0: // no room for it, say
		return old, "[what is new directly in " + strings.Join(s.box.Split(), ", ") + " is out of reach: the shell's state could not be written to $TMPDIR]\n" + printed, nil
	}
	old.end("it was replaced")
	sh, _, err := s.fresh(one)
	if err != nil {
		return nil, "", err
	}
	if out := sh.call(ctx, fmt.Sprintf(loadState, quoted(file.Name())), nil); out.err != nil {
		return s.fresh(one)
	}
	return sh, printed, nil
}

// quoted is a word of bash that stands for exactly this text.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
