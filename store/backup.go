package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Backup copies the log file at path to dest, also while another process serves
// it: one consistent moment, verified, with a log id of its own, under a
// temporary name until it is whole. dest must not exist.
func Backup(ctx context.Context, path, dest string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("back up %s: %w", path, err)
		}
	}()
	if exists(dest) {
		return fmt.Errorf("%s exists already; name a new file", dest)
	}
	db, err := openOutside(ctx, path)
	if err != nil {
		return err
	}
	defer db.Close()
	// Reserved first, so that the copy is born private: SQLite keeps the mode.
	f, err := os.CreateTemp(filepath.Dir(dest), ".hitchpost-backup-*") // mode 0600
	if err != nil {
		return err
	}
	tmp := f.Name()
	f.Close()
	defer os.Remove(tmp) // after the rename there is nothing of that name
	// Not stepwise: a stepwise copy starts over with each commit of the server.
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", tmp); err != nil {
		return err
	}
	if err := rename(ctx, tmp); err != nil {
		return err
	}
	report, err := Verify(ctx, tmp, nil)
	if err != nil {
		return err
	}
	if err := report.Err(); err != nil {
		return err
	}
	return moveInto(tmp, dest)
}

// rename gives a copy its own identity. A copy comes out without the WAL mode of
// the original; Open turns it on again.
func rename(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", dsn(path, "rw", "_synchronous=FULL"))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, `UPDATE meta SET value = CASE name WHEN 'log_id' THEN lower(hex(randomblob(8))) ELSE '0' END
		WHERE name IN ('log_id', 'wal_needed')`)
	return errors.Join(err, db.Close())
}

// openOutside opens a log file for reading, beside the process that has it.
func openOutside(ctx context.Context, path string) (*sql.DB, error) {
	path, err := realPath(path)
	if err != nil {
		return nil, err
	}
	fresh, err := inspect(path)
	if err != nil {
		return nil, err
	}
	if !exists(path) {
		return nil, fmt.Errorf("%s: %w; is it the configuration's database, and of this folder?", path, os.ErrNotExist)
	}
	if fresh {
		return nil, fmt.Errorf("%s: %w: there is nothing in it", path, ErrForeign)
	}
	db, err := sql.Open("sqlite", dsn(path, "ro")) // not query_only, which forbids VACUUM INTO
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}
