package store

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAFullDiskIsOpenedReadAndClosedByName plays on a file system of its own, a small one,
// and so in a process of its own with a view of the mounts of its own.
//
// guarantee 5
func TestAFullDiskIsOpenedReadAndClosedByName(t *testing.T) {
	if dir := os.Getenv("HITCHPOST_TEST_FULL"); dir != "" {
		onAFullDisk(t, dir)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "HITCHPOST_TEST_FULL="+t.TempDir())
	ids := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: ids(os.Getuid()), GidMappings: ids(os.Getgid()),
	}
	switch out, err := cmd.CombinedOutput(); {
	case errors.Is(err, syscall.EPERM), strings.Contains(string(out), "no mount:"):
		t.Skipf("no file system can be mounted here: %v %s", err, out)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
}

func onAFullDisk(t *testing.T, dir string) {
	ctx := context.Background()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip("no mount:", err)
	}
	path, fill := filepath.Join(dir, "log.db"), filepath.Join(dir, "fill")
	s, err := Open(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Create(ctx, Session{ID: "s1"}, []NewEvent{event("session/created", `{}`)}); err != nil {
		t.Fatal(err)
	}
	l, err := s.OpenLog(ctx, "s1")
	if err != nil {
		t.Fatal(err)
	}
	add(t, l, chunk(strings.Repeat("x", 200_000)), event("turn/end", `{}`))
	fillUp(t, fill)
	more := Batch{From: next(l), Events: []NewEvent{chunk(strings.Repeat("y", 200_000))}}
	if _, err := l.Append(ctx, more); !isFull(err) {
		t.Errorf("append = %v, want that the disk is full", err)
	}
	l.Close()
	if err := s.Close(); !isFull(err) || !strings.Contains(err.Error(), "log.db-wal") {
		t.Errorf("Close = %v, want that the disk is full, and what to keep", err)
	}

	s, err = Open(ctx, path, Options{})
	if err != nil {
		t.Fatalf("Open on the full disk = %v", err)
	}
	if err := s.Writable(ctx); !isFull(err) {
		t.Errorf("Writable = %v, want that the disk is full", err)
	}
	if l, err = s.OpenLog(ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	if n := len(all(t, l)); n != 3 {
		t.Errorf("%d events are read, want 3", n)
	}
	if _, err := l.Append(ctx, more); !isFull(err) {
		t.Errorf("append = %v, want that the disk is full", err)
	}
	if _, err := Open(ctx, path, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("a second Open = %v, want ErrLocked", err)
	}

	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	if err := s.Writable(ctx); err != nil {
		t.Errorf("Writable with room again = %v", err)
	}
	if _, err := l.Append(ctx, more); err != nil {
		t.Errorf("append with room again = %v", err)
	}
	l.Close()
	if err := s.Close(); err != nil {
		t.Errorf("Close with room again = %v", err)
	}

	fillUp(t, fill)
	if _, err := Open(ctx, path, Options{}); err == nil || !strings.Contains(err.Error(), "no room on the disk") {
		t.Errorf("Open without room for what SQLite needs beside the file = %v", err)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(ctx, path, Options{}); err != nil {
		t.Fatalf("Open with room again = %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	intact(t, path)
}

// fillUp leaves no room on the file system.
func fillUp(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4<<10))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}
