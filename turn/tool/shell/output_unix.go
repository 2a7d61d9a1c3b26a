//go:build unix

package shell

import (
	"golang.org/x/sys/unix"
)

const readSize = 32 << 10 // bytes

// readOutput takes in what the shell prints until nobody can print any more. Reading
// and keeping are one step under the capture's lock, so that drain can read beside it
// and all stays in order.
func (sh *shell) readOutput() {
	raw, err := sh.output.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, readSize)
	for {
		n, failed := 0, error(nil)
		err := raw.Read(func(fd uintptr) bool {
			n, failed = sh.said.read(int(fd), buf)
			return failed != unix.EAGAIN
		})
		if err != nil || failed != nil && failed != unix.EINTR || failed == nil && n <= 0 {
			return
		}
	}
}

// drain takes in what is in the pipe now, and no more, however fast it is filled again.
// Whatever was printed before an event that we have seen is kept once drain is back.
func (sh *shell) drain() {
	raw, err := sh.output.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, readSize)
	raw.Control(func(fd uintptr) {
		left, err := unix.IoctlGetInt(int(fd), fionread)
		for err == nil && left > 0 {
			n := 0
			n, err = sh.said.read(int(fd), buf[:min(left, len(buf))])
			left -= max(n, 1)
		}
	})
}
