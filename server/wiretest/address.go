package wiretest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
)

// Ports below those that systems give to whoever asks for any: what stops listening on one
// of these for a moment finds it free again.
const (
	firstPort = 20_000
	ports     = 10_000
)

var nextPort atomic.Uint32

func init() { nextPort.Store(rand.Uint32N(ports)) } // other processes look for some too

// Address is one of this machine that nobody listens on, for a server that is started and
// stopped there as often as the test likes.
func Address(t testing.TB) string {
	t.Helper()
	var err error
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+nextPort.Add(1)%ports)
		var l net.Listener
		if l, err = net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatalf("no port is free: %v", err)
	return ""
}
