package turn

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
)

// simPause is the virtual time that a transaction takes, before its first row and
// before its commit. Time stands still while anybody can run, so by then everybody
// whom the last commit answered has come as far as he can, in every run alike: the
// same requests share a transaction, and the same answers were heard before it.
const simPause = time.Microsecond

// crashPoint says what of a commit is on the disk when the process dies at it.
type crashPoint string

const (
	beforeCommit crashPoint = "before" // nothing
	afterCommit  crashPoint = "after"  // all, and nobody was answered
	amidCommit   crashPoint = "amid"   // the first bytes of what it writes to the write-ahead log
)

// disk is what lies under one life of the process: real files, and the faults they
// have. SQLite asks it before every commit, so that the store needs no seam for it.
type disk struct {
	path string
	heir string            // where the files are left when the process dies
	cut  func(int64) int64 // of so many bytes that a commit wrote, those that are kept

	writing atomic.Bool // the open transaction has changed a row

	mu      sync.Mutex
	writer  driver.ExecerContext // the connection that the faults of SQLite's own are set on
	pausing int                  // commits under way that will go on by themselves
	stall   chan struct{}        // commits wait for its end; nil: none does
	stalled bool                 // one does
	sound   int                  // commits that still go through before those
	failing int                  // commits to be refused
	refused int                  // those that were
	crashIn int                  // commits until the process dies; 0: it does not
	point   crashPoint
	wal     int64 // length of the write-ahead log before the last commit
	dying   bool  // the last commit goes through; nobody hears of it
	dead    bool  // nothing is written any more
	err     error // the files could not be left
}

// disks finds the disk of a path. The driver knows hooks only for all connections.
var disks = struct {
	sync.Mutex
	of map[string]*disk
}{of: map[string]*disk{}}

func init() {
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, dsn string) error {
		path, settings, _ := strings.Cut(strings.TrimPrefix(dsn, "file:"), "?")
		disks.Lock()
		d := disks.of[path]
		disks.Unlock()
		if d == nil || !strings.Contains(settings, "mode=rw") {
			return nil
		}
		hooks := conn.(sqlite.HookRegisterer)
		hooks.RegisterPreUpdateHook(func(sqlite.SQLitePreUpdateData) { d.write() })
		hooks.RegisterCommitHook(d.commit)
		hooks.RegisterRollbackHook(d.rollback)
		d.mu.Lock()
		d.writer = conn
		d.mu.Unlock()
		return nil
	})
}

func newDisk(path, heir string, cut func(int64) int64) *disk {
	d := &disk{path: path, heir: heir, cut: cut}
	disks.Lock()
	defer disks.Unlock()
	disks.of[path] = d
	return d
}

func (d *disk) forget() {
	disks.Lock()
	defer disks.Unlock()
	delete(disks.of, d.path)
}

// write is called by SQLite before each row that changes.
func (d *disk) write() {
	if !d.writing.Swap(true) {
		d.pause()
	}
}

func (d *disk) rollback() { d.writing.Store(false) }

// commit is called by SQLite in the goroutine that commits; 0 lets it.
func (d *disk) commit() (refused int32) {
	d.writing.Store(false)
	d.pause()
	d.mu.Lock()
	defer d.mu.Unlock()
	if stall := d.stall; stall != nil && !d.dead {
		d.stalled = true
		d.mu.Unlock()
		<-stall
		d.mu.Lock()
		d.stalled = false
	}
	switch {
	case d.dead:
		return 1
	case d.dying:
		d.die()
		return 1
	case d.failing > 0 && d.sound > 0:
		d.sound--
	case d.failing > 0:
		d.failing--
		d.refused++
		return 1
	}
	if d.crashIn == 0 {
		return 0
	}
	if d.crashIn--; d.crashIn > 0 {
		return 0
	}
	if d.point == beforeCommit {
		d.die()
		return 1
	}
	d.dying, d.wal = true, fileSize(d.path+"-wal")
	return 0
}

func (d *disk) pause() {
	d.mu.Lock()
	d.pausing++
	d.mu.Unlock()
	time.Sleep(simPause)
	d.mu.Lock()
	d.pausing--
	d.mu.Unlock()
}

// die leaves the files as they are for the next life. It runs where nobody writes:
// in a commit that is refused, or when everybody waits.
func (d *disk) die() {
	d.dead = true
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(d.path+suffix, d.heir+suffix); err != nil && !os.IsNotExist(err) {
			d.err = fmt.Errorf("leave the files of a crash: %w", err)
		}
	}
	if grown := fileSize(d.heir+"-wal") - d.wal; d.dying && d.point == amidCommit && grown > 0 {
		if err := os.Truncate(d.heir+"-wal", d.wal+d.cut(grown)); err != nil {
			d.err = fmt.Errorf("cut the write-ahead log: %w", err)
		}
	}
}

// kill is the death of the process between two commits, or at one that stalls.
func (d *disk) kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.dead {
		d.die()
	}
	d.releaseLocked()
}

// gone tells whether what the process says reaches anybody.
func (d *disk) gone() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dying || d.dead
}

func (d *disk) busy() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pausing > 0
}

func (d *disk) hold() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stall = make(chan struct{})
}

func (d *disk) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.releaseLocked()
}

func (d *disk) releaseLocked() {
	if d.stall != nil {
		close(d.stall)
		d.stall = nil
	}
}

// isStalled tells whether a commit waits, and whether the next one will.
func (d *disk) isStalled() (now, next bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stalled, d.stall != nil
}

func (d *disk) refusals() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused
}

// fail refuses so many commits, behind so many that still go through.
func (d *disk) fail(sound, commits int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sound, d.failing = sound, commits
}

func (d *disk) crash(in int, at crashPoint) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.crashIn, d.point = in, at
}

// pragma sets a fault of SQLite's own. Only between two transactions.
func (d *disk) pragma(setting string) error {
	_, err := d.writer.ExecContext(context.Background(), "PRAGMA "+setting, nil)
	return err
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}
