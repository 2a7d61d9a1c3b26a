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
// databases; those just told to end get a moment to.
func strays() string {
	var stacks bytes.Buffer
	for range 50 {
		stacks.Reset()
		pprof.Lookup("goroutine").WriteTo(&stacks, 1)
		if !bytes.Contains(stacks.Bytes(), []byte("store.(*writer)")) && !bytes.Contains(stacks.Bytes(), []byte("sql.(*DB)")) {
			return ""
		}
		time.Sleep(10 * time.Millisecond)
	}
	return stacks.String()
}
