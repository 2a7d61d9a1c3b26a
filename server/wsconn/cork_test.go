package wsconn

import (
	"bytes"
	"net"
	"sync/atomic"
	"testing"
)

// guarantee 2
func TestNoDataFrameFollowsACloseFrame(t *testing.T) {
	ours, peer := net.Pipe()
	defer peer.Close()
	k := newCork(ours, nil, func() {}, new(atomic.Int64))
	k.frame(textFrame, []byte("before"))
	closing := []byte{closeFrame, 2, 3, 232} // 1000, as the library answers the peer's
	if _, err := k.Write(closing); err != nil {
		t.Fatal(err)
	}
	k.frame(textFrame, []byte("behind"))
	k.frame(pingFrame, nil)
	if want := append([]byte("\x81\x06before"), closing...); !bytes.Equal(k.pending, want) {
		t.Errorf("waiting: %q, want %q", k.pending, want)
	}
	go k.Close()
	got := make([]byte, 100)
	n, _ := peer.Read(got)
	if !bytes.HasSuffix(got[:n], closing) {
		t.Errorf("the peer got %q, want the close frame last", got[:n])
	}
}
