package store

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// dsn names the file for the driver. EscapedPath, since ? and # are legal in a
// file's name; settings beside _pragma are checked by the driver, and all of
// them are read back by confirm.
func dsn(path, mode string, settings ...string) string {
	u := url.URL{Path: path}
	return "file:" + u.EscapedPath() + "?mode=" + mode + "&_busy_timeout=5000&" + strings.Join(settings, "&")
}

// confirm reads settings back: a misspelt pragma passes SQLite in silence.
func confirm(ctx context.Context, conn *sql.Conn, want map[string]string) error {
	for name, value := range want {
		var got string
		if err := conn.QueryRowContext(ctx, "PRAGMA "+name).Scan(&got); err != nil {
			return fmt.Errorf("read back pragma %s: %w", name, err)
		}
		if got != value {
			return fmt.Errorf("pragma %s is %s, not %s as set", name, got, value)
		}
	}
	return nil
}

// moveInto renames a finished file to its place and makes both durable.
func moveInto(tmp, path string) error {
	f, err := os.OpenFile(tmp, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("finish %s: %w", path, err)
	}
	err = f.Sync()
	f.Close()
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return fmt.Errorf("finish %s: %w", path, err)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("finish %s: %w", path, err)
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("finish %s: %w", path, err)
	}
	return nil
}

// realPath resolves links, so that two names of one file share one lock.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", path, err)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs)) // the file is still to be made
	if err != nil {
		return "", fmt.Errorf("open %s: %w", path, err)
	}
	return filepath.Join(dir, filepath.Base(abs)), nil
}
