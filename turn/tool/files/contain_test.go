package files

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hitchpost/turn/tool"
)

// Guarantee 1.
func TestNothingOutsideTheWorkspaceIsReached(t *testing.T) {
	base := tree(t, map[string]string{
		"secret/key":      "SECRET\n",
		"ws/in.txt":       "inside\n",
		"ws/ok":           "-> in.txt",
		"ws/up":           "-> ../secret/key",
		"ws/updir":        "-> ../secret",
		"ws/chain":        "-> updir/key",
		"ws/loop":         "-> loop",
		"ws/environ":      "-> /proc/self/environ",
		"ws/sub/back":     "-> ../in.txt",
		"ws/sub/dangling": "-> nowhere",
		"wsx/near":        "SECRET\n",
	})
	abs := filepath.Join(base, "ws", "abs")
	must(t, os.Symlink(filepath.Join(base, "ws", "in.txt"), abs))
	ws := filepath.Join(base, "ws")
	w := workspace(t, ws)
	for name, want := range map[string]string{
		"in.txt":                          "     1\tinside\n",
		"ok":                              "     1\tinside\n",
		"sub/back":                        "     1\tinside\n",
		"sub/../in.txt":                   "     1\tinside\n",
		"../ws/in.txt":                    "     1\tinside\n",
		filepath.Join(ws, "in.txt"):       "     1\tinside\n",
		"../secret/key":                   "outside",
		"sub/../../secret/key":            "outside",
		filepath.Join(base, "secret/key"): "outside",
		filepath.Join(base, "wsx/near"):   "outside",
		"/proc/self/environ":              "outside",
		"/etc/passwd":                     "outside",
		"up":                              "link",
		"updir/key":                       "link",
		"updir":                           "link",
		"chain":                           "link",
		"environ":                         "link",
		"abs":                             "link",
		"loop":                            "error: loop cannot be read: too many levels of symbolic links",
		"sub/dangling":                    "error: sub/dangling is a symbolic link to what does not exist",
	} {
		got := w.call(t, t.Context(), "Read", args{"file_path": name})
		switch want {
		case "outside":
			want = fmt.Sprintf("error: %s is outside the workspace (%s)", name, ws)
		case "link":
			want = fmt.Sprintf("error: %s is outside the workspace (%s): a symbolic link on the way leads out of it", name, ws)
		}
		expect(t, name, got, want)
	}
	for _, c := range []struct {
		tool string
		args args
	}{
		{"Glob", args{"pattern": "**"}}, {"Glob", args{"pattern": "**/key"}}, {"Glob", args{"pattern": "updir/*"}},
		{"Glob", args{"pattern": "../**"}}, {"Glob", args{"pattern": "*", "path": ".."}}, {"Glob", args{"pattern": base + "/*/*"}},
		{"Glob", args{"pattern": "*/../../secret/*"}}, {"Glob", args{"pattern": "{..,x}/secret/*"}},
		{"Grep", args{"pattern": "SECRET", "output_mode": "content"}}, {"Grep", args{"pattern": "SECRET", "path": "updir"}},
		{"Grep", args{"pattern": "SECRET", "path": "up"}}, {"Grep", args{"pattern": "SECRET", "path": "../secret"}},
		{"Grep", args{"pattern": "SECRET", "glob": "../**"}}, {"Grep", args{"pattern": "PATH", "path": "environ"}},
	} {
		got := w.call(t, t.Context(), c.tool, c.args)
		for _, leak := range []string{"SECRET\n", "key\n", "near\n", "up\n", "environ:"} {
			if strings.Contains(got, leak) {
				t.Errorf("%s %v shows %q", c.tool, c.args, got)
			}
		}
	}
}

// Guarantee 1: a name that is a file at one moment and a link out of the tree the next.
func TestALinkSwappedInUnderTheToolsFeetLeadsNowhere(t *testing.T) {
	base := tree(t, map[string]string{"secret/f": "SECRET\n", "ws/d/f": "inside\n"})
	w := workspace(t, filepath.Join(base, "ws"))
	d, aside, link := filepath.Join(base, "ws/d"), filepath.Join(base, "aside"), filepath.Join(base, "link")
	must(t, os.Symlink("../secret", link))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Rename(d, aside)
			os.Rename(link, d)
			os.Rename(d, link)
			os.Rename(aside, d)
		}
	})
	for i := range 500 {
		if i%10 == 0 {
			w.call(t, t.Context(), "Write", args{"file_path": fmt.Sprintf("d/new%d", i), "content": "SECRET\n"})
			w.call(t, t.Context(), "Edit", args{"file_path": "d/f", "old_string": "SECRET", "new_string": "overwritten"})
		}
		for _, got := range []string{
			w.call(t, t.Context(), "Read", args{"file_path": "d/f"}),
			w.call(t, t.Context(), "Grep", args{"pattern": ".", "output_mode": "content", "glob": "f"}),
		} {
			if strings.Contains(got, "SECRET") {
				t.Fatal("read through a link that leads out")
			}
		}
	}
	close(stop)
	wg.Wait()
	outside, err := os.ReadDir(filepath.Join(base, "secret"))
	must(t, err)
	if len(outside) != 1 {
		t.Errorf("written through a link that leads out: %v", outside)
	}
	expect(t, "outside", content(t, base, "secret/f"), "SECRET\n")
}

