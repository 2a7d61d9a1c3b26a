package sse

import (
	"bytes"
	"errors"
	"io"
)

// MaxEvent bounds the bytes of one event: its data, and any single line.
const MaxEvent = 8 << 20

// ErrTooLong is returned when an event goes beyond MaxEvent.
var ErrTooLong = errors.New("an event of the stream is longer than 8 MiB")

// readSize is how much is asked of the source at once, in bytes.
const readSize = 16 << 10

// Event is one event of the stream.
type Event struct {
	Name string // the event field, "" without one
	Data []byte // the data lines joined by LF; valid until the next call of Next
	Cut  bool   // the stream ended before the event did
}

// Reader takes a stream apart. It is not safe for concurrent use.
type Reader struct {
	src io.Reader
	err error // of src, kept until what came before it is used up

	buf  []byte // all that was read at once
	rest []byte // the part of buf not looked at yet
	line []byte // the start of a line that a read cut off

	afterCR bool // a LF that comes now belongs to the line end before
	started bool // a byte order mark can no longer come

	name    string
	data    []byte
	hasData bool
	handed  bool // data was given out by the last Next
}

// NewReader returns a Reader of the stream src.
func NewReader(src io.Reader) *Reader { return &Reader{src: src} }

// Next returns the next event, io.EOF after the last, ErrTooLong, or the error of the
// source as it is.
func (r *Reader) Next() (Event, error) {
	if r.handed {
		r.clear()
	}
	for {
		line, ok, err := r.nextLine()
		if err != nil {
			return r.end(err)
		}
		if !ok {
			continue
		}
		if len(line) > 0 {
			if err := r.field(line); err != nil {
				return Event{}, err
			}
			continue
		}
		if r.hasData {
			r.handed = true
			return Event{Name: r.name, Data: r.data}, nil
		}
		r.clear()
	}
}

// end hands on what stood behind the last empty line, once, and then the error.
func (r *Reader) end(err error) (Event, error) {
	if err != io.EOF {
		return Event{}, err
	}
	if len(r.line) > 0 {
		line := r.line
		r.line = nil
		if err := r.field(r.unmarked(line)); err != nil {
			return Event{}, err
		}
	}
	if r.hasData {
		r.handed = true
		return Event{Name: r.name, Data: r.data, Cut: true}, nil
	}
	return Event{}, io.EOF
}

func (r *Reader) clear() {
	r.name, r.data, r.hasData, r.handed = "", r.data[:0], false, false
	if cap(r.data) > 1<<20 {
		r.data = nil // one huge event must not hold its memory for the rest of the stream
	}
}

// nextLine returns a whole line without its end. ok is false when there is none yet
// and more was read. The line is valid until the next call.
func (r *Reader) nextLine() (line []byte, ok bool, err error) {
	if len(r.rest) == 0 {
		return nil, false, r.fill()
	}
	if r.afterCR {
		r.afterCR = false
		if r.rest[0] == '\n' {
			r.rest = r.rest[1:]
			return nil, false, nil
		}
	}
	end := lineEnd(r.rest)
	if end < 0 {
		if len(r.line)+len(r.rest) > MaxEvent {
			return nil, false, ErrTooLong
		}
		r.line = append(r.line, r.rest...)
		r.rest = nil
		return nil, false, nil
	}
	line = r.rest[:end]
	r.afterCR = r.rest[end] == '\r'
	r.rest = r.rest[end+1:]
	if len(r.line) > 0 {
		if len(r.line)+len(line) > MaxEvent {
			return nil, false, ErrTooLong
		}
		line = append(r.line, line...)
		r.line = line[:0]
		if cap(r.line) > 1<<20 {
			r.line = nil
		}
	}
	return r.unmarked(line), true, nil
}

// unmarked takes the byte order mark off the first line.
func (r *Reader) unmarked(line []byte) []byte {
	if !r.started {
		r.started = true
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	return line
}

// lineEnd is the index of the first LF or CR, or -1.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// fill reads once. A source that gives nothing and no error is asked again.
func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.buf == nil {
		r.buf = make([]byte, readSize)
	}
	n, err := r.src.Read(r.buf)
	r.rest, r.err = r.buf[:n], err
	return nil
}

// field takes in one line that is not empty.
func (r *Reader) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if len(r.data)+1+len(value) > MaxEvent {
			return ErrTooLong
		}
		if r.hasData {
			r.data = append(r.data, '\n')
		}
		r.hasData = true
		r.data = append(r.data, value...)
	case "event":
		r.name = string(value)
	}
	return nil
}
