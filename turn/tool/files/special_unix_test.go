//go:build unix

package files

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Guarantee 2. The pipe has no writer, so an open that waits would never return.
func TestPipesSocketsAndDevicesAreRefusedWithoutBlocking(t *testing.T) {
	dir := tree(t, map[string]string{"f.txt": "x\n"})
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	l, err := net.Listen("unix", filepath.Join(dir, "sock"))
	must(t, err)
	defer l.Close()
	w := workspace(t, dir, "/dev")
	for name, kind := range map[string]string{"pipe": "a named pipe", "sock": "a socket", "/dev/zero": "a device", "/dev/null": "a device"} {
		want := "error: " + name + " is " + kind + ": only regular files can be read or written"
		expect(t, "Read "+name, w.call(t, t.Context(), "Read", args{"file_path": name}), want)
		expect(t, "Write "+name, w.call(t, t.Context(), "Write", args{"file_path": name, "content": "x"}), want)
		expect(t, "Edit "+name, w.call(t, t.Context(), "Edit", args{"file_path": name, "old_string": "x", "new_string": "y"}), want)
		expect(t, "Grep "+name, w.call(t, t.Context(), "Grep", args{"pattern": "x", "path": name}), want)
	}
	expect(t, "Grep", w.call(t, t.Context(), "Grep", args{"pattern": "x"}), "f.txt\n")
	expect(t, "Glob", w.call(t, t.Context(), "Glob", args{"pattern": "*"}), "f.txt\n")
}

func TestAFileThatMayNotBeReadIsToldByItsReason(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("the superuser may read everything")
	}
	dir := tree(t, map[string]string{"f": "x\n", "d/g": "x\n"})
	must(t, os.Chmod(filepath.Join(dir, "f"), 0))
	must(t, os.Chmod(filepath.Join(dir, "d"), 0))
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "d"), 0o700) })
	w := workspace(t, dir)
	expect(t, "Read", w.call(t, t.Context(), "Read", args{"file_path": "f"}), "error: f cannot be read: permission denied")
	expect(t, "Grep", w.call(t, t.Context(), "Grep", args{"pattern": "x"}), "No match.\n[2 paths could not be read]\n")
}
