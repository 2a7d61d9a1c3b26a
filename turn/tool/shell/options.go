package shell

import (
	"log/slog"
	"time"

	"hitchpost/turn/tool/sandbox"
)

const (
	defaultTimeout = 2 * time.Minute
	maxTimeout     = 10 * time.Minute // of what a call may ask for
	defaultIdle    = 30 * time.Minute
	maxCommand     = 128 << 10 // bytes

	// KillWait is how long a call waits until everything that it started is gone. It
	// is below tool.Grace.
	KillWait = 4 * time.Second
)

// Options are what the shells of a server have in common.
type Options struct {
	Sandbox *sandbox.Sandbox
	Env     []string      // names of environment variables that commands get
	Idle    time.Duration // after which an unused shell is ended; 0 = 30 minutes
	Log     *slog.Logger  // nil = slog.Default
}
