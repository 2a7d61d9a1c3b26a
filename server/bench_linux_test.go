package server_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// replayed is how many events the replay benchmarks replay; a fresh log has one more.
const (
	replayed = 10_000
	textSize = 170 // bytes; the envelope is about twice as long
)

// wire is a client that costs next to nothing: it knows which bytes to expect.
type wire struct {
	b    *testing.B
	conn net.Conn
	r    *bufio.Reader
}

func (s *benchServer) connect(agent string) *wire {
	s.b.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.b.Fatal(err)
	}
	w := &wire{s.b, conn, bufio.NewReaderSize(conn, 512)}
	fmt.Fprintf(conn, "GET /agents/%s/ws HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", agent, s.addr, benchSecret)
	for {
		line, err := w.r.ReadString('\n')
		if err != nil {
			s.b.Fatal(err)
		}
		if line == "\r\n" {
			break
		}
	}
	if hello := w.frame(); !bytes.Contains(hello, []byte(`"hello"`)) {
		s.b.Fatalf("the first frame is %s", hello)
	}
	return w
}

// frame reads one frame of the server, answering no ping.
func (w *wire) frame() []byte {
	w.b.Helper()
	for {
		var head [2]byte
		w.full(head[:])
		n := uint64(head[1])
		switch n {
		case 126:
			var x [2]byte
			w.full(x[:])
			n = uint64(binary.BigEndian.Uint16(x[:]))
		case 127:
			var x [8]byte
			w.full(x[:])
			n = binary.BigEndian.Uint64(x[:])
		}
		p := make([]byte, n)
		w.full(p)
		if head[0] == 0x81 {
			return p
		}
	}
}

func (w *wire) full(p []byte) {
	if _, err := io.ReadFull(w.r, p); err != nil {
		w.b.Fatal(err)
	}
}

func (w *wire) subscribe(from int64) {
	text := fmt.Sprintf(`{"type":"subscribe","from_seq":%d}`, from)
	frame := append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...) // masked with zeros
	if _, err := w.conn.Write(frame); err != nil {
		w.b.Fatal(err)
	}
}

// drain reads n bytes and throws them away.
func (w *wire) drain(n int64) {
	w.b.Helper()
	if _, err := io.CopyN(io.Discard, w.r, n); err != nil {
		w.b.Fatal(err)
	}
}

// rawTCP sends n bytes in 64 KiB writes over loopback and returns the receiver's time.
func rawTCP(b *testing.B, n int64) time.Duration {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		conn.Read(make([]byte, 1)) // the word to go
		chunk := make([]byte, 64<<10)
		for left := n; left > 0; {
			m, err := conn.Write(chunk[:min(left, int64(len(chunk)))])
			if err != nil {
				return
			}
			left -= int64(m)
		}
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	start := time.Now()
	conn.Write([]byte{1})
	if _, err := io.CopyN(io.Discard, conn, n); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

// scanSQL reads the rows of a session as a plain query does, and returns its CPU time.
func scanSQL(b *testing.B, db *sql.DB, session string) time.Duration {
	b.Helper()
	start := cpu()
	rows, err := db.Query("SELECT event FROM events WHERE session = (SELECT key FROM sessions WHERE id = ?) AND seq >= 1 ORDER BY seq", session)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	n := 0
	var line sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&line); err != nil {
			b.Fatal(err)
		}
		n++
	}
	if rows.Err() != nil || n != replayed {
		b.Fatalf("%d rows, %v", n, rows.Err())
	}
	return cpu() - start
}

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median[T int64 | float64 | time.Duration](xs []T) T {
	slices.Sort(xs)
	return xs[len(xs)/2]
}

