package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// hidden is the absolute paths of files that no tool may reach (guarantee 8). They
// are looked at anew each time: they may come later, or be replaced.
type hidden []string

func hide(paths []string) (hidden, error) {
	var h hidden
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(abs); err == nil && info.IsDir() {
			return nil, fmt.Errorf("%s cannot be hidden: it is a directory", path)
		}
		h = append(h, abs)
	}
	return h, nil
}

// covers tells whether this is one of the files, whatever name led to it: a link of
// either kind is the same file.
func (h hidden) covers(info fs.FileInfo) bool {
	for _, path := range h {
		if kept, err := os.Stat(path); err == nil && os.SameFile(kept, info) {
			return true
		}
	}
	return false
}

// claims tells whether the name in the directory belongs to one of the files, also
// while it does not exist. Case does not count, for file systems that ignore it.
func (h hidden) claims(dir fs.FileInfo, name string) bool {
	for _, path := range h {
		if !strings.EqualFold(filepath.Base(path), name) {
			continue
		}
		if parent, err := os.Stat(filepath.Dir(path)); err == nil && os.SameFile(parent, dir) {
			return true
		}
	}
	return false
}

var errHidden = errors.New("is one of the server's own files, which no tool may reach")
