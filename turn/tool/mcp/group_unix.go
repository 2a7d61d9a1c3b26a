//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the child the head of a process group, so that its children can be
// ended with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }

func terminateGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGTERM) }
