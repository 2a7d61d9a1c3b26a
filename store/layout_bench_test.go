//go:build linux

package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the CPU time of the process so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// written is the number of bytes the process has handed to write calls so far.
func written(t testing.TB) (n int64) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip("needs /proc/self/io to count what is written")
	}
	for line := range strings.Lines(string(text)) {
		fmt.Sscanf(line, "wchar: %d", &n)
	}
	return n
}

// layout is a candidate for the events table.
type layout struct {
	name, schema string
	page         int
	insert, read string // values: session, seq, pos, event; parameters of selectPage
}

// layouts returns today's schema and those it was chosen over.
func layouts() []layout {
	const columns = "session INTEGER NOT NULL,\n\tseq     INTEGER NOT NULL,"
	const unique = ",\n\tUNIQUE(session, seq)\n) STRICT"
	insert := "INSERT INTO events(session, seq, pos, event, type) VALUES(?,?,?,?,'assistant/chunk')"
	clustered := strings.Replace(schemaV1, unique, ",\n\tPRIMARY KEY(session, seq)\n) WITHOUT ROWID, STRICT", 1)
	packed := strings.Replace(schemaV1, columns, `place INTEGER PRIMARY KEY,
		session INTEGER GENERATED ALWAYS AS (place >> 32) VIRTUAL, seq INTEGER GENERATED ALWAYS AS (place & 0xffffffff) VIRTUAL,`, 1)
	packed = strings.Replace(packed, unique, ") STRICT", 1)
	return []layout{
		{"rowid+unique", schemaV1, 4096, insert, selectPage},
		{"rowid+unique", schemaV1, 2048, insert, selectPage},
		{"without-rowid", clustered, 4096, insert, selectPage},
		{"packed-key", packed, 4096,
			"INSERT INTO events(place, pos, event, type) VALUES((? << 32) + ?,?,?,'assistant/chunk')",
			`SELECT count(*), max(pos), CAST(group_concat(event, char(10)) AS BLOB) FROM events
				WHERE place >= (?1 << 32) + ?2 AND place < (?1 << 32) + ?2 + ?3 AND ?4 > 0`},
	}
}

// BenchmarkLayout gives the figures beside the schema: 64 sessions grow by turns
// to 1,000 events of 350 bytes each, 64 events a commit, and one is read from a cold file.
func BenchmarkLayout(b *testing.B) {
	for _, l := range layouts() {
		b.Run(fmt.Sprintf("%s/page=%d", l.name, l.page), func(b *testing.B) {
			for b.Loop() {
				l.measure(b)
			}
		})
	}
}

// sample is an envelope of 350 bytes.
func sample() string {
	line := `{"id":"0123456789abcdef","session_id":"s1","seq":1,"at":"2026-08-18T04:10:11.123456Z","type":"assistant/chunk","payload":{"text":"`
	return line + strings.Repeat("x", 350-len(line)-3) + `"}}`
}

func (l layout) measure(b *testing.B) {
	const sessions, each = 64, 1000
	ctx := context.Background()
	path := filepath.Join(b.TempDir(), "layout.db")
	db, err := sql.Open("sqlite", "file:"+path+fmt.Sprintf("?_pragma=page_size(%d)&_journal_mode=WAL&_synchronous=FULL&_pragma=wal_autocheckpoint(4000)&_txlock=immediate", l.page))
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(l.schema); err != nil {
		b.Fatal(err)
	}
	line := sample()
	insert, err := db.Prepare(l.insert)
	if err != nil {
		b.Fatal(err)
	}
	cpu, wrote := cpuTime(), written(b)
	for seq := range each {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			b.Fatal(err)
		}
		in := tx.Stmt(insert)
		for s := range sessions {
			if _, err := in.Exec(s, seq, (seq+1)*len(line), line); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	const n = sessions * each
	b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/1e3/n, "append-µs-CPU/event")
	b.ReportMetric(float64(written(b)-wrote)/n, "disk-B/event")
	insert.Close()
	db.Close()
	l.replay(b, path, each)
}

func (l layout) replay(b *testing.B, path string, each int) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	b.ReportMetric(float64(info.Size())/float64(64*each), "file-B/event")
	f.Sync()
	unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	for _, kind := range []string{"cold", "warm"} {
		cpu, start := cpuTime(), time.Now()
		for from := 0; from < each; from += PageEvents {
			var n int
			var pos sql.NullInt64
			var text []byte
			if err := db.QueryRow(l.read, 7, from, PageEvents, PageBytes).Scan(&n, &pos, &text); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(time.Since(start).Nanoseconds())/1e3/float64(each), kind+"-µs/event")
		b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/1e3/float64(each), kind+"-µs-CPU/event")
	}
}
