package shell

import "golang.org/x/sys/unix"

const fionread = unix.TIOCINQ // asks how many bytes a pipe holds
