//go:build unix

package shell

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// Bounds of what a command prints. A byte that is no UTF-8 grows to three, so the text
// of a result stays below twice headBytes + tailBytes.
const (
	headBytes = 32 << 10 // kept of the beginning
	tailBytes = 64 << 10 // kept of the end

	progressEvery = 250 * time.Millisecond
	progressBytes = 8 << 10   // of one piece
	progressTotal = 256 << 10 // of all pieces of a call
)

// capture keeps the beginning and the end of what is printed, and what of it was not
// yet told as progress.
type capture struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring once it is full; next is where the oldest byte is
	next  int
	total int64

	pending []byte // not yet told
	skipped int64  // bytes that will not be told, after pending
	told    int    // bytes of this call
}

func newCapture() *capture { return &capture{} }

// read reads once from a descriptor that does not block and keeps what came.
func (c *capture) read(fd int, buf []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := unix.Read(fd, buf)
	if n > 0 {
		c.write(buf[:n])
	}
	return n, err
}

func (c *capture) write(p []byte) {
	c.total += int64(len(p))
	fits := min(len(p), progressBytes-len(c.pending))
	c.pending = append(c.pending, p[:fits]...)
	c.skipped += int64(len(p) - fits)

	fits = min(len(p), headBytes-len(c.head))
	c.head, p = append(c.head, p[:fits]...), p[fits:]
	fits = min(len(p), tailBytes-len(c.tail))
	c.tail, p = append(c.tail, p[:fits]...), p[fits:]
	p = p[max(0, len(p)-tailBytes):]
	for len(p) > 0 {
		n := copy(c.tail[c.next:], p)
		c.next, p = (c.next+n)%tailBytes, p[n:]
	}
}

// take is the text so far, and begins anew.
func (c *capture) take() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	head, tail := string(c.head), string(c.tail[c.next:])+string(c.tail[:c.next])
	left := c.total - int64(len(head)+len(tail))
	c.head, c.tail, c.next, c.total = c.head[:0], c.tail[:0], 0, 0
	c.pending, c.skipped, c.told = nil, 0, 0
	if left == 0 {
		return strings.ToValidUTF8(head+tail, "\uFFFD")
	}
	whole := whole([]byte(head))
	for i := 0; i < utf8.UTFMax && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail, left = tail[1:], left+1
	}
	left += int64(len(head) - whole)
	text := fmt.Sprintf("%s\n[%d bytes are left out here]\n%s", head[:whole], left, tail)
	return strings.ToValidUTF8(text, "\uFFFD")
}

// news is what was printed since the last time, as far as it is to be told.
func (c *capture) news() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	room := progressTotal - c.told
	if len(c.pending) == 0 || room <= 0 {
		return ""
	}
	n := len(c.pending)
	if c.skipped == 0 {
		n = whole(c.pending) // the rest of the character is on its way
	}
	n = min(n, room)
	text := strings.ToValidUTF8(string(c.pending[:n]), "\uFFFD")
	c.told += n
	switch {
	case c.told >= progressTotal:
		text += "\n[no more is shown before the end]\n"
		c.pending, c.skipped = nil, 0
	case c.skipped > 0:
		text += fmt.Sprintf("\n[%d bytes are not shown here]\n", c.skipped)
		c.pending, c.skipped = nil, 0
	default:
		c.pending = append(c.pending[:0], c.pending[n:]...)
	}
	return text
}

// whole is how many bytes of p remain without a character that is not complete yet.
func whole(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if last := p[len(p)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return len(p) - n
			}
			break
		}
	}
	return len(p)
}
