//go:build unix

package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// hook is the first argument of a child of our own.
const hook = "__sandbox"

// Descriptors of a child beside the standard ones.
const (
	statusFD  = 3 // the command's own, passed through
	reportFD  = 4 // takes the reason for an end
	controlFD = 5 // the supervisor's: has a byte, or its end, when the command is to be killed
)

// exitNotRun is the code of a child that could not begin.
const exitNotRun = 126

// hooked tells that Main was called, without which a child would be the whole program
// once more.
var hooked bool

// Main is the first thing that main calls. It returns at once, except in a child that
// Start made, which it becomes and never returns from.
func Main() {
	hooked = true
	if len(os.Args) != 4 || os.Args[1] != hook {
		return
	}
	var told spec
	err := json.Unmarshal([]byte(os.Args[3]), &told)
	if err == nil {
		switch os.Args[2] {
		case "supervise":
			os.Exit(supervise(told))
		case "confine":
			err = confine(told) // comes back only with an error
		}
	}
	report(fmt.Sprintf("the sandbox does not start: %v", err))
	os.Exit(exitNotRun)
}

// keepOnly makes exec close every descriptor but the standard ones and the status: those
// that our own program inherited from whoever started it lead out of any sandbox.
func keepOnly() error {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > statusFD {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

func report(reason string) {
	unix.Write(reportFD, []byte(strings.TrimSpace(reason)))
}
