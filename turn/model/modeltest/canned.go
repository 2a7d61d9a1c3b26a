package modeltest

import (
	"bytes"
	"io"
	"net/http"
	"testing/iotest"
)

// Canned is a transport that answers 200 with Body, without a socket: for fuzzing and
// benchmarks.
type Canned struct {
	Body     []byte
	Bytewise bool // a byte each read
}

func (c Canned) RoundTrip(r *http.Request) (*http.Response, error) {
	body := io.Reader(bytes.NewReader(c.Body))
	if c.Bytewise {
		body = iotest.OneByteReader(body)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body), Request: r}, nil
}
