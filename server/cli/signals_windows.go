package cli

import (
	"os"
	"syscall"
)

// stopSignals end the server after it has drained.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// reloadSignals: Windows has no signal that means this.
func reloadSignals() (<-chan os.Signal, func()) { return nil, func() {} }
