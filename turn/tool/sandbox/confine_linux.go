package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// confine gives up what the command is not to have, and becomes the command. It comes
// back only with an error.
func confine(told spec) error {
	runtime.LockOSThread() // the filter and the capabilities belong to a thread, and exec keeps this one's
	if err := keepOnly(); err != nil {
		return err
	}
	if err := os.Chdir(told.Dir); err != nil {
		return err
	}
	if err := limit(told.Processes); err != nil {
		return err
	}
	if told.Landlock {
		if err := dropCapabilities(); err != nil {
			return err
		}
		if err := landlocked(told); err != nil {
			return err
		}
		if err := filterCalls(told.Network); err != nil {
			return err
		}
	}
	return &os.PathError{Op: "exec", Path: told.Argv[0], Err: syscall.Exec(told.Argv[0], told.Argv, os.Environ())}
}

// limit: no core dumps, the first to go when memory runs out, and a bound on processes
// that the kernel keeps. That one counts all tasks of the user and does not bind root;
// the supervisor's watch does.
func limit(processes int) error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("core limit: %w", err)
	}
	os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0) // refused by some containers, no harm
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &now); err != nil {
		return fmt.Errorf("process limit: %w", err)
	}
	bound := min(now.Max, uint64(tasks()+processes))
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: bound, Max: bound}); err != nil {
		return fmt.Errorf("process limit: %w", err)
	}
	return nil
}

// kept are the powers of root that only concern the owners of files; Landlock stands in
// front of them. The others (modules, devices, handles, other users) would lead out.
var kept = map[uintptr]bool{
	unix.CAP_CHOWN: true, unix.CAP_DAC_OVERRIDE: true, unix.CAP_FOWNER: true, unix.CAP_FSETID: true,
}

// dropCapabilities takes effect with exec, which gives root only what is in the
// bounding set, and everybody else nothing.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("ambient capabilities: %w", err)
	}
	for c := uintptr(0); c <= 63; c++ {
		has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if err != nil { // beyond the last one
			return nil
		}
		if has == 0 || kept[c] {
			continue
		}
		err = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err == unix.EPERM && os.Geteuid() != 0 {
			return nil // no capability to drop any: none will be given either
		}
		if err != nil {
			return fmt.Errorf("capability %d: %w", c, err)
		}
	}
	return nil
}
