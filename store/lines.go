package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxLine is the length in bytes of a line that an import reads.
const maxLine = 2 * MaxPayload

// lines reads lines of bounded length and counts them.
type lines struct {
	r      *bufio.Reader
	number int // of the line that next returned, or stumbled over; from 1
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without its end, in memory of its own; io.EOF behind the last.
func (l *lines) next() ([]byte, error) {
	l.number++
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("%w: the line has more than %d bytes", ErrInvalid, maxLine)
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
