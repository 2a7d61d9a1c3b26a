package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the lock, or tells that another process has it. Windows refuses reads
// of a locked range, so the range lies far behind the holder's name.
func tryLock(f *os.File) (held bool, err error) {
	where := &windows.Overlapped{Offset: 1 << 30}
	const alone = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), alone, 0, 1, 0, where)
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION), err
}
