package server

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// bodyPatience is how long a request's body may take.
const bodyPatience = 30 * time.Second

// inTime ends requests whose body does not come in time. Before it answers, net/http waits
// for a body that no handler reads, too: without a bound any request could hold its
// goroutine for ever.
func inTime(patience time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			control := http.NewResponseController(w)
			_ = control.SetReadDeadline(time.Now().Add(patience)) // fails on a connection that is gone
			r.Body = &awaited{ReadCloser: r.Body, control: control}
		}
		next.ServeHTTP(w, r)
	})
}

// awaited is a body with a deadline. Behind its end what is read is the end of the client,
// for which a handler may wait as long as it likes.
type awaited struct {
	io.ReadCloser
	control *http.ResponseController
}

func (a *awaited) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = a.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
