package files

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
)

// skipped is never walked into, nor listed: its content is the version control's own.
const skipped = ".git"

// walker goes through a tree by name, links not followed.
type walker struct {
	w      *Workspace
	visit  func(p place, entry fs.DirEntry) error // an error ends the walk
	enter  func(p place) bool                     // whether to go into a directory
	unread int                                    // directories that could not be read
}

// walk visits everything below a directory, except .git, each directory in order of
// its names (guarantee 5).
func (v *walker) walk(ctx context.Context, at place) error {
	f, _, err := v.w.open(at)
	if err != nil {
		v.unread++
		return nil
	}
	entries, err := f.ReadDir(-1)
	f.Close() // before going deeper, so that a deep tree needs no more open files than a flat one
	if err != nil {
		v.unread++
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p := at.join(e.Name())
		switch {
		case e.Name() == skipped:
		case !e.IsDir():
			if err := v.visit(p, e); err != nil {
				return err
			}
		case v.enter(p):
			if err := v.walk(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}
