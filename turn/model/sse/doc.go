// Package sse reads an event stream (text/event-stream) as model providers send it.
//
// Guarantees:
//
//  1. The events depend on the bytes alone, not on how they were cut into reads.
//  2. A line ends with LF, CR or CRLF; an event is handed on as soon as the line end
//     of its empty line is there, without waiting for a byte that may never come.
//  3. A comment, an id, a retry or an unknown field is no event.
//  4. No line is too long for the reader while its event stays within MaxEvent;
//     beyond it the stream fails with ErrTooLong, and memory stays bounded.
//  5. What stands behind the last empty line is handed on too, marked Cut: some
//     providers leave out the end, and only their reader can tell half from whole.
package sse
