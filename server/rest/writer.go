package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"
)

const (
	// writeStall is how long a client may take not a byte of what it is sent.
	writeStall = 30 * time.Second

	// deadlineSlack is how old a deadline may be before it is set anew.
	deadlineSlack = time.Second
)

// writer is the way of every answer. It ends a client that stops reading, and none of
// it is kept by anybody on the way.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	set     time.Time // of the deadline
	status  int       // 0: nothing was answered yet
}

func newWriter(w http.ResponseWriter) *writer {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	return &writer{ResponseWriter: w, control: http.NewResponseController(w)}
}

func (w *writer) WriteHeader(status int) {
	w.status = status
	w.alarm()
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(p []byte) (int, error) {
	w.alarm()
	return w.ResponseWriter.Write(p)
}

// Flush sends what was written. Behind it nothing is under way, however long.
func (w *writer) Flush() error {
	w.alarm()
	err := w.control.Flush()
	w.set = time.Time{}
	_ = w.control.SetWriteDeadline(w.set)
	return err
}

// alarm moves the deadline of writing ahead. A connection that has none is one of a test.
func (w *writer) alarm() {
	if now := time.Now(); now.Sub(w.set) > deadlineSlack {
		w.set = now
		_ = w.control.SetWriteDeadline(now.Add(writeStall))
	}
}

// marshal encodes as the frames of the run wire are: <, > and & stay as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
