package modeltest

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"hitchpost/turn/model"
	"hitchpost/turn/model/httpstream"
)

// pipes is a network without sockets, whose waits the fake clock of a bubble knows.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.conns <- there
	return here, nil
}

// Limits are the times of the clients, so long that no test hangs on the speed of the
// machine.
var Limits = model.Timeouts{Connect: 10 * time.Second, FirstByte: time.Minute, Stall: 2 * time.Minute}

// Bubble runs f with the configuration for a client of a server that answers with h, all
// on a fake clock. The transport's DialContext can be replaced.
func Bubble(t *testing.T, h http.HandlerFunc, f func(t *testing.T, cfg httpstream.Config, tr *http.Transport)) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		srv := &http.Server{Handler: h}
		served := make(chan struct{})
		go func() { defer close(served); srv.Serve(p) }()
		tr := &http.Transport{DialContext: p.dial}
		f(t, httpstream.Config{BaseURL: "http://model.test/v1", Timeouts: Limits, Transport: tr}, tr)
		tr.CloseIdleConnections()
		srv.Close()
		<-served
		time.Sleep(time.Hour) // on the fake clock: a handler that sleeps wakes up and sees that it is over
	})
}
