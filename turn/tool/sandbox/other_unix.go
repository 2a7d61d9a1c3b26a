//go:build unix && !linux

package sandbox

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

var self, _ = os.Executable() // "" makes Start fail by name

var system []string

func adopt() error { return nil }

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// descendants are not known here: a process that leaves the command's group is lost
// from sight.
func descendants(int) []int { return nil }

// entries are of no concern where no folder is ever split.
func (s *Sandbox) entries() string { return "" }

type census struct{}

func newCensus(int) census { return census{} }

func (census) take() int { return 0 }

// Probe says that this system can hold nothing.
func Probe() Support { return Support{Reason: "Landlock is a part of Linux, this is " + runtime.GOOS} }

func confine(told spec) error {
	if err := keepOnly(); err != nil {
		return err
	}
	if err := os.Chdir(told.Dir); err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return err
	}
	return syscall.Exec(told.Argv[0], told.Argv, os.Environ())
}