// Guarantee 6.
func TestPathsOfFurtherDirectoriesAreAbsoluteAndAcceptedBack(t *testing.T) {
	base := tree(t, map[string]string{"a/one.txt": "x\n", "b/two.txt": "x\n", "a/nested/three.txt": "x\n", "alias": "-> a"})
	a, b := filepath.Join(base, "a"), filepath.Join(base, "b")
	w := workspace(t, filepath.Join(base, "alias"), b, filepath.Join(a, "nested"))
	two, three := filepath.Join(b, "two.txt"), filepath.Join(a, "nested", "three.txt")
	expect(t, "Glob in the first", w.call(t, t.Context(), "Glob", args{"pattern": "*.txt"}), "one.txt\n")
	expect(t, "Glob by path", w.call(t, t.Context(), "Glob", args{"pattern": "*.txt", "path": b}), two+"\n")
	expect(t, "Glob by pattern", w.call(t, t.Context(), "Glob", args{"pattern": b + "/**"}), two+"\n")
	expect(t, "Grep in the second", w.call(t, t.Context(), "Grep", args{"pattern": "x", "path": b}), two+"\n")
	for _, path := range []string{"one.txt", two, three, filepath.Join(a, "one.txt"), filepath.Join(base, "alias", "one.txt"), "../b/two.txt"} {
		expect(t, path, w.call(t, t.Context(), "Read", args{"file_path": path}), "     1\tx\n")
	}
}

func TestAHardLinkIsTheFileItself(t *testing.T) {
	dir := tree(t, map[string]string{"f": "x\n"})
	must(t, os.Link(filepath.Join(dir, "f"), filepath.Join(dir, "g")))
	expect(t, "hard link", workspace(t, dir).call(t, t.Context(), "Read", args{"file_path": "g"}), "     1\tx\n")
}

func TestOpenTellsOfEveryDirectoryThatIsNone(t *testing.T) {
	dir := tree(t, map[string]string{"f": ""})
	_, err := Open([]string{dir, filepath.Join(dir, "f"), filepath.Join(dir, "nowhere")})
	want := fmt.Sprintf("workspace %s: not a directory\nworkspace %s: no such file or directory", filepath.Join(dir, "f"), filepath.Join(dir, "nowhere"))
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := Open(nil); err == nil {
		t.Error("a workspace of no directory opened")
	}
}

func TestToolsThatOnlyLookNeverAskAndThoseThatChangeDo(t *testing.T) {
	w := workspace(t, t.TempDir())
	for _, tl := range w.changers() {
		if !tl.Asks() || !tl.Mutating || tl.Parallel || tl.Repeatable || tl.Description == "" {
			t.Errorf("%s: %+v", tl.Name, tl)
		}
	}
	for _, tl := range w.lookers() {
		if tl.Asks() || tl.Mutating || !tl.Parallel || !tl.Repeatable || tl.Description == "" {
			t.Errorf("%s: %+v", tl.Name, tl)
		}
	}
}

func TestEachToolHintsHowToShowItsAnswer(t *testing.T) {
	w := workspace(t, tree(t, map[string]string{"f.txt": "x\ny\n"}))
	for name, c := range map[string]struct{ args, want string }{
		"Read": {`{"file_path":"f.txt"}`, `{"kind":"tool","renderer":"text","summary":"2 lines","title":"Read f.txt"}`},
		"Glob": {`{"pattern":"*"}`, `{"kind":"tool","renderer":"text","summary":"1 file","title":"Glob *"}`},
		"Grep": {`{"pattern":"x","head_limit":1}`, `{"kind":"tool","renderer":"text","summary":"1 file","title":"Grep x"}`},
	} {
		set, err := tool.NewSet(w.Tools())
		must(t, err)
		run, _ := set.Lookup(name)
		var r tool.Runner
		res := r.Run(t.Context(), run, tool.Call{Args: json.RawMessage(c.args)}, tool.Limits{})
		expect(t, name, string(res.Display), c.want)
	}
}
