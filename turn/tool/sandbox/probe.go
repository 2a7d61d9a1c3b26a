package sandbox

import (
	"fmt"
	"strings"
)

// Landlock versions from which on something can be held, and the kernel that brought them.
const (
	abiTruncate = 3 // Linux 6.2: files outside cannot be emptied either
	abiNetwork  = 4 // Linux 6.7: TCP
	abiScope    = 6 // Linux 6.12: signals
)

// Support is what this machine offers.
type Support struct {
	ABI    int    // version of Landlock, 0 = none
	Filter bool   // system calls can be filtered
	Reason string // why there is no Landlock
}

// holds: without the truncate right a command could still empty the database, and
// without the filter it could leave by a Unix socket.
func (s Support) holds() bool { return s.ABI >= abiTruncate && s.Filter }

func (s Support) whyNot() string {
	if s.ABI == 0 {
		return s.Reason
	}
	return `sandbox = "none"`
}

// String says in words what the machine can hold.
func (s Support) String() string {
	if s.ABI == 0 {
		return s.Reason
	}
	has := []string{"files"}
	var lacks []string
	add := func(ok bool, what, why string) {
		if ok {
			has = append(has, what)
		} else {
			lacks = append(lacks, what+" ("+why+")")
		}
	}
	add(s.ABI >= abiTruncate, "emptying of files", "needs Linux 6.2")
	add(s.Filter, "sockets", "this system has no filter for system calls, or it is not known for this processor")
	add(s.ABI >= abiNetwork, "TCP once more", "needs Linux 6.7")
	add(s.ABI >= abiScope, "signals", "needs Linux 6.12")
	text := fmt.Sprintf("Landlock %d holds %s", s.ABI, strings.Join(has, ", "))
	if len(lacks) > 0 {
		text += "; it does not hold " + strings.Join(lacks, ", ")
	}
	return text
}
