package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Reasons for which the store refuses. Errors wrap one of them and say what was
// attempted; compare with errors.Is.
var (
	ErrNotFound = errors.New("no such session")
	ErrExists   = errors.New("the session exists already")
	ErrDeleted  = errors.New("the session was deleted, its id stays taken")
	ErrConflict = errors.New("conflict with what the log holds")
	ErrInvalid  = errors.New("not storable")
	ErrClosed   = errors.New("the store is closed")
	ErrDamaged  = errors.New("a stored event is damaged")

	ErrLocked  = errors.New("the file is in use by another process")
	ErrNewer   = errors.New("the file was written by a newer version")
	ErrForeign = errors.New("the file is not a Hitchpost log")
	ErrWAL     = errors.New("the write-ahead log does not belong to the file")
)

// sharedFault tells whether err is the file's or the machine's trouble, which
// every request of a transaction shares, and not the doing of one request.
func sharedFault(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH,
		sqlite3.SQLITE_RANGE, sqlite3.SQLITE_ERROR:
		return false
	}
	return true
}

func isConstraint(err error) bool { return hasCode(err, sqlite3.SQLITE_CONSTRAINT) }

// isFull tells whether there was no room on the disk.
func isFull(err error) bool { return hasCode(err, sqlite3.SQLITE_FULL) }

func hasCode(err error, code int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == code
}

// opening says of an error of the open what SQLite's own words do not.
func opening(path string, err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE {
		return fmt.Errorf("open %s: no room on the disk for %[1]s-shm, of 32 KiB, without which it cannot be read; make some: %w", path, err)
	}
	return fmt.Errorf("open %s: %w", path, err)
}
