//go:build !unix

package sandbox

import (
	"errors"
	"fmt"
	"runtime"
)

// Main does nothing on this system.
func Main() {}

// Probe says that this system can hold nothing.
func Probe() Support { return Support{Reason: "Landlock is a part of Linux, this is " + runtime.GOOS} }

func (s *Sandbox) entries() string { return "" }

func descendants(int) []int { return nil }

// Start fails: a command's children cannot be held together on this system.
func (s *Sandbox) Start(Command) (*Process, error) {
	return nil, fmt.Errorf("commands do not run on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
