package wsconn_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"hitchpost/server/wsconn"
)

func send(t *testing.T, ws *websocket.Conn, typ websocket.MessageType, p []byte) {
	t.Helper()
	if err := ws.Write(t.Context(), typ, p); err != nil {
		t.Fatal(err)
	}
}

func wantMessage(t *testing.T, e *echo, want string) {
	t.Helper()
	select {
	case got := <-e.messages:
		if got != want {
			t.Fatalf("message = %.80q (%d bytes), want %.80q (%d bytes)", got, len(got), want, len(want))
		}
	case <-time.After(time.Minute):
		t.Fatalf("no message, want %.80q", want)
	}
}

// readAll returns every text until the connection ends, and its close code.
func readAll(ws *websocket.Conn) (texts []string, code websocket.StatusCode) {
	for {
		_, p, err := ws.Read(context.Background())
		if err != nil {
			return texts, websocket.CloseStatus(err)
		}
		texts = append(texts, string(p))
	}
}

// guarantee 4
func TestAMessageOfExactlyTheLimitPassesAndOneByteMoreDoesNot(t *testing.T) {
	ws, _, e := sockets(t, wsconn.NewGroup(time.Hour)).connect(t, websocket.DialOptions{})
	exact := bytes.Repeat([]byte("a"), wsconn.MaxMessage)
	send(t, ws, websocket.MessageText, exact)
	wantMessage(t, e, string(exact))
	send(t, ws, websocket.MessageText, append(exact, 'a'))
	wantMessage(t, e, wsconn.ErrTooLarge.Error())
	send(t, ws, websocket.MessageText, []byte("still here"))
	wantMessage(t, e, "still here")
}

// guarantee 4
func TestALongMessageInFragmentsIsRefusedOnceAndTheNextOneIsRead(t *testing.T) {
	ws, _, e := sockets(t, wsconn.NewGroup(time.Hour)).connect(t, websocket.DialOptions{})
	w, err := ws.Writer(t.Context(), websocket.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		w.Write(make([]byte, 1<<20))
	}
	w.Close()
	wantMessage(t, e, wsconn.ErrTooLarge.Error())
	send(t, ws, websocket.MessageText, []byte("next"))
	wantMessage(t, e, "next")
}

// guarantee 4
func TestAMessageBeyondTheHardLimitCloses1009(t *testing.T) {
	ws, _, e := sockets(t, wsconn.NewGroup(time.Hour)).connect(t, websocket.DialOptions{})
	go func() {
		w, err := ws.Writer(context.Background(), websocket.MessageText)
		for range wsconn.HardLimit>>20 + 1 {
			if err == nil {
				_, err = w.Write(make([]byte, 1<<20))
			}
		}
	}()
	if _, code := readAll(ws); code != websocket.StatusMessageTooBig {
		t.Errorf("close code = %d, want 1009", code)
	}
	if cause := <-e.ended; cause != wsconn.TooLarge {
		t.Errorf("cause = %v, want %v", cause, wsconn.TooLarge)
	}
}

func TestABinaryMessageIsReportedAndTheConnectionStays(t *testing.T) {
	ws, _, e := sockets(t, wsconn.NewGroup(time.Hour)).connect(t, websocket.DialOptions{})
	for _, size := range []int{0, 10, 2 << 20} {
		send(t, ws, websocket.MessageBinary, make([]byte, size))
		wantMessage(t, e, wsconn.ErrBinary.Error())
	}
	send(t, ws, websocket.MessageText, []byte("text"))
	wantMessage(t, e, "text")
}

