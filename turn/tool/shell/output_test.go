//go:build unix

package shell

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"
)

// Guarantee 3: what a command prints costs no more memory than is kept of it.
func TestHundredMegabytesOfOutputCostBoundedMemory(t *testing.T) {
	const most = 16 << 20 // bytes of heap, for 100 MiB printed
	b := open(t)
	b.run("true")
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var peak atomic.Uint64
	watching, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watching)
		var now runtime.MemStats
		for {
			runtime.ReadMemStats(&now)
			peak.Store(max(peak.Load(), now.HeapInuse))
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	got := b.run("echo first; head -c 104857600 /dev/zero | tr '\\0' x; echo; echo last; (exit 3)")
	close(done)
	<-watching
	if used := int64(peak.Load()) - int64(before.HeapInuse); used > most {
		t.Errorf("the heap grew by %d bytes", used)
	}
	left := 6 + 104857600 + 1 + 5 - headBytes - tailBytes
	want := fmt.Sprintf("first\n%s\n[%d bytes are left out here]\n%s\nlast\n[exit code 3]",
		strings.Repeat("x", headBytes-6), left, strings.Repeat("x", tailBytes-6))
	if got != want {
		t.Errorf("got %.60q … %q, %d bytes", got, got[max(0, len(got)-60):], len(got))
	}
}

// Guarantee 3.
func TestBytesThatAreNoTextBecomeText(t *testing.T) {
	b := open(t)
	expect(t, "bytes", b.run(`printf 'a\xffb\0c\xe2\x82d\n'`), "a\uFFFDb\x00c\uFFFDd\n[exit code 0]")
	got := b.run("head -c 300000 /dev/urandom")
	if !utf8.ValidString(got) || !strings.HasSuffix(got, "[exit code 0]") || strings.Contains(got, "[cut:") {
		t.Errorf("random bytes end in %q", got[max(0, len(got)-80):])
	}
}

// Guarantee 3.
func TestTheCutFallsBetweenCharacters(t *testing.T) {
	for shift := range 4 {
		c := newCapture()
		c.write(bytes.Repeat([]byte("x"), shift))
		for range 100 {
			c.write(bytes.Repeat([]byte("😀"), 1000))
		}
		got := c.take()
		if strings.Contains(got, "\uFFFD") {
			t.Errorf("after %d bytes a character is torn", shift)
		}
		var left int
		head, rest, _ := strings.Cut(got, "\n[")
		_, err := fmt.Sscanf(rest, "%d bytes are left out here]", &left)
		_, tail, _ := strings.Cut(rest, "]\n")
		if err != nil || len(head)+left+len(tail) != shift+400_000 {
			t.Errorf("%d + %d + %d bytes: %v", len(head), left, len(tail), err)
		}
	}
}

// Guarantee 3.
func TestWhatIsKeptIsTheBeginningAndTheEndWhateverThePieces(t *testing.T) {
	for _, total := range []int{0, 1, headBytes, headBytes + 1, headBytes + tailBytes, headBytes + tailBytes + 1, 3 * tailBytes} {
		for _, piece := range []int{1, 7, 1000, tailBytes - 1, tailBytes, tailBytes + 1, 4 * tailBytes} {
			all := make([]byte, total)
			for i := range all {
				all[i] = byte('a' + i%23)
			}
			c := newCapture()
			for rest := all; len(rest) > 0; {
				n := min(piece, len(rest))
				c.write(rest[:n])
				rest = rest[n:]
			}
			want := string(all)
			if total > headBytes+tailBytes {
				want = fmt.Sprintf("%s\n[%d bytes are left out here]\n%s", all[:headBytes], total-headBytes-tailBytes, all[total-tailBytes:])
			}
			if c.take() != want || c.take() != "" {
				t.Errorf("%d bytes in pieces of %d", total, piece)
			}
		}
	}
}

// Guarantee 4.
func TestProgressComesWhileTheCommandRuns(t *testing.T) {
	b := open(t)
	var mu sync.Mutex
	var told []string
	progress := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, text)
		if strings.Contains(strings.Join(told, ""), "one é\n") {
			os.WriteFile(filepath.Join(b.ws, "go"), nil, 0o644)
		}
	}
	got := b.run("echo one $'\\xc3'$'\\xa9'; until [ -e go ]; do sleep 0.01; done; echo two", progress)
	expect(t, "result", got, "one é\ntwo\n[exit code 0]")
	expect(t, "progress", told[0], "one é\n")
}

// Guarantee 4.
func TestProgressIsBounded(t *testing.T) {
	c := newCapture()
	c.write(bytes.Repeat([]byte("x"), 3*progressBytes))
	expect(t, "one piece", c.news(), strings.Repeat("x", progressBytes)+fmt.Sprintf("\n[%d bytes are not shown here]\n", 2*progressBytes))
	expect(t, "nothing new", c.news(), "")
	c.write([]byte("a\xf0\x9f"))
	expect(t, "half a character", c.news(), "a")
	c.write([]byte("\x98\x80b"))
	expect(t, "the other half", c.news(), "😀b")
	told := 0
	for range 1000 {
		c.write(bytes.Repeat([]byte("y"), 1000))
		told += len(c.news())
	}
	if told > progressTotal+100 {
		t.Errorf("%d bytes were told", told)
	}
	c.take()
	c.write([]byte("z"))
	expect(t, "the next call", c.news(), "z")
}

// Guarantee 3: one line of many megabytes is no case of its own.
func TestAHugeLineIsKeptLikeAnyOutput(t *testing.T) {
	got := open(t).run("head -c 5000000 /dev/zero | tr '\\0' é 2>/dev/null | head -c 3000000")
	if !strings.Contains(got, "bytes are left out here]") || !strings.HasSuffix(got, "[exit code 0]") || len(got) > 2*(headBytes+tailBytes) {
		t.Errorf("%d bytes end in %q", len(got), got[max(0, len(got)-80):])
	}
}

func BenchmarkOutput(b *testing.B) {
	s := open(b)
	const size = 8 << 20
	s.run("true")
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		s.run(fmt.Sprintf("head -c %d /dev/zero", size))
	}
}

func BenchmarkCall(b *testing.B) {
	s := open(b)
	s.run("true")
	b.ReportAllocs()
	for b.Loop() {
		s.run("true")
	}
}
