package files

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hitchpost/turn/tool"
)

// tree writes files below a fresh directory. A name that ends with / is a directory,
// a content that begins with "-> " a symbolic link.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch target, link := strings.CutPrefix(content, "-> "); {
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(path, 0o755))
		case link:
			must(t, os.Symlink(target, path))
		default:
			must(t, os.WriteFile(path, []byte(content), 0o644))
		}
	}
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func workspace(t testing.TB, dirs ...string) *Workspace {
	t.Helper()
	w, err := Open(dirs)
	must(t, err)
	t.Cleanup(func() { must(t, w.Close()) })
	return w
}

type args map[string]any

// call runs a tool and returns what the model would read: the text, or "error: " and
// the error.
func (w *Workspace) call(t testing.TB, ctx context.Context, name string, a args) string {
	t.Helper()
	res := w.run(t, ctx, name, a)
	if res.Error != "" {
		return "error: " + res.Error
	}
	var text string
	must(t, json.Unmarshal(res.Content, &text))
	return text
}

// run runs a tool as an agent does, with its arguments checked.
func (w *Workspace) run(t testing.TB, ctx context.Context, name string, a args) tool.Result {
	t.Helper()
	set, err := tool.NewSet(w.Tools())
	must(t, err)
	run, ok := set.Lookup(name)
	if !ok {
		t.Fatalf("no tool %s", name)
	}
	encoded, err := json.Marshal(a)
	must(t, err)
	var r tool.Runner
	return r.Run(ctx, run, tool.Call{Args: encoded}, tool.Limits{})
}

func expect(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}
