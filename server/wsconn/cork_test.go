package wsconn

import (
	"bytes"
	"context"
	"io"
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

// guarantee 2: also where the pump has looked for a cause to end, and found none, before.
func TestBehindTheBeginningOfAnEndOnlyTheFarewellIsTaken(t *testing.T) {
	ours, peer := net.Pipe()
	defer peer.Close()
	defer ours.Close()
	k := newCork(ours, nil, func() {}, new(atomic.Int64))
	k.frame(textFrame, []byte("before"))
	k.hurry(WriteStall)
	k.frame(textFrame, []byte("behind"))
	if want := "\x81\x06before"; string(k.pending) != want {
		t.Errorf("waiting: %q, want %q", k.pending, want)
	}
	k.farewell([]byte("bye"))
	if want := "\x81\x03bye"; string(k.pending) != want {
		t.Errorf("waiting: %q, want %q", k.pending, want)
	}
}

// A peer that floods us with pings and reads nothing must not fill our memory.
func TestPingsAreNotAnsweredWhileTooMuchWaits(t *testing.T) {
	ours, peer := net.Pipe()
	defer peer.Close()
	defer ours.Close()
	c := &Conn{cork: newCork(ours, nil, func() {}, new(atomic.Int64))}
	answered := 0
	for range 100_000 {
		if c.ping(context.Background(), nil) {
			c.cork.Write(make([]byte, 127))
			answered++
		}
	}
	if most := controlLimit/127 + 1; answered != most {
		t.Errorf("%d pings are answered to a peer that takes no answer, want %d", answered, most)
	}
	go peer.Read(make([]byte, 1<<20))
	c.cork.flush(WriteStall)
	if !c.ping(context.Background(), nil) {
		t.Error("a ping is not answered after the peer has taken the answers")
	}
}

// guarantee 8
func TestALargeFrameIsSentInItsPlaceAndNotCopied(t *testing.T) {
	ours, peer := net.Pipe()
	defer peer.Close()
	defer ours.Close()
	k := newCork(ours, nil, func() {}, new(atomic.Int64))
	large := bytes.Repeat([]byte("x"), chunkSize+1)
	var want []byte
	for range 2 {
		k.frame(textFrame, []byte("before"))
		k.frame(textFrame, large)
		want = append(append(want, "\x81\x06before\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x01"...), large...)
	}
	k.frame(textFrame, []byte("behind"))
	want = append(want, "\x81\x06behind"...)
	if len(k.sealed) != 4 || &k.sealed[1][0] != &large[0] || &k.sealed[3][0] != &large[0] {
		t.Errorf("%d buffers wait, or the payload was copied", len(k.sealed))
	}
	if n := k.waiting(); n != len(want) {
		t.Errorf("%d bytes wait, want %d", n, len(want))
	}
	go func() {
		k.flush(WriteStall)
		ours.Close()
	}()
	if got, err := io.ReadAll(peer); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the peer got %d bytes, %v, want the %d that were framed", len(got), err, len(want))
	}
	if n := k.waiting(); n != 0 {
		t.Errorf("%d bytes wait still", n)
	}
}
