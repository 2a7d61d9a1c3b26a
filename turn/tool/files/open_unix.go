//go:build unix

package files

import (
	"os"
	"syscall"
)

// A pipe without a writer would otherwise hold the one who opens it, for ever.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK
