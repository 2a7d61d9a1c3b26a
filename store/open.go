package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"
)

// Must come before the first open of any database. With the locks that SQLite takes
// by default, any close of the file in this process (inspect's, say) would drop
// those of its connections. Where the system lacks the better ones the default
// stays, and the lock file still keeps other servers away.
func init() { sqlite.OFDLocking(true) }

// Durability of a commit, see Options.
const (
	Full   = "full"   // synced: survives loss of power
	Normal = "normal" // survives the death of the process
)

// DefaultRecentEvents is the default of Options.RecentEvents.
const DefaultRecentEvents = 1024

// Options tune an open store. The zero value is the default.
type Options struct {
	Durability   string // Full ("" too) or Normal
	RecentEvents int    // recent events kept for live readers of a log, at least a reader's bound; 0 = DefaultRecentEvents

	// SearchText returns the text of a structural event that Search finds it by; "" = none.
	// nil: titles are found only. It is called by whoever appends, at any time.
	SearchText func(typ string, payload json.RawMessage) string

	fault func(stage string) error // tests: a failure to inject before "insert" or "commit", or in a "chore"
}

// Store is an open file. Its methods may be called from any goroutine.
type Store struct {
	path    string
	options Options
	lock    *fileLock
	logID   string

	write   *sql.DB // one connection, the writer's
	read    *sql.DB // mode=ro
	queries queries
	gate    sync.RWMutex // held shared by a read: see reading
	ended   bool         // guarded by gate
	writer  *writer
	health  health

	committing atomic.Pointer[commit] // the writer's, until it is published; nil = none

	mu   sync.Mutex
	logs map[string]*Log
	keys atomic.Int64 // the highest key of a session that was given out

	closing sync.Once
	closed  error
}

// Open opens the log file at path, which it creates if there is none, and takes
// it for this process. It refuses with ErrLocked (the text names the holder),
// ErrForeign, ErrNewer or ErrWAL, and then has not touched the file.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	path, err := realPath(path)
	if err != nil {
		return nil, err
	}
	lock, err := lockFile(path)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, options: o, lock: lock, logs: make(map[string]*Log)}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.shut())
	}
	go s.writer.run()
	return s, nil
}

func (o *Options) check() error {
	switch o.Durability {
	case "":
		o.Durability = Full
	case Full, Normal:
	default:
		return fmt.Errorf("durability is %q; set it to %q or %q", o.Durability, Full, Normal)
	}
	if o.RecentEvents == 0 {
		o.RecentEvents = DefaultRecentEvents
	}
	if o.RecentEvents < 0 {
		return fmt.Errorf("recent events is %d; set it to 1 or more", o.RecentEvents)
	}
	return nil
}

func (s *Store) open(ctx context.Context) error {
	fresh, err := inspect(s.path)
	if err != nil {
		return err
	}
	if fresh {
		if err := create(ctx, s.path); err != nil {
			return err
		}
	} else if err := inspectWAL(ctx, s.path); err != nil {
		return err
	}
	if err := s.openReaders(ctx); err != nil {
		return opening(s.path, err)
	}
	if err := s.openWriter(ctx); err != nil {
		return opening(s.path, err)
	}
	return nil
}

// readers is the number of connections that read at the same time.
const readers = 8

// openReaders opens the read-only connections, looks with their eyes at what the
// file together with its write-ahead log says it is, and prepares the queries.
func (s *Store) openReaders(ctx context.Context) (err error) {
	s.read, err = sql.Open("sqlite", dsn(s.path, "ro", "_query_only=1"))
	if err != nil {
		return err
	}
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var app, version int64
	if err := conn.QueryRowContext(ctx, "SELECT * FROM pragma_application_id, pragma_user_version").Scan(&app, &version); err != nil {
		return err
	}
	if err := accept(s.path, app, version); err != nil {
		return err
	}
	return confirm(ctx, conn, map[string]string{"query_only": "1", "busy_timeout": "5000"})
}

func (s *Store) openWriter(ctx context.Context) (err error) {
	synchronous := map[string]string{Full: "2", Normal: "1"}[s.options.Durability]
	s.write, err = sql.Open("sqlite", dsn(s.path, "rw", "_journal_mode=WAL", "_synchronous="+synchronous, "_txlock=immediate",
		"_pragma=wal_autocheckpoint(0)", fmt.Sprintf("_pragma=journal_size_limit(%d)", walKept)))
	if err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			conn.Close()
		}
	}()
	if err := confirm(ctx, conn, map[string]string{"journal_mode": "wal", "synchronous": synchronous,
		"busy_timeout": "5000", "wal_autocheckpoint": "0", "journal_size_limit": fmt.Sprint(walKept)}); err != nil {
		return err
	}
	if err := migrate(ctx, conn, migrations); err != nil {
		return err
	}
	if err := conn.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = 'log_id'").Scan(&s.logID); err != nil {
		return fmt.Errorf("read the log id: %w", err)
	}
	var highest int64
	if err := conn.QueryRowContext(ctx, "SELECT max((SELECT coalesce(max(key), 0) FROM sessions), (SELECT coalesce(max(key), 0) FROM leftovers))").
		Scan(&highest); err != nil {
		return fmt.Errorf("read the highest key: %w", err)
	}
	s.keys.Store(highest)
	if err := s.queries.prepare(ctx, s.read); err != nil { // after the migrations
		return err
	}
	s.writer, err = newWriter(ctx, s, conn)
	return err
}

// LogID is the identity of the file: 16 hex digits, another one in every backup.
func (s *Store) LogID() string { return s.logID }

// SetHolder says who has the file, such as the address a server listens on, so
// that a second server's refusal can name it.
func (s *Store) SetHolder(info string) error { return s.lock.name(info) }

// Close commits what was accepted, waits for reads under way, folds the
// write-ahead log into the file and lets the file go. Later calls return what the first one did.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.writer.stop()
		s.gate.Lock() // reads under way end first, or they would keep the write-ahead log from being folded in
		s.ended = true
		s.gate.Unlock()
		s.closed = s.shut()
	})
	return s.closed
}

// shut closes whatever is open, the writer's connection last: the last one to
// close removes the write-ahead log, and a read-only one could not.
func (s *Store) shut() error {
	var errs []error
	if s.read != nil {
		errs = append(errs, s.read.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.finish())
	}
	if s.write != nil {
		errs = append(errs, s.write.Close())
	}
	errs = append(errs, s.lock.release())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close %s: %w", s.path, err)
	}
	return nil
}

// reading begins a read, which ends with done. The writer waits for the reads
// under way, and holds back new ones, for the moment it takes to reset a
// write-ahead log that has grown because reads overlapped without a break.
func (s *Store) reading() (done func(), err error) {
	s.gate.RLock()
	if s.ended {
		s.gate.RUnlock()
		return nil, ErrClosed
	}
	return s.gate.RUnlock, nil
}

// exists tells whether there is a file at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
