package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// self is our own program, also after an upgrade has replaced its file.
const self = "/proc/self/exe"

// adopt makes this process the parent of every orphan below it.
func adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot hold on to what commands start: %w", err)
	}
	return nil
}

// ownSession keeps signals to a whole group, as by kill 0, from reaching the supervisor.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// descendants are the living processes below root, zombies left out. A process that
// begins meanwhile may be missing; one that is listed may have ended.
func descendants(root int) []int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil
	}
	children, dead := make(map[int][]int), make(map[int]bool)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		parent, zombie, ok := parentOf(pid)
		if !ok {
			continue
		}
		children[parent], dead[pid] = append(children[parent], pid), zombie
	}
	var below []int
	for next := children[root]; len(next) > 0; {
		pid := next[0]
		next = append(next[1:], children[pid]...)
		if !dead[pid] {
			below = append(below, pid)
		}
	}
	return below
}

func parentOf(pid int) (parent int, zombie, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false, false
	}
	// "pid (name) state parent …"; the name may hold anything, also ") ".
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, false, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return parent, string(fields[0]) == "Z" || string(fields[0]) == "X", err == nil
}

// census counts the processes of a command, as seldom as it can: only when the whole
// machine has more than before by as many as are allowed, or by half of that since the
// last count.
type census struct {
	allowed int
	base    int // tasks of the machine at the last count
}

func newCensus(allowed int) *census { return &census{allowed: allowed, base: tasks()} }

func (c *census) take() int {
	now := tasks()
	if now-c.base < c.allowed/2 && now != 0 {
		c.base = min(c.base, now)
		return 0
	}
	n := len(descendants(os.Getpid()))
	c.base = now
	if n > c.allowed/2 { // near the bound: look again at once
		c.base = now - c.allowed
	}
	return n
}

// tasks is the number of tasks on this machine, 0 if the kernel does not tell.
func tasks() int {
	text, err := os.ReadFile("/proc/loadavg") // "0.1 0.2 0.3 running/all newest"
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return 0
	}
	_, all, _ := strings.Cut(fields[3], "/")
	n, _ := strconv.Atoi(all)
	return n
}
