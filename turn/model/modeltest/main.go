package modeltest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Main runs a package's tests and fails when a goroutine outlives
// them: every stream, timer and connection must have ended with what it belonged to.
func Main(m *testing.M) {
	code := m.Run()
	if left := leftBehind(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines left behind:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leftBehind is the stacks of the goroutines, other than this one, that run code of
// the providers or of net/http. Connections that were closed get time to be gone.
func leftBehind() string {
	var left []string
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		buf := make([]byte, 1<<20)
		stacks := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
		left = nil
		for _, s := range stacks[1:] {
			if strings.Contains(s, "net/http") || strings.Contains(s, "hitchpost/turn/model/") {
				left = append(left, s)
			}
		}
		if left == nil {
			return ""
		}
	}
	return strings.Join(left, "\n\n")
}
