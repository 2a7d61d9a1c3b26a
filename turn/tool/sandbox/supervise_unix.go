//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	watchEvery = 100 * time.Millisecond // how often the number of processes is looked at
	killEvery  = 5 * time.Millisecond   // pause between two rounds of killing
	stopRounds = 200                    // rounds of stopping before the killing begins anyway
)

// supervise runs the command in a child and stays with it. On Linux every process whose
// parent dies becomes its child, whatever it did to get away, so that nothing is lost
// from sight. It ends when all of them have ended, and then only.
func supervise(told spec) int {
	runtime.LockOSThread() // the child is to die with this thread, which lives as long as the process
	if err := adopt(); err != nil {
		report(fmt.Sprintf("the sandbox does not start: %v", err))
		return exitNotRun
	}
	unix.CloseOnExec(controlFD)
	status, reported := os.NewFile(statusFD, "status"), os.NewFile(reportFD, "report")
	defer runtime.KeepAlive(reported) // a file that nobody holds is closed
	child, err := os.StartProcess(self, []string{os.Args[0], hook, "confine", os.Args[3]}, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr, status, reported},
		Sys:   ownSession(),
	})
	if err != nil {
		report(fmt.Sprintf("the sandbox does not start: %v", err))
		return exitNotRun
	}
	letGo(status)
	exited, gone := reap(child.Pid)
	code, reason := watch(told, exited, awaitKill())
	kill(child.Pid, gone)
	if told.RemoveTemp || alone() {
		os.RemoveAll(told.Temp)
	}
	if reason != "" {
		report(reason)
	}
	select {
	case code = <-exited:
	default:
	}
	return code
}

// awaitKill waits for what the server may have to say: a kill, or its own end.
func awaitKill() <-chan struct{} {
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for {
			if _, err := unix.Read(controlFD, make([]byte, 1)); err != unix.EINTR {
				return
			}
		}
	}()
	return killed
}

// alone tells whether the server is gone. It holds its end of the pipe as long as it lives;
// a dead one may be the parent for a moment still.
func alone() bool {
	pipe := []unix.PollFd{{Fd: controlFD}}
	n, err := unix.Poll(pipe, 0)
	return err == nil && n > 0 && pipe[0].Revents&unix.POLLHUP != 0
}

// letGo gives up the command's files, whose readers wait for the last writer to go.
func letGo(status *os.File) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err == nil {
		for fd := range 3 {
			unix.Dup2(int(null.Fd()), fd)
		}
	}
	status.Close()
}

// watch waits for a reason to end: the command's own end, a kill, too many processes.
func watch(told spec, exited <-chan int, killed <-chan struct{}) (code int, reason string) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	census := newCensus(told.Processes)
	for {
		select {
		case code = <-exited:
			return code, ""
		case <-killed:
			return 128 + int(syscall.SIGKILL), ""
		case <-tick.C:
			if n := census.take(); n > told.Processes {
				return 128 + int(syscall.SIGKILL), fmt.Sprintf("it had %d processes at once and was killed: at most %d are allowed", n, told.Processes)
			}
		}
	}
}

// reap takes in every child that ends, its own or adopted. exited gets the command's
// exit code, gone is closed when there is no child left.
func reap(command int) (exited chan int, gone chan struct{}) {
	exited, gone = make(chan int, 1), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			var status unix.WaitStatus
			pid, err := unix.Wait4(-1, &status, 0, nil)
			switch {
			case err == unix.EINTR:
			case err != nil: // ECHILD
				return
			case pid == command && status.Signaled():
				exited <- 128 + int(status.Signal())
			case pid == command:
				exited <- status.ExitStatus()
			}
		}
	}()
	return exited, gone
}

// kill ends everything below. All are stopped first: what is stopped neither forks nor
// frees its place for another, so this outruns a fork bomb.
func kill(command int, gone <-chan struct{}) {
	stopped := make(map[int]bool)
	for range stopRounds {
		fresh := 0
		for _, pid := range descendants(os.Getpid()) {
			if !stopped[pid] && unix.Kill(pid, unix.SIGSTOP) == nil {
				stopped[pid] = true
				fresh++
			}
		}
		if fresh == 0 {
			break
		}
	}
	for {
		unix.Kill(-command, unix.SIGKILL) // its session's first group: all there is to go by where /proc is not
		for _, pid := range descendants(os.Getpid()) {
			unix.Kill(pid, unix.SIGKILL)
		}
		select {
		case <-gone:
			return
		case <-time.After(killEvery):
		}
	}
}
