//go:build !unix

package mcp

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func killGroup(leader int) {
	if p, err := os.FindProcess(leader); err == nil {
		_ = p.Kill()
	}
}

func terminateGroup(leader int) { killGroup(leader) }
