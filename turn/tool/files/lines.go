package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	bufferSize = 64 << 10 // bytes read at a time
	headSize   = 8 << 10  // bytes that decide whether a file is text
)

var errBinary = errors.New("a NUL byte: not text")

// lines reads a file line by line. A line ends with LF or CRLF, which are not part
// of it; the last one may have no end.
type lines struct {
	ctx  context.Context
	r    *bufio.Reader
	keep int // bytes of a line that are kept
	line []byte
	crlf bool // a CRLF was seen
}

func newLines(ctx context.Context, r io.Reader, keep int) *lines {
	return &lines{ctx: ctx, r: bufio.NewReaderSize(r, bufferSize), keep: keep}
}

// head is the beginning of the file, without moving on.
func (l *lines) head() []byte {
	head, _ := l.r.Peek(headSize) // an error comes back at the next read
	return head
}

// next returns the next line, valid until the call after, and its length in bytes,
// which is more than len(line) if the line is longer than what is kept. io.EOF comes
// behind the last line, errBinary at a NUL.
func (l *lines) next() (line []byte, size int, err error) {
	l.line = l.line[:0]
	for {
		if l.ctx.Err() != nil {
			return nil, 0, context.Cause(l.ctx)
		}
		chunk, err := l.r.ReadSlice('\n')
		if bytes.IndexByte(chunk, 0) >= 0 {
			return nil, 0, errBinary
		}
		size += len(chunk)
		l.line = append(l.line, chunk[:min(len(chunk), l.keep+2-len(l.line))]...) // +2: the end
		switch {
		case err == nil || err == io.EOF && size > 0:
			return l.trim(size)
		case err != bufio.ErrBufferFull:
			return nil, 0, err
		}
	}
}

func (l *lines) trim(size int) ([]byte, int, error) {
	if size > len(l.line) { // its end was not kept
		return l.line[:l.keep], size - 1, nil
	}
	if bytes.HasSuffix(l.line, []byte("\n")) {
		l.line, size = l.line[:size-1], size-1
		if bytes.HasSuffix(l.line, []byte("\r")) {
			l.crlf = true
			l.line, size = l.line[:size-1], size-1
		}
	}
	return l.line[:min(len(l.line), l.keep)], size, nil
}

// notText tells why the beginning of a file is no text; "" if it is. A character
// that the end of the head splits is no reason.
func notText(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "UTF-16 text, and only UTF-8 can be read"
	case bytes.IndexByte(head, 0) >= 0:
		return "a binary file"
	}
	if len(head) == headSize {
		for cut := 1; cut < utf8.UTFMax; cut++ {
			if tail := head[headSize-cut:]; utf8.RuneStart(tail[0]) {
				if !utf8.FullRune(tail) {
					head = head[:headSize-cut]
				}
				break
			}
		}
	}
	if !utf8.Valid(head) {
		return "not UTF-8 text"
	}
	return ""
}

// clip returns at most n characters of the text, whether that is less than all, and
// replaces what is no UTF-8.
func clip(text []byte, n int) (string, bool) {
	s := strings.ToValidUTF8(string(text), "\uFFFD")
	for i := range s {
		if n == 0 {
			return s[:i], true
		}
		n--
	}
	return s, false
}
