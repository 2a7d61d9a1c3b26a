//go:build crashpoints && unix

package store

import (
	"fmt"
	"os"
	"syscall"
)

// crashPoint kills the process, as kill -9 does, right before or right after the
// commit that HITCHPOST_CRASH names: "before SEQ SESSION" or "after SEQ SESSION".
// Only test binaries have it.
func crashPoint(when string, group []*request) {
	var at, session string
	var seq int64
	if n, _ := fmt.Sscan(os.Getenv("HITCHPOST_CRASH"), &at, &seq, &session); n != 3 || at != when {
		return
	}
	for _, r := range group {
		if r.err == nil && r.log != nil && r.log.id == session && r.from <= seq && seq < r.from+int64(len(r.records)) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
}
