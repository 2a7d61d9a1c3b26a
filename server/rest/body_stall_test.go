package rest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

func TestABodyThatNeverEndsIsAnsweredAndItsConnectionClosed(t *testing.T) {
	w := newWorld(t, settings{})
	w.server.patience = 50 * time.Millisecond
	for token, want := range map[string]int{"all": http.StatusBadRequest, "nobody": http.StatusUnauthorized} { // read, and never read
		conn, err := net.Dial("tcp", w.http.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST %s/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer secret-%s\r\nContent-Length: 50\r\n\r\n{", Base, token)
		conn.SetReadDeadline(time.Now().Add(30 * time.Second)) // reaching it is the failure
		r := bufio.NewReader(conn)
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Errorf("%s: %v", token, err)
			continue
		}
		if resp.StatusCode != want {
			t.Errorf("%s: answered %s, want %d", token, resp.Status, want)
		}
		io.Copy(io.Discard, resp.Body)
		if _, err := r.ReadByte(); err != io.EOF {
			t.Errorf("%s: the connection is still there: %v", token, err)
		}
	}
}
