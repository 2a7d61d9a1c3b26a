package files

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"hitchpost/turn/tool"
)

const globFiles = 100 // files that are listed, the newest

const globDescription = `Finds files of the workspace by a glob pattern, such as **/*.go or src/*.{ts,tsx}. ` +
	`** stands for any number of directories. The files changed last come first; 100 at most are listed. .git is left out.`

const globSchema = `{"type":"object","additionalProperties":false,"required":["pattern"],"properties":{
"pattern":{"type":"string","minLength":1,"maxLength":1000,"description":"The glob pattern"},
"path":{"type":"string","description":"The directory to look in; the first of the workspace if left out"}}}`

type globArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

func (w *Workspace) glob(ctx context.Context, call tool.Call) tool.Result {
	var args globArgs
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return fail(err)
	}
	at, rest, err := w.globStart(args)
	if err != nil {
		return fail(err)
	}
	pat, err := parsePattern(rest)
	if err != nil {
		return fail(err)
	}
	newest := &newest{}
	depth := pat.deepest()
	v := walker{w: w,
		enter: func(p place) bool { return depth < 0 || strings.Count(below(at, p), "/") < depth },
		visit: func(p place, _ fs.DirEntry) error {
			if pat.match(below(at, p)) {
				newest.add(w, p)
			}
			return nil
		},
	}
	if err := v.walk(ctx, at); err != nil {
		return fail(err)
	}
	return answer(newest.text(v.unread), "Glob "+args.Pattern, plural(newest.total, "file"))
}

// globStart splits the pattern at its first special character: where the walk
// begins, and the pattern for what lies below.
func (w *Workspace) globStart(args globArgs) (at place, rest string, err error) {
	base, rest := doublestar.SplitPattern(filepath.ToSlash(args.Pattern))
	if !filepath.IsAbs(filepath.FromSlash(base)) {
		base = path.Join(filepath.ToSlash(args.Path), base)
	}
	if at, err = w.find(base); err != nil {
		return place{}, "", err
	}
	f, info, err := w.open(at)
	if err != nil {
		return place{}, "", err
	}
	f.Close()
	if !info.IsDir() {
		return place{}, "", fmt.Errorf("%s is a file, not a directory", w.show(at))
	}
	return at, rest, nil
}

// below is the slash-separated path from one place to another inside it.
func below(at, p place) string {
	rel := filepath.ToSlash(p.rel)
	if at.rel == "." {
		return rel
	}
	return strings.TrimPrefix(rel, filepath.ToSlash(at.rel)+"/")
}

// newest gathers files and keeps those that changed last.
type newest struct {
	files []dated
	total int
}

type dated struct {
	name string
	at   time.Time
}

// add takes the file in, if it is one. A link counts as the file it leads to, and is
// left out if that is none of the workspace's.
func (n *newest) add(w *Workspace, p place) {
	info, err := p.dir.root.Stat(p.rel) // not the entry's Info, which looks the path up anew
	if err != nil || !info.Mode().IsRegular() || w.hidden.covers(info) {
		return // gone meanwhile, or no file
	}
	n.total++
	n.files = append(n.files, dated{w.show(p), info.ModTime()})
	if len(n.files) > 10*globFiles {
		n.trim()
	}
}

func (n *newest) trim() {
	slices.SortFunc(n.files, func(a, b dated) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.name, b.name))
	})
	n.files = n.files[:min(len(n.files), globFiles)]
}

func (n *newest) text(unread int) string {
	n.trim()
	var b strings.Builder
	for _, f := range n.files {
		b.WriteString(f.name + "\n")
	}
	if n.total == 0 {
		b.WriteString("No file matches.\n")
	}
	if n.total > len(n.files) {
		fmt.Fprintf(&b, "[the newest %d of %d files are listed: narrow the pattern to see others]\n", len(n.files), n.total)
	}
	b.WriteString(unreadNote(unread))
	return b.String()
}

func unreadNote(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "[1 directory could not be read]\n"
	}
	return fmt.Sprintf("[%d directories could not be read]\n", n)
}
