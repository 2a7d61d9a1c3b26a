//go:build !unix

package shell

import (
	"errors"
	"fmt"
	"runtime"

	"hitchpost/turn/tool"
)

// Shells are none on this system.
type Shells struct{}

// New says why there is no Bash here.
func New(Options) (*Shells, error) {
	return nil, fmt.Errorf("Bash is not offered on %s: what a command starts could not be ended with it: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Tools is empty.
func (s *Shells) Tools() []tool.Tool { return nil }

// Close does nothing.
func (s *Shells) Close(string) {}

// CloseAll does nothing.
func (s *Shells) CloseAll() {}
