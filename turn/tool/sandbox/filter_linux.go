package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock leaves ways out that a filter of system calls closes: Unix sockets (the
// container engine's and the login session's start any program for whoever connects),
// UDP, Multipath TCP and other kinds of sockets, and io_uring, which makes sockets
// without the call that is filtered.

// architectures by Go's names: a filter for one must refuse the numbers of another.
var architectures = map[string]uint32{
	"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64, "riscv64": unix.AUDIT_ARCH_RISCV64,
	"loong64": unix.AUDIT_ARCH_LOONGARCH64, "ppc64le": unix.AUDIT_ARCH_PPC64LE, "s390x": unix.AUDIT_ARCH_S390X,
}

// Offsets in struct seccomp_data; of an argument the half that holds a C int.
const (
	offsetCall = 0
	offsetArch = 4
	offsetArg0 = 16
)

const x32Bit = 0x40000000 // marks the calls of amd64's second calling convention

func canFilter() bool {
	_, known := architectures[runtime.GOARCH]
	_, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return known && err == nil
}

// filterCalls refuses sockets: all of them, with network only Unix ones. Pairs of
// sockets, which lead nowhere, stay. It does nothing where canFilter is false.
func filterCalls(network bool) error {
	if !canFilter() {
		return nil
	}
	program := program(network)
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("filter of system calls: %w", errno)
	}
	return nil
}

func program(network bool) []unix.SockFilter {
	refuse := func(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }
	arg0 := uint32(offsetArg0)
	if runtime.GOARCH == "s390x" {
		arg0 += 4 // big-endian
	}
	p := []unix.SockFilter{
		load(offsetArch),
		jump(unix.BPF_JEQ, architectures[runtime.GOARCH], 1, 0),
		ret(unix.SECCOMP_RET_KILL_PROCESS),
		load(offsetCall),
	}
	if runtime.GOARCH == "amd64" {
		p = append(p, jump(unix.BPF_JGE, x32Bit, 0, 1), ret(refuse(unix.ENOSYS)))
	}
	p = append(p,
		jump(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, 0, 1), ret(refuse(unix.ENOSYS)),
		jump(unix.BPF_JEQ, unix.SYS_SOCKET, 1, 0), ret(unix.SECCOMP_RET_ALLOW),
	)
	if network {
		p = append(p, load(arg0), jump(unix.BPF_JEQ, unix.AF_UNIX, 1, 0), ret(unix.SECCOMP_RET_ALLOW))
	}
	return append(p, ret(refuse(unix.EACCES)))
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// jump goes yes or no instructions ahead.
func jump(test uint16, value uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: value, Jt: yes, Jf: no}
}

func ret(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}
