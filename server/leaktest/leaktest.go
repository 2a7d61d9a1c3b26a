// Package leaktest is for tests: it finds goroutines that outlive what they belonged to.
package leaktest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// Run runs a package's tests and returns their exit code, 1 also when they left a
// goroutine behind. For TestMain.
func Run(m *testing.M) int {
	before := runtime.NumGoroutine()
	code := m.Run()
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		runtime.Gosched()
		time.Sleep(time.Millisecond) // goroutines of closed sockets are on their way out
	}
	fuzzing := flag.Lookup("test.fuzz").Value.String() != "" // has a goroutine for signals
	if n := runtime.NumGoroutine(); n > before && code == 0 && !fuzzing {
		buf := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "%d goroutines before the tests, %d after:\n%s\n", before, n, buf[:runtime.Stack(buf, true)])
		return 1
	}
	return code
}
