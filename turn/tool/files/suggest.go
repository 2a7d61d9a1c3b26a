package files

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

const (
	suggestNames = 3
	suggestAmong = 10_000 // names of the directory that are compared
	suggestBytes = 255    // of a name that is compared; a file's own is seldom longer
)

// suggest names what stands beside a path that does not exist and looks like it, as
// the end of a sentence; "" if nothing does.
func (w *Workspace) suggest(p place) string {
	parent, wanted := place{p.dir, filepath.Dir(p.rel)}, filepath.Base(p.rel)
	if p.rel == "." || len(wanted) > suggestBytes {
		return ""
	}
	f, err := p.dir.root.OpenFile(parent.rel, openFlags, 0)
	if err != nil {
		return ", nor can its directory " + w.show(parent) + " be opened"
	}
	defer f.Close()
	here, err := f.Stat()
	if err != nil {
		return ""
	}
	names, _ := f.Readdirnames(suggestAmong) // what could be read is enough
	type candidate struct {
		name  string
		score int
	}
	var close []candidate
	for _, name := range names {
		if score, similar := likeness(wanted, name); similar && !w.hidden.claims(here, name) {
			close = append(close, candidate{name, score})
		}
	}
	slices.SortFunc(close, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.name, b.name))
	})
	var shown []string
	for _, c := range close[:min(len(close), suggestNames)] {
		shown = append(shown, w.show(parent.join(c.name)))
	}
	if len(shown) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(shown, " or ") + "?"
}

// likeness tells whether two names are easily taken for each other; a lower score is
// closer.
func likeness(wanted, name string) (score int, similar bool) {
	a, b := strings.ToLower(wanted), strings.ToLower(name)
	switch {
	case a == b:
		return 0, true
	case stem(a) == stem(b):
		return 1, true
	}
	most := 1 + len(a)/6
	if apart := max(len(a), len(b)) - min(len(a), len(b)); apart > 4*most {
		return 0, false // no need to count
	}
	d := distance([]rune(a), []rune(b))
	return 1 + d, d <= most
}

func stem(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

// distance counts the characters to insert, drop or replace to make b of a.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ca := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, cb := range b {
			replaced := diagonal
			if ca != cb {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
