package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// grants collects what Landlock is told to allow. A right given for a directory goes
// for all that is or comes below it and cannot be taken back further down, so a
// directory that holds something protected is granted entry by entry, without the
// right to add or remove entries.
type grants struct {
	protected []string
	all       []grant
	faults    []error
}

type grant struct {
	fd     int // names the file beyond doubt: between a look at a path and the rule the path could change
	rights rights
}

func (g *grants) close() {
	for _, one := range g.all {
		unix.Close(one.fd)
	}
}

// tree grants the rights for all below path, if it exists; path may be a link.
func (g *grants) tree(path string, r rights) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			g.faults = append(g.faults, err)
		}
		return
	}
	for _, p := range g.protected {
		if within(p, real) {
			return
		}
	}
	g.entry(unix.AT_FDCWD, real, real, r)
}

// entry grants one entry of a directory. Links are passed over: what they lead to has a
// grant of its own, or none.
func (g *grants) entry(dir int, name, path string, r rights) {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT || err == unix.EACCES { // gone meanwhile; of no use to the command either
		return
	}
	var info unix.Stat_t
	if err == nil {
		err = unix.Fstat(fd, &info)
	}
	if err != nil {
		g.faults = append(g.faults, fmt.Errorf("%s: %w", path, err))
		return
	}
	switch {
	case info.Mode&unix.S_IFMT == unix.S_IFLNK, g.same(&info):
		unix.Close(fd)
	case info.Mode&unix.S_IFMT != unix.S_IFDIR:
		g.all = append(g.all, grant{fd, r & fileOnly})
	case !g.below(path):
		g.all = append(g.all, grant{fd, r})
	default:
		g.all = append(g.all, grant{fd, list})
		g.entries(fd, path, r)
	}
}

func (g *grants) entries(dir int, path string, r rights) {
	names, err := os.ReadDir(fmt.Sprintf("/proc/self/fd/%d", dir))
	if err != nil {
		g.faults = append(g.faults, fmt.Errorf("%s: %w", path, err))
		return
	}
	for _, name := range names {
		if inner := filepath.Join(path, name.Name()); !g.hides(inner) {
			g.entry(dir, name.Name(), inner, r)
		}
	}
}

// hides tells whether a path is protected, or is a companion of something protected: a
// neighbour whose name begins with its name, as hitchpost.db-wal does.
func (g *grants) hides(path string) bool {
	for _, p := range g.protected {
		if within(p, path) || filepath.Dir(p) == filepath.Dir(path) && strings.HasPrefix(filepath.Base(path), filepath.Base(p)) {
			return true
		}
	}
	return false
}

// same recognises a protected file under another name beside it.
func (g *grants) same(info *unix.Stat_t) bool {
	for _, p := range g.protected {
		var other unix.Stat_t
		if unix.Stat(p, &other) == nil && other.Ino == info.Ino && other.Dev == info.Dev {
			return true
		}
	}
	return false
}

func (g *grants) below(path string) bool {
	for _, p := range g.protected {
		if within(path, p) {
			return true
		}
	}
	return false
}

// entries tells the states of the split folders apart, as far as a new command's grants
// depend on them.
func (s *Sandbox) entries() string {
	g := grants{protected: s.spec.Protected}
	var all strings.Builder
	for _, dir := range s.Split() {
		names, err := os.ReadDir(dir)
		if err != nil {
			continue // not there any more: nothing to grant either
		}
		for _, name := range names {
			path := filepath.Join(dir, name.Name())
			var info unix.Stat_t
			if !g.hides(path) && unix.Lstat(path, &info) == nil {
				fmt.Fprintf(&all, "%q %d %d\n", path, info.Ino, info.Mode&unix.S_IFMT)
			}
		}
	}
	return all.String()
}
