package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Workspace is the directories that the tools may see. It is safe for concurrent use.
type Workspace struct {
	dirs   []*dir
	hidden hidden
}

type dir struct {
	root *os.Root
	path string // absolute, as configured
	real string // the same with its links resolved, which users write as well
}

// Open opens the directories, of which there is at least one. The error tells of
// each one that is no directory. Close releases them. The tools reach none of the
// hidden files (guarantee 8), which need not exist, nor lie in the workspace.
func Open(workspace []string, hidden ...string) (*Workspace, error) {
	if len(workspace) == 0 {
		return nil, errors.New("the workspace has no directory")
	}
	own, err := hide(hidden)
	if err != nil {
		return nil, err
	}
	w := &Workspace{hidden: own}
	var faults []error
	for _, path := range workspace {
		d, err := openDir(path)
		if err != nil {
			faults = append(faults, fmt.Errorf("workspace %s: %w", path, reason(err)))
			continue
		}
		w.dirs = append(w.dirs, d)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func openDir(path string) (*dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	return &dir{root: root, path: abs, real: real}, nil
}

// Close releases the directories. No tool may be at work.
func (w *Workspace) Close() error {
	var faults []error
	for _, d := range w.dirs {
		faults = append(faults, d.root.Close())
	}
	return errors.Join(faults...)
}

// place is a path within one directory of the workspace; whether something is there
// is not known yet.
type place struct {
	dir *dir
	rel string // with the system's separators, "." for the directory itself
}

// find tells which directory of the workspace a path belongs to, the innermost if
// they are nested.
func (w *Workspace) find(name string) (place, error) {
	if strings.ContainsRune(name, 0) {
		return place{}, fmt.Errorf("%q is no path: it holds a NUL", name)
	}
	abs := filepath.FromSlash(name)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(w.dirs[0].path, abs)
	}
	best, length := place{}, -1
	for _, d := range w.dirs {
		for _, base := range []string{d.path, d.real} {
			rel, err := filepath.Rel(base, abs)
			if err == nil && filepath.IsLocal(rel) && len(base) > length {
				best, length = place{d, rel}, len(base)
			}
		}
	}
	if length < 0 {
		return place{}, w.outside(name)
	}
	return best, nil
}

func (w *Workspace) outside(name string) error {
	var all []string
	for _, d := range w.dirs {
		all = append(all, d.path)
	}
	return fmt.Errorf("%s is outside the workspace (%s)", name, strings.Join(all, ", "))
}

// show is the path as the tools tell it (guarantee 6).
func (w *Workspace) show(p place) string {
	if p.dir == w.dirs[0] {
		return filepath.ToSlash(p.rel)
	}
	return filepath.ToSlash(filepath.Join(p.dir.path, p.rel))
}

// join is the place of a path below p.
func (p place) join(rel string) place { return place{p.dir, filepath.Join(p.rel, rel)} }

// open opens a regular file or a directory for reading. It refuses anything else, and
// what is hidden, before it is opened, where opening may already do something (closing
// a database drops this process's locks on it), and again on the open handle, because
// names can change hands in between (guarantees 2 and 8).
func (w *Workspace) open(p place) (*os.File, fs.FileInfo, error) {
	info, err := p.dir.root.Stat(p.rel)
	if err != nil {
		return nil, nil, w.explain(p, err)
	}
	if err := w.refuse(p, info); err != nil {
		return nil, nil, err
	}
	f, err := p.dir.root.OpenFile(p.rel, openFlags, 0)
	if err != nil {
		return nil, nil, w.explain(p, err)
	}
	info, err = f.Stat()
	if err == nil {
		err = w.refuse(p, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, w.explain(p, err)
	}
	return f, info, nil
}

// specialError: the path is neither a file nor a directory.
type specialError struct{ path, kind string }

func (e *specialError) Error() string {
	return fmt.Sprintf("%s is %s: only regular files can be read or written", e.path, e.kind)
}

func (w *Workspace) refuse(p place, info fs.FileInfo) error {
	kind := "a special file"
	switch mode := info.Mode(); {
	case w.hidden.covers(info):
		return fmt.Errorf("%s %w", w.show(p), errHidden)
	case mode.IsRegular(), mode.IsDir():
		return nil
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return &specialError{w.show(p), kind}
}

// explain turns an error of the file system into one that tells a model what to do.
func (w *Workspace) explain(p place, err error) error {
	var special *specialError
	switch {
	case errors.As(err, &special), errors.Is(err, errHidden):
		return err
	case leadsOut(err):
		return fmt.Errorf("%w: a symbolic link on the way leads out of it", w.outside(w.show(p)))
	case errors.Is(err, fs.ErrNotExist):
		if _, err := p.dir.root.Lstat(p.rel); err == nil {
			return fmt.Errorf("%s is a symbolic link to what does not exist", w.show(p))
		}
		return fmt.Errorf("%s does not exist%s", w.show(p), w.suggest(p))
	}
	return fmt.Errorf("%s cannot be read: %w", w.show(p), reason(err))
}

// leadsOut recognises os.Root's refusal, which has no name of its own; a test keeps
// an eye on the words.
func leadsOut(err error) bool {
	return err != nil && strings.HasSuffix(err.Error(), "path escapes from parent")
}

// reason drops the operation and the path, which the message around it tells better.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
