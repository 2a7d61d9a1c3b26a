//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// A pipe without a writer would otherwise hold the one who opens it, for ever.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

// keepOwner gives the file the owner of another, where this process may.
func keepOwner(f *os.File, of fs.FileInfo) {
	if st, ok := of.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid)) // only the superuser may; others own what they write
	}
}
