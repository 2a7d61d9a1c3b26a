//go:build !windows

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// stopSignals end the server after it has drained.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// reloadSignals gives the signals that ask for the configuration to be read again.
func reloadSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// askToReload sends the signal that reloadSignals waits for.
func askToReload(pid int) error { return syscall.Kill(pid, syscall.SIGHUP) }