// guarantee 2
func TestTheFarewellIsTheLastDataFrameAndTheCloseCodeFollows(t *testing.T) {
	for _, cause := range []*wsconn.Cause{wsconn.Unauthorized, wsconn.Superseded, wsconn.Lagged, wsconn.Internal} {
		t.Run(cause.Name, func(t *testing.T) {
			ws, _, e := sockets(t, wsconn.NewGroup(time.Hour)).connect(t, websocket.DialOptions{})
			e.put([]byte("an event"))
			_, p, _ := ws.Read(t.Context())
			if string(p) != "an event" {
				t.Fatalf("first frame = %q", p)
			}
			e.conn.End(cause, []byte("farewell"))
			e.put([]byte("too late"))
			texts, code := readAll(ws)
			if len(texts) != 1 || texts[0] != "farewell" {
				t.Errorf("frames after the end = %q, want the farewell alone", texts)
			}
			if code != cause.Code {
				t.Errorf("close code = %d, want %d", code, cause.Code)
			}
			if got := <-e.ended; got != cause {
				t.Errorf("cause = %v, want %v", got, cause)
			}
		})
	}
}

// guarantee 1
func TestTheFirstCauseToEndWins(t *testing.T) {
	ws, _, e := sockets(t, wsconn.NewGroup(time.Hour)).connect(t, websocket.DialOptions{})
	if !e.conn.End(wsconn.Superseded, []byte("one")) {
		t.Error("the first End was not the first")
	}
	if e.conn.End(wsconn.Internal, []byte("two")) {
		t.Error("the second End was told that it was the first")
	}
	if texts, code := readAll(ws); code != websocket.StatusPolicyViolation || strings.Join(texts, " ") != "one" {
		t.Errorf("got %q and close code %d, want \"one\" and 1008", texts, code)
	}
	if cause := <-e.ended; cause != wsconn.Superseded {
		t.Errorf("cause = %v", cause)
	}
}

// guarantee 2
func TestAMessageThatComesAfterTheEndHasBegunIsNotHandled(t *testing.T) {
	ws, _, e := sockets(t, wsconn.NewGroup(time.Hour)).connect(t, websocket.DialOptions{})
	e.mu.Lock()
	e.hold = make(chan struct{})
	e.mu.Unlock()
	for range 10 {
		send(t, ws, websocket.MessageText, []byte("inject"))
	}
	wantMessage(t, e, "inject") // and is still being handled
	e.conn.End(wsconn.Superseded, []byte("farewell"))
	send(t, ws, websocket.MessageText, []byte("cancel"))
	close(e.hold)
	readAll(ws)
	<-e.ended
	if n := len(e.messages); n != 0 {
		t.Errorf("%d messages reached the handler after the end", n)
	}
}

func TestFramesOfAllSizesArriveWholeAndInOrder(t *testing.T) {
	ws, _, e := sockets(t, wsconn.NewGroup(time.Hour)).connect(t, websocket.DialOptions{})
	var want [][]byte
	for i, size := range []int{0, 1, 100, 125, 126, 127, 255, 256, 257, 1000, 65530, 65535, 65536, 65537, 200_000, 3 << 20, 1} {
		want = append(want, bytes.Repeat([]byte{'a' + byte(i)}, size))
	}
	e.put(want...)
	for i, w := range want {
		_, p, err := ws.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(p, w) {
			t.Fatalf("frame %d: %d bytes, want %d", i, len(p), len(w))
		}
	}
}