// BenchmarkReplay measures rows 5 to 8: a replay of 10,000 events, beside raw TCP of
// the same bytes and a plain SQL scan of the same rows, in turns.
func BenchmarkReplay(b *testing.B) {
	path := filepath.Join(b.TempDir(), "log.db")
	s := startBenchServer(b, path)
	s.ask("fill", "s", replayed, textSize)
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()

	probe := s.connect("s")
	probe.subscribe(1)
	var size int64
	for range replayed {
		size += int64(len(probe.frame())) + 4 // of a header
	}
	probe.conn.Close()

	var replay, tcp, scan []time.Duration
	var serverCPU, writes, mallocs, rounds int64
	b.ReportAllocs()
	for b.Loop() {
		w := s.connect("s")
		cpu0, writes0, mallocs0 := s.ask("cpu"), s.ask("writes"), s.ask("mallocs")
		start := time.Now()
		w.subscribe(1)
		w.drain(size)
		replay = append(replay, time.Since(start))
		mallocs += s.ask("mallocs") - mallocs0
		writes += s.ask("writes") - writes0
		serverCPU += s.ask("cpu") - cpu0
		rounds++
		w.conn.Close()
		tcp = append(tcp, rawTCP(b, size))
		scan = append(scan, scanSQL(b, db, "s"))
	}
	var scanned time.Duration
	for _, d := range scan {
		scanned += d
	}
	b.ReportMetric(float64(median(replay))/float64(median(tcp)), "×rawTCP")
	b.ReportMetric(float64(serverCPU)/float64(scanned), "×SQLscanCPU")
	b.ReportMetric(float64(writes)/float64(rounds), "writes/replay")
	b.ReportMetric(float64(mallocs)/float64(rounds)/replayed, "serverallocs/event")
	b.ReportMetric(float64(median(replay).Microseconds()), "µs/replay")
	b.ReportMetric(float64(median(tcp).Microseconds()), "µs/rawTCP")
	b.ReportMetric(float64(median(scan).Microseconds()), "CPUµs/scan")
}

// BenchmarkSubscribeAtTheTip measures row 15: the answer of a log of 1,000,000 events
// beside that of one of 1,000.
func BenchmarkSubscribeAtTheTip(b *testing.B) {
	s := startBenchServer(b, filepath.Join(b.TempDir(), "log.db"))
	tips := map[string]int64{"short": s.ask("fill", "short", 1000, 20), "long": s.ask("fill", "long", 1_000_000, 20)}
	times := map[string][]time.Duration{}
	for b.Loop() {
		for session, tip := range tips {
			start := time.Now()
			w := s.connect(session)
			w.subscribe(tip)
			w.frame()
			times[session] = append(times[session], time.Since(start))
			w.conn.Close()
		}
	}
	long, short := median(times["long"]), median(times["short"])
	b.ReportMetric(float64(long)/float64(short), "×1k")
	b.ReportMetric(float64(long.Microseconds()), "µs/connect+subscribe")
}

// BenchmarkIdleConnection measures row 14: what the whole server holds for each idle
// subscribed connection, as many of them as the limit of open files allows.
func BenchmarkIdleConnection(b *testing.B) {
	var limit syscall.Rlimit
	syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	n := int64(min(9500, limit.Cur-100))
	s := startBenchServer(b, filepath.Join(b.TempDir(), "log.db"))
	for b.Loop() {
		s.connect("warm-up").conn.Close()
		s.ask("free")
		before := s.ask("rss")
		conns := make([]*wire, n)
		for i := range conns {
			conns[i] = s.connect(fmt.Sprintf("agent-%d", i))
			conns[i].subscribe(0)
			if created := conns[i].frame(); !strings.Contains(string(created), "session/created") {
				b.Fatalf("%s", created)
			}
			conns[i].r = nil
		}
		natural := s.ask("rss") - before
		s.ask("free")
		settled := s.ask("rss") - before
		b.ReportMetric(float64(natural)/float64(n), "B/conn")
		b.ReportMetric(float64(settled)/float64(n), "B/conn-settled")
		b.ReportMetric(float64(n), "conns")
		for _, w := range conns {
			w.conn.Close()
		}
	}
}
