package cli

import (
	"errors"
	"os"
	"syscall"
)

// stopSignals end the server after it has drained.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// reloadSignals: Windows has no signal that means this.
func reloadSignals() (<-chan os.Signal, func()) { return nil, func() {} }

func askToReload(int) error {
	return errors.New("Windows has no signal for it; start the server again")
}
