package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"modernc.org/sqlite"
)

// The write-ahead log is checkpointed by the writer between two transactions.
const (
	walPages = 4000               // pages after which it is checkpointed; of 4 KiB
	walRetry = 1000               // further pages before another try, when readers held it up
	walGated = walPages * 3 / 2   // pages after which reads are held back for the moment a reset takes
	walKept  = walPages * 4 << 10 // bytes the file is cut back to when it was reset after growing beyond them
)

// meta's wal_needed is 1 in the file proper and 0 in the write-ahead log as long
// as the latter holds commits the former lacks. So a file that reads 1 without
// its write-ahead log has lost commits, while one whose write-ahead log somebody
// folded in (sqlite3 does, when it is the last to close) reads 0.
const setNeeded = "UPDATE meta SET value = ? WHERE name = 'wal_needed'"

// checkpoints says when the writer checkpoints, and does it.
type checkpoints struct {
	conn *sql.Conn
	wal  string // path of the write-ahead log
	next int    // pages written by the connection at which the next one is due
}

// due tells whether so many pages were written that a checkpoint is due.
func (c *checkpoints) due() bool { return c.written() >= c.next }

// written is the number of pages the connection has written to the write-ahead log.
func (c *checkpoints) written() (pages int) {
	c.conn.Raw(func(dc any) error {
		pages, _, _ = dc.(sqlite.DBStatus).Status(sqlite.DBStatusCacheWrite, false) // fails for an unknown counter only
		return nil
	})
	return pages
}

// run copies the write-ahead log into the file, as far as readers allow, and
// returns the pages it holds now. PASSIVE: the file is kept and overwritten from
// its start by the next commit, which syncs faster than a file that grows.
func (c *checkpoints) run(ctx context.Context) (pages int, err error) {
	before := c.salts()
	if _, err := c.conn.ExecContext(ctx, setNeeded, "1"); err != nil {
		return 0, fmt.Errorf("checkpoint: %w", err)
	}
	var busy, done int
	if err := c.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &done); err != nil {
		return 0, fmt.Errorf("checkpoint: %w", err)
	}
	if _, err := c.conn.ExecContext(ctx, setNeeded, "0"); err != nil {
		return 0, fmt.Errorf("checkpoint: %w", err)
	}
	c.next = c.written() + walPages
	if c.salts() == before { // some reader still needs it: the commit was added at its end
		c.next = c.written() + walRetry
	}
	return pages, nil
}

// salts are in the header of the write-ahead log and change with each reset.
func (c *checkpoints) salts() (salts [8]byte) {
	f, err := os.Open(c.wal)
	if err != nil {
		return salts // seen as no reset: the next checkpoint comes early
	}
	defer f.Close()
	f.ReadAt(salts[:], 16)
	return salts
}

// fold empties the write-ahead log into the file, at the end.
func (c *checkpoints) fold(ctx context.Context) error {
	var busy, pages, done int
	if _, err := c.conn.ExecContext(ctx, setNeeded, "0"); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if err := c.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &done); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil // busy: somebody outside reads; the write-ahead log stays beside the file, whole
}

// inspectWAL refuses a file whose write-ahead log is missing or of another file,
// as far as that can be told; SQLite would ignore either in silence.
func inspectWAL(ctx context.Context, path string) error {
	id, needed, err := readMeta(ctx, path, "immutable=1") // the file alone
	if err != nil {
		return nil // torn by a checkpoint that was cut off: only together with its log it can be read
	}
	f, err := os.Open(path + "-wal")
	if os.IsNotExist(err) {
		if needed {
			return fmt.Errorf("open %s: %w: %s-wal is missing, and with it the newest events; put it back beside the file, "+
				"or make an empty file of that name to go on without them", path, ErrWAL, path)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer f.Close()
	var h [32]byte
	if _, err := io.ReadFull(f, h[:]); err != nil {
		return nil // cut short: nothing was committed to it, or it was lost by a power cut
	}
	if !walHeader(h[:]) {
		return fmt.Errorf("open %s: %w: %s-wal is no write-ahead log of SQLite; move it away, put the right one in its place", path, ErrWAL, path)
	}
	other, _, err := readMeta(ctx, path, "_query_only=1")
	if err != nil {
		return fmt.Errorf("open %s: %w, or one of the two is damaged: %w", path, ErrWAL, err)
	}
	if other != id {
		return fmt.Errorf("open %s: %w: %s-wal was written for another file; put the right one in its place", path, ErrWAL, path)
	}
	return nil
}

// walHeader tells whether h is the header of a write-ahead log; SQLite ignores one that is not.
func walHeader(h []byte) bool {
	var order binary.ByteOrder = binary.LittleEndian
	switch binary.BigEndian.Uint32(h) {
	case 0x377f0682:
	case 0x377f0683:
		order = binary.BigEndian
	default:
		return false
	}
	var a, b uint32
	for i := 0; i < 24; i += 8 {
		a += order.Uint32(h[i:]) + b
		b += order.Uint32(h[i+4:]) + a
	}
	return binary.BigEndian.Uint32(h[24:]) == a && binary.BigEndian.Uint32(h[28:]) == b
}

// readMeta reads a file's identity and mark, on a connection of its own.
func readMeta(ctx context.Context, path, setting string) (logID string, needed bool, err error) {
	db, err := sql.Open("sqlite", dsn(path, "ro", setting))
	if err != nil {
		return "", false, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, `SELECT (SELECT value FROM meta WHERE name = 'log_id'),
		(SELECT value = '1' FROM meta WHERE name = 'wal_needed')`).Scan(&logID, &needed)
	return logID, needed, err
}