// Pings of a client and our own, and answers sent from the reader, fall between
// frames and never into one.
func TestControlFramesNeverFallIntoAFrame(t *testing.T) {
	ws, _, e := sockets(t, wsconn.NewGroup(20*time.Millisecond)).connect(t, websocket.DialOptions{})
	const frames = 2000
	frame := bytes.Repeat([]byte("x"), 5000)
	done := make(chan error, 1)
	go func() {
		for range frames {
			if _, p, err := ws.Read(context.Background()); err != nil || len(p) != len(frame) {
				done <- fmt.Errorf("frame of %d bytes, error %v", len(p), err)
				return
			}
		}
		done <- nil
	}()
	pinging, stop := context.WithCancel(t.Context())
	pinged := make(chan struct{})
	go func() {
		defer close(pinged)
		for pinging.Err() == nil {
			ws.Ping(t.Context()) // fails only with the connection, which the reader sees
		}
	}()
	for range frames / 2 {
		e.put(frame)
		e.conn.Send(frame)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	stop()
	go readAll(ws)
	<-pinged
}

func TestAPeerThatClosesGetsItsCloseFrameAnswered(t *testing.T) {
	ws, _, e := sockets(t, wsconn.NewGroup(time.Hour)).connect(t, websocket.DialOptions{})
	if err := ws.Close(websocket.StatusNormalClosure, "bye"); err != nil {
		t.Errorf("close handshake: %v", err)
	}
	if cause := <-e.ended; cause != wsconn.PeerGone {
		t.Errorf("cause = %v, want %v", cause, wsconn.PeerGone)
	}
}

func TestAPeerThatBreaksTheProtocolIsClosed1002(t *testing.T) {
	ws, raw, e := sockets(t, wsconn.NewGroup(time.Hour)).connect(t, websocket.DialOptions{})
	raw.Write([]byte{0x83, 0x80, 0, 0, 0, 0}) // opcode 3 does not exist
	if _, code := readAll(ws); code != websocket.StatusProtocolError {
		t.Errorf("close code = %d, want 1002", code)
	}
	if cause := <-e.ended; cause != wsconn.PeerGone {
		t.Errorf("cause = %v, want %v", cause, wsconn.PeerGone)
	}
}

func TestACutConnectionEndsAsPeerGone(t *testing.T) {
	_, raw, e := sockets(t, wsconn.NewGroup(time.Hour)).connect(t, websocket.DialOptions{})
	raw.Close()
	if cause := <-e.ended; cause != wsconn.PeerGone {
		t.Errorf("cause = %v, want %v", cause, wsconn.PeerGone)
	}
}

func TestWhatArrivesWithTheHandshakeIsRead(t *testing.T) {
	r := sockets(t, wsconn.NewGroup(time.Hour))
	raw, err := r.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	request := "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
	frame := "\x81\x82\x00\x00\x00\x00hi"
	if _, err := io.WriteString(raw, request+strings.Repeat(frame, 3)); err != nil {
		t.Fatal(err)
	}
	e := <-r.served
	for range 3 {
		wantMessage(t, e, "hi")
	}
}

// guarantee 7
func TestShutdownTellsEveryPeerAndWaitsForTheLast(t *testing.T) {
	g := wsconn.NewGroup(time.Hour)
	r := sockets(t, g)
	var ended []*echo
	var codes []chan websocket.StatusCode
	for range 20 {
		ws, _, e := r.connect(t, websocket.DialOptions{})
		ended = append(ended, e)
		code := make(chan websocket.StatusCode, 1)
		go func() { _, c := readAll(ws); code <- c }()
		codes = append(codes, code)
	}
	if err := g.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, e := range ended {
		select {
		case cause := <-e.ended:
			if cause != wsconn.ShuttingDown {
				t.Errorf("cause = %v", cause)
			}
		default:
			t.Error("Shutdown returned before Ended")
		}
		if code := <-codes[i]; code != websocket.StatusGoingAway {
			t.Errorf("close code = %d, want 1001", code)
		}
	}
	if g.Len() != 0 {
		t.Errorf("%d connections are left", g.Len())
	}
	raw, err := r.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	_, resp, err := websocket.Dial(t.Context(), "ws://"+raw.RemoteAddr().String()+"/", &websocket.DialOptions{HTTPClient: &http.Client{Transport: tr}})
	if err == nil || resp == nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a connection after Shutdown: %v, want 503", err)
	}
}

// guarantee 7
func TestShutdownCutsWhoDoesNotLeaveInTime(t *testing.T) {
	g := wsconn.NewGroup(time.Hour)
	_, _, e := sockets(t, g).connect(t, websocket.DialOptions{}) // reads nothing
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if err := g.Shutdown(ctx); err != enough {
		t.Errorf("Shutdown = %v, want %v", err, enough)
	}
	if cause := <-e.ended; cause != wsconn.ShuttingDown {
		t.Errorf("cause = %v", cause)
	}
}
