package sandbox

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

type rights = landlock.AccessFSSet

// What is granted. Making device nodes, using devices by ioctl and connecting to Unix
// sockets is granted nowhere.
const (
	list     rights = ll.AccessFSReadDir
	read     rights = list | ll.AccessFSReadFile | ll.AccessFSExecute
	write    rights = ll.AccessFSWriteFile | ll.AccessFSTruncate
	change   rights = write | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeSym | ll.AccessFSRefer
	fileOnly rights = ll.AccessFSReadFile | ll.AccessFSExecute | write
)

// system is what programs need to run, read-only. No home, no /tmp, no /run, no /var,
// none of /etc that can hold a secret; of /proc only what tells nothing of processes.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store",
	"/etc/alternatives", "/etc/bash.bashrc", "/etc/ca-certificates", "/etc/debian_version", "/etc/fonts",
	"/etc/gai.conf", "/etc/gitconfig", "/etc/group", "/etc/host.conf", "/etc/hosts", "/etc/inputrc",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/locale.alias", "/etc/localtime",
	"/etc/lsb-release", "/etc/magic", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/os-release",
	"/etc/passwd", "/etc/perl", "/etc/pki/ca-trust", "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem", "/etc/profile", "/etc/profile.d",
	"/etc/protocols", "/etc/python3", "/etc/resolv.conf", "/etc/services", "/etc/shells", "/etc/ssl/certs",
	"/etc/ssl/openssl.cnf", "/etc/terminfo", "/etc/timezone",
	"/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime",
	"/proc/version", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/pid_max", "/proc/sys/kernel/cap_last_cap",
	"/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu",
}

var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// configs are the strictest configuration of each version; the newest stands for those
// that come.
var configs = []landlock.Config{1: landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6,
	landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11}

// Probe asks the kernel what it offers.
func Probe() Support {
	s := Support{Filter: canFilter()}
	abi, err := ll.LandlockGetABIVersion()
	switch {
	case err == nil:
		s.ABI = min(abi, len(configs)-1)
	case errors.Is(err, syscall.ENOSYS):
		s.Reason = "this kernel has no Landlock (it came with Linux 5.13), or a container hides it"
	case errors.Is(err, syscall.EOPNOTSUPP):
		s.Reason = "Landlock is switched off: add it to lsm= on the kernel's command line"
	default:
		s.Reason = fmt.Sprintf("Landlock does not answer: %v", err)
	}
	return s
}

// landlocked restricts this process for good. It fails rather than hold less than the
// kernel offers.
func landlocked(told spec) error {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return fmt.Errorf("no Landlock: %w", err)
	}
	c := configs[min(abi, len(configs)-1)]
	if told.Network {
		c.HandledAccessNet = 0
	}
	g := grants{protected: told.Protected}
	defer g.close()
	for _, dir := range told.Workspace {
		g.tree(dir, read|change)
	}
	g.tree(told.Temp, read|change)
	for _, path := range system {
		g.tree(path, read)
	}
	for _, path := range devices {
		g.tree(path, read|write)
	}
	if err := errors.Join(g.faults...); err != nil {
		return err
	}
	var rules []landlock.Rule
	for _, one := range g.all {
		allowed := one.rights & c.HandledAccessFS
		rules = append(rules, landlock.PathAccess(allowed, fmt.Sprintf("/proc/self/fd/%d", one.fd)))
	}
	if err := c.Restrict(rules...); err != nil {
		return fmt.Errorf("restrict by Landlock: %w", err)
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) // is set by now; the filter depends on it
}
