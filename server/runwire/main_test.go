package runwire

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// TestMain fails when a test leaves a goroutine behind.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		runtime.Gosched()
		time.Sleep(time.Millisecond) // goroutines of closed sockets are on their way out
	}
	fuzzing := flag.Lookup("test.fuzz").Value.String() != "" // has a goroutine for signals
	if n := runtime.NumGoroutine(); n > before && code == 0 && !fuzzing {
		buf := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "%d goroutines before the tests, %d after:\n%s\n", before, n, buf[:runtime.Stack(buf, true)])
		code = 1
	}
	os.Exit(code)
}
