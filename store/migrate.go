package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// headerSize is the length in bytes of SQLite's file header.
const headerSize = 100

// inspect reads the header of the file at path with plain reads, so that a
// file we refuse is not even opened as a database. fresh is true when there is
// nothing yet: no file, or an empty one.
func inspect(path string) (fresh bool, err error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("open %s: %w", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("open %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("open %s: %w: it is no regular file", path, ErrForeign)
	}
	if info.Size() == 0 {
		return true, nil
	}
	var h [headerSize]byte
	if _, err := io.ReadFull(f, h[:]); err != nil || string(h[:16]) != "SQLite format 3\x00" {
		return false, fmt.Errorf("open %s: %w: it is no SQLite database", path, ErrForeign)
	}
	return false, accept(path, int64(binary.BigEndian.Uint32(h[68:])), int64(binary.BigEndian.Uint32(h[60:])))
}

// accept refuses a file by its application id and its schema version.
func accept(path string, app, version int64) error {
	if app != applicationID {
		return fmt.Errorf("open %s: %w: it is a SQLite database of another application (application_id %d)", path, ErrForeign, app)
	}
	if version > int64(len(migrations)) {
		return fmt.Errorf("open %s: %w: its schema is %d, this version knows %d; use the newer hitchpost", path, ErrNewer, version, len(migrations))
	}
	return nil
}

// migrate brings the schema forward, each step in a transaction of its own.
func migrate(ctx context.Context, conn *sql.Conn, steps []string) error {
	var have int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	for n := have; n < len(steps); n++ {
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return fmt.Errorf("migrate to schema %d: %w", n+1, err)
		}
		// One script a step: the driver runs its statements one after the other.
		if _, err = tx.ExecContext(ctx, steps[n]); err == nil {
			_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", n+1))
		}
		if err != nil {
			tx.Rollback()
			return fmt.Errorf("migrate to schema %d: %w", n+1, err)
		}
		if err := tx.Commit(); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", n+1, err)
		}
	}
	return nil
}

// create makes the file under a temporary name and renames it into place, so
// that at path there is never a half-made log. The marks by which a file is
// recognised are in its header then, and not only in a write-ahead log.
func create(ctx context.Context, path string) error {
	tmp := path + ".new"
	for _, leftover := range []string{tmp, tmp + "-journal", tmp + "-wal", tmp + "-shm"} {
		if err := os.Remove(leftover); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("create %s: %w", path, err)
		}
	}
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // -wal and -shm inherit the mode
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	f.Close()
	if err := fill(ctx, tmp); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return moveInto(tmp, path)
}

func fill(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", dsn(path, "rw", "_synchronous=FULL"))
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := migrate(ctx, conn, migrations); err != nil {
		return err
	}
	for _, q := range []string{
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		"INSERT INTO meta VALUES('log_id', lower(hex(randomblob(8)))), ('wal_needed', '0')",
		"PRAGMA journal_mode = WAL",
	} {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}
