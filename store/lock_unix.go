//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock, or tells that another process has it.
func tryLock(f *os.File) (held bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return errors.Is(err, syscall.EWOULDBLOCK), err
}
