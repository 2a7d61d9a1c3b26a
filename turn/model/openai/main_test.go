package openai

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// TestMain fails when a goroutine outlives the tests: every stream, timer and
// connection must have ended with what it belonged to.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	if code == 0 && !settled(before) {
		buf := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "goroutines left behind:\n%s\n", buf[:runtime.Stack(buf, true)])
		code = 1
	}
	os.Exit(code)
}

// settled waits for connections that were closed to be gone: their goroutines end
// on their own, after Close has returned.
func settled(want int) bool {
	for range 200 {
		if runtime.NumGoroutine() <= want {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}
