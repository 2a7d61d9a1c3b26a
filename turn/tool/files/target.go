package files

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	maxFile  = 8 << 20 // bytes of a file that is written or edited
	maxLinks = 10      // symbolic links that the last name of a path may lead through
)

var errChanged = errors.New("was changed by somebody else meanwhile: read it again")

// target is a file that is about to be replaced, as it is before that.
type target struct {
	w      *Workspace
	place  place    // where it lies once links are followed
	parent *os.Root // its directory, so that both names of the replacement are in the same
	info   fs.FileInfo
	text   string // its content; info is nil, and there is none, if it is yet to be made
}

// target looks at what a path leads to. With create, directories on the way are
// made, and the file need not exist.
func (w *Workspace) target(p place, create bool) (*target, error) {
	p, err := w.followLink(p)
	if err != nil {
		return nil, err
	}
	if p.rel == "." {
		return nil, fmt.Errorf("%s is a directory", w.show(p))
	}
	parent := filepath.Dir(p.rel)
	if create {
		if w.claimed(p) {
			return nil, fmt.Errorf("%s %w", w.show(p), errHidden)
		}
		if err := p.dir.root.MkdirAll(parent, 0o777); err != nil {
			return nil, w.unwritable(p, err)
		}
	}
	t := &target{w: w, place: p}
	if t.parent, err = p.dir.root.OpenRoot(parent); err != nil {
		return nil, w.explain(p, err)
	}
	if err := t.look(create); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// claimed tells whether the path, or a directory on the way that is yet to be made, has
// the name of a hidden file.
func (w *Workspace) claimed(p place) bool {
	for rel := p.rel; rel != "."; rel = filepath.Dir(rel) {
		parent, err := p.dir.root.Stat(filepath.Dir(rel))
		if err == nil && w.hidden.claims(parent, filepath.Base(rel)) {
			return true
		}
	}
	return false
}

func (t *target) close() { t.parent.Close() }

func (t *target) name() string { return t.w.show(t.place) }
func (t *target) base() string { return filepath.Base(t.place.rel) }

// look reads the file, if there is one that may be replaced.
func (t *target) look(create bool) error {
	here, err := t.parent.Stat(".")
	if err != nil {
		return t.w.unwritable(t.place, err)
	}
	if t.w.hidden.claims(here, t.base()) {
		return fmt.Errorf("%s %w", t.name(), errHidden)
	}
	switch _, err := t.parent.Lstat(t.base()); {
	case create && errors.Is(err, fs.ErrNotExist):
		return nil
	case create && err != nil:
		return t.w.unwritable(t.place, err)
	}
	f, info, err := t.w.open(t.place)
	if err != nil {
		return err
	}
	defer f.Close()
	switch {
	case info.IsDir():
		return fmt.Errorf("%s is a directory", t.name())
	case info.Size() > maxFile:
		return fmt.Errorf("%s has %d bytes: only text files up to %d MiB can be changed", t.name(), info.Size(), maxFile>>20)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch why := notText(text[:min(len(text), headSize)]); {
	case err != nil:
		return fmt.Errorf("%s cannot be read: %w", t.name(), reason(err))
	case why != "":
		return fmt.Errorf("%s is %s: only UTF-8 text can be changed", t.name(), why)
	case len(text) > maxFile:
		return fmt.Errorf("%s %w", t.name(), errChanged)
	case bytes.IndexByte(text, 0) >= 0:
		return fmt.Errorf("%s is a binary file: only UTF-8 text can be changed", t.name())
	}
	t.info, t.text = info, string(text)
	return nil
}

// followLink follows a symbolic link that the path ends with, so that the file it
// leads to is replaced and not the link.
func (w *Workspace) followLink(p place) (place, error) {
	at := p
	for range maxLinks {
		info, err := at.dir.root.Lstat(at.rel)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return at, w.sameFile(p, at)
		}
		to, err := at.dir.root.Readlink(at.rel)
		if err != nil {
			return place{}, w.explain(p, err)
		}
		rel := filepath.Join(filepath.Dir(at.rel), to)
		if filepath.IsAbs(to) || !filepath.IsLocal(rel) {
			return place{}, fmt.Errorf("%w: a symbolic link on the way leads out of it", w.outside(w.show(p)))
		}
		at = place{at.dir, rel}
	}
	return place{}, fmt.Errorf("%s leads through too many symbolic links", w.show(p))
}

// sameFile checks that a link was followed to where the system follows it, which is
// elsewhere if a directory on the way is a link and the target has a .. in it.
func (w *Workspace) sameFile(link, at place) error {
	if link == at {
		return nil
	}
	want, err := link.dir.root.Stat(link.rel)
	if err != nil {
		return w.explain(link, err)
	}
	got, err := at.dir.root.Lstat(at.rel)
	if err != nil || !os.SameFile(want, got) {
		return fmt.Errorf("%s is a symbolic link that leads through others: give the path of the file itself", w.show(link))
	}
	return nil
}

// replace makes text the content of the file: all of it, or nothing of it. The new
// content is on the disk before it takes the name.
func (t *target) replace(ctx context.Context, text string) error {
	temporary := ".hitchpost-" + rand.Text() + ".tmp"
	err := t.fill(temporary, text)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = t.unchanged()
	}
	if err == nil {
		err = t.parent.Rename(temporary, t.base())
	}
	switch {
	case errors.Is(err, errChanged):
		err = fmt.Errorf("%s %w", t.name(), err)
	case err != nil:
		err = t.w.unwritable(t.place, err)
	}
	if err != nil {
		_ = t.parent.Remove(temporary) // it may not be there
		return err
	}
	if dir, err := t.parent.Open("."); err == nil {
		_ = dir.Sync() // some file systems cannot; the name is then as durable as they make it
		dir.Close()
	}
	return nil
}

func (t *target) fill(name, text string) error {
	mode := fs.FileMode(0o666)
	if t.info != nil {
		mode = 0o600 // until it has the mode of the file that it replaces
	}
	f, err := t.parent.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil && t.info != nil {
		keepOwner(f, t.info) // before the mode, which may depend on it
		err = f.Chmod(t.info.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// unchanged tells whether the file is still the one that was read.
func (t *target) unchanged() error {
	now, err := t.parent.Lstat(t.base())
	switch {
	case t.info == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case t.info == nil || errors.Is(err, fs.ErrNotExist):
		return errChanged
	case err != nil:
		return err
	case !os.SameFile(now, t.info) || now.Size() != t.info.Size() || !now.ModTime().Equal(t.info.ModTime()):
		return errChanged
	}
	return nil
}

// unwritable turns an error of the file system into one that tells a model what to do.
func (w *Workspace) unwritable(p place, err error) error {
	switch {
	case leadsOut(err):
		return w.explain(p, err)
	case errors.Is(err, fs.ErrExist): // while making directories
		return fmt.Errorf("%s cannot be written: what should be its directory is a file", w.show(p))
	}
	return fmt.Errorf("%s cannot be written: %w", w.show(p), reason(err))
}
