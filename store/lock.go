package store

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
)

// fileLock keeps a second process off the log. It is a file of its own: the
// kernel drops it with the process, however that ends, and its content names
// the holder for whoever is refused.
type fileLock struct{ f *os.File }

func lockFile(path string) (*fileLock, error) {
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	held, err := tryLock(f)
	if held {
		holder, _ := io.ReadAll(io.LimitReader(f, 4096))
		f.Close()
		return nil, fmt.Errorf("open %s: %w: %s", path, ErrLocked, describe(string(holder)))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	l := &fileLock{f}
	if err := l.name(""); err != nil { // on a full disk, say: the file is ours all the same
		slog.Warn("a second process will not be told who has the file", "err", err)
	}
	return l, nil
}

func describe(holder string) string {
	holder = strings.TrimSpace(holder)
	if holder == "" {
		return "held by a process that did not say which: it is starting or stopping, or found no room to write that down; try again"
	}
	return "held by " + holder + "; stop it first"
}

// Holder returns the process that has the log file at path open, 0 for none.
func Holder(path string) (pid int, err error) {
	path, err = realPath(path)
	if err != nil {
		return 0, err
	}
	f, err := os.OpenFile(path+".lock", os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for the holder of %s: %w", path, err)
	}
	defer f.Close() // and with it the lock, if nobody had it
	if held, err := tryLock(f); !held {
		return 0, err
	}
	holder, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return 0, fmt.Errorf("look for the holder of %s: %w", path, err)
	}
	if _, err := fmt.Sscanf(string(holder), "pid %d", &pid); err != nil {
		return 0, fmt.Errorf("%s is %s", path, describe(string(holder)))
	}
	return pid, nil
}

// name writes the holder into the lock file: "pid 123", then where it listens.
func (l *fileLock) name(info string) error {
	text := fmt.Sprintf("pid %d", os.Getpid())
	if info != "" {
		text += " " + strings.ReplaceAll(info, "\n", " ")
	}
	if err := l.write(text + "\n"); err != nil {
		return fmt.Errorf("name the holder in %s: %w", l.f.Name(), err)
	}
	return nil
}

func (l *fileLock) write(text string) error {
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err := l.f.WriteAt([]byte(text), 0)
	return err
}

// release lets the next process in. The file stays: removing it would let two
// processes lock two files of one name.
func (l *fileLock) release() error {
	return errors.Join(l.write(""), l.f.Close())
}
