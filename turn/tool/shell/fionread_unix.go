//go:build unix && !linux

package shell

const fionread = 0x4004667f // FIONREAD: asks how many bytes a pipe holds
