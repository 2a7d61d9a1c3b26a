package store

import (
	"bytes"
	"fmt"
	"os"
	"runtime/pprof"
	"testing"
	"time"
)

// TestMain lets the test binary play the other process, and fails when a
// goroutine of the package outlives the tests.
func TestMain(m *testing.M) {
	if role := os.Getenv("HITCHPOST_TEST_ROLE"); role != "" {
		os.Exit(play(role, os.Getenv("HITCHPOST_TEST_FILE")))
	}
	code := m.Run()
	if code == 0 {
		if left := strays(); left != "" {
			fmt.Fprintln(os.Stderr, "goroutines left:\n"+left)
			code = 1
		}
	}
	os.Exit(code)
}

// strays returns the stacks of goroutines that are still in this package or its
// databases; those just told to end get the time to.
func strays() string {
	var stacks bytes.Buffer
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		stacks.Reset()
		pprof.Lookup("goroutine").WriteTo(&stacks, 1)
		if !bytes.Contains(stacks.Bytes(), []byte("store.(*writer)")) && !bytes.Contains(stacks.Bytes(), []byte("sql.(*DB)")) {
			return ""
		}
	}
	return stacks.String()
}
