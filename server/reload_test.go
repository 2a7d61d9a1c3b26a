//go:build unix

package server_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
)

// TestAReloadLetsGoOfTheConnectionsOfTheProvidersItReplaces: each reload makes providers
// anew, and what the old ones keep open is of no use to anybody.
func TestAReloadLetsGoOfTheConnectionsOfTheProvidersItReplaces(t *testing.T) {
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(open)
	}
	model := &stand{t: t, answer: func(a *answer) { // in one piece with its end, for which a client waits only so long
		for _, chunk := range append(completion("hello"), "[DONE]") {
			fmt.Fprintf(a, "data: %s\n\n", chunk)
		}
	}}
	model.Server = httptest.NewUnstartedServer(model)
	model.Config.ConnState = func(c net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		switch state {
		case http.StateNew:
			open[c] = true
		case http.StateClosed, http.StateHijacked:
			delete(open, c)
		}
	}
	model.Start()
	t.Cleanup(model.Close)
	p := reported(t, model, "")
	s := p.serve()
	s.wake("go")
	p.ended(1)
	if n := count(); n != 1 {
		t.Fatalf("%d connections behind a turn, want one that is kept", n)
	}
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	p.until("the connection is let go", func() bool { return count() == 0 })
	s.wake("again")
	if status := p.ended(2); status != "completed" {
		t.Errorf("behind the reload a turn ended %s", status)
	}
}
