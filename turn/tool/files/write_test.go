package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func content(t testing.TB, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	must(t, err)
	return string(b)
}

// noLeftovers checks that no temporary file stayed anywhere below.
func noLeftovers(t testing.TB, dir string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			t.Errorf("%s was left behind", path)
		}
		return err
	}))
}

// Guarantees 9 and 10.
func TestWriteMakesAFileOfExactlyTheContent(t *testing.T) {
	dir := tree(t, map[string]string{"old.txt": "1\n2\n3\n", "dos.txt": "a\r\nb\r\n", "link.md": "-> old.txt", "d/": ""})
	must(t, os.Chmod(filepath.Join(dir, "old.txt"), 0o754))
	w := workspace(t, dir)
	odd := "a<b && c>d \u2028\u2029\u0085 cr \r lf \n\x7f\u202e 👩‍👩‍👧 e\u0301"
	for _, c := range []struct{ path, content, want string }{
		{"new.txt", "one\ntwo", "Created new.txt: 2 lines."},
		{"deep/er/new.txt", odd, "Created deep/er/new.txt: 2 lines."},
		{"empty", "", "Created empty: 0 lines."},
		{"old.txt", "1\nzwei\n3\n", "Replaced old.txt: 3 lines."},
		{"old.txt", "1\nzwei\n3\n", "old.txt holds exactly this already."},
		{"./link.md", "through the link\n", "Replaced old.txt: 1 line."},
		{"dos.txt", "a\nb\n", "Replaced dos.txt: 2 lines.\n[its lines ended with CRLF before, and end with LF now]"},
		{"dos2.txt", "\uFEFFa\r\nb\r\n", "Created dos2.txt: 2 lines."},
	} {
		expect(t, c.path, w.call(t, t.Context(), "Write", args{"file_path": c.path, "content": c.content}), c.want)
		expect(t, c.path, content(t, dir, c.path), c.content)
	}
	info, err := os.Lstat(filepath.Join(dir, "link.md"))
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced, not what it leads to")
	}
	if info, err = os.Stat(filepath.Join(dir, "old.txt")); err != nil || info.Mode().Perm() != 0o754 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
	noLeftovers(t, dir)
}

// Guarantees 1, 8 and 9.
func TestWriteRefusesWhatIsNoFileOfTheWorkspaceAndSaysWhy(t *testing.T) {
	base := tree(t, map[string]string{
		"secret/key": "SECRET\n", "ws/in.txt": "x\n", "ws/up": "-> ../secret/key", "ws/updir": "-> ../secret", "ws/loop": "-> loop",
		"ws/dangling": "-> nowhere", "ws/d/": "", "ws/bin": "\x7fELF\x00", "ws/latin1": "caf\xe9", "ws/torn": strings.Repeat("x\n", headSize) + "\x00",
		"ws/a/b/": "", "ws/in": "-> a/b", "ws/a/odd": "-> ../in.txt", "ws/x/odd": "-> y/../in.txt", "ws/a/in.txt": "x\n", "ws/x/y": "-> ../a/b",
	})
	ws := filepath.Join(base, "ws")
	must(t, os.Symlink(filepath.Join(ws, "in.txt"), filepath.Join(ws, "abs")))
	must(t, os.WriteFile(filepath.Join(ws, "huge"), nil, 0o644))
	must(t, os.Truncate(filepath.Join(ws, "huge"), maxFile+1))
	w := workspace(t, ws)
	outside := " is outside the workspace (" + ws + ")"
	link := outside + ": a symbolic link on the way leads out of it"
	for _, c := range []struct{ path, want string }{
		{"../secret/key", "../secret/key" + outside}, {"/etc/passwd", "/etc/passwd" + outside}, {"d/../../secret/new", "d/../../secret/new" + outside},
		{"/proc/self/environ", "/proc/self/environ" + outside}, {"up", "up" + link}, {"updir/key", "updir/key" + link}, {"updir/new/new", "updir/new/new" + link},
		{"abs", "abs" + link}, {"loop", "loop leads through too many symbolic links"}, {"dangling", "dangling is a symbolic link to what does not exist"},
		{"d", "d is a directory"}, {".", ". is a directory"}, {"d/", "d/ is a directory's path: give the file's"}, {"", "Write did not run, its arguments do not fit: file_path: must have at least 1 character"},
		{"in.txt/below", "in.txt/below cannot be written: what should be its directory is a file"}, {"a\x00b", `"a\x00b" is no path: it holds a NUL`},
		{"bin", "bin is a binary file: only UTF-8 text can be changed"}, {"latin1", "latin1 is not UTF-8 text: only UTF-8 text can be changed"},
		{"torn", "torn is a binary file: only UTF-8 text can be changed"}, {"huge", "huge has 8388609 bytes: only text files up to 8 MiB can be changed"},
		{"x/odd", "x/odd is a symbolic link that leads through others: give the path of the file itself"},
		{strings.Repeat("n", 300), strings.Repeat("n", 300) + " cannot be written: file name too long"},
	} {
		got := w.call(t, t.Context(), "Write", args{"file_path": c.path, "content": "overwritten"})
		if !strings.HasPrefix(got, "error: "+c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.path, got, c.want)
		}
	}
	expect(t, "a NUL", w.call(t, t.Context(), "Write", args{"file_path": "nul", "content": "a\x00b"}), "error: content holds a NUL: only text can be written")
	expect(t, "too much", w.call(t, t.Context(), "Write", args{"file_path": "big", "content": strings.Repeat("x", maxFile+1)}), "error: content has 8388609 bytes: a file may have 8 MiB")
	expect(t, "outside", content(t, base, "secret/key"), "SECRET\n")
	expect(t, "inside", content(t, ws, "in.txt"), "x\n")
	if _, err := os.Stat(filepath.Join(base, "secret/new")); err == nil {
		t.Error("a directory was made outside")
	}
	expect(t, "a link with a ..", w.call(t, t.Context(), "Write", args{"file_path": "a/odd", "content": "y\n"}), "Replaced in.txt: 1 line.")
	expect(t, "a linked directory", w.call(t, t.Context(), "Write", args{"file_path": "in/new", "content": "y\n"}), "Created in/new: 1 line.")
	expect(t, "a linked directory", content(t, ws, "a/b/new"), "y\n")
	noLeftovers(t, base)
}

// Guarantee 9.
func TestAFileThatSomebodyElseChangedIsNotReplaced(t *testing.T) {
	dir := tree(t, map[string]string{"f": "old\n", "g": "old\n"})
	w := workspace(t, dir)
	look := func(name string) *target {
		p, err := w.find(name)
		must(t, err)
		target, err := w.target(p, true)
		must(t, err)
		t.Cleanup(target.close)
		return target
	}
	changed, replaced, made, gone := look("f"), look("f"), look("new"), look("g")
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("newer\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "new"), []byte("newer\n"), 0o644))
	must(t, os.Remove(filepath.Join(dir, "g")))
	for what, target := range map[string]*target{"changed": changed, "made": made, "gone": gone} {
		if err := target.replace(t.Context(), "mine\n"); !errors.Is(err, errChanged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, os.Remove(filepath.Join(dir, "f")))
	must(t, os.Symlink("new", filepath.Join(dir, "f")))
	if err := replaced.replace(t.Context(), "mine\n"); !errors.Is(err, errChanged) {
		t.Errorf("a link in its place: %v", err)
	}
	expect(t, "new", content(t, dir, "new"), "newer\n")
	noLeftovers(t, dir)
}

// Guarantee 9.
func TestAWriteThatIsCancelledOrFailsLeavesTheFileAsItWas(t *testing.T) {
	dir := tree(t, map[string]string{"f": "old\n"})
	w := workspace(t, dir)
	p, err := w.find("f")
	must(t, err)
	target, err := w.target(p, false)
	must(t, err)
	defer target.close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if err := target.replace(ctx, "new\n"); err == nil || err.Error() != "f cannot be written: enough" {
		t.Errorf("after a cancel: %v", err)
	}
	expect(t, "f", content(t, dir, "f"), "old\n")
	noLeftovers(t, dir)
	if os.Getuid() == 0 {
		return // the superuser may write anywhere
	}
	must(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	expect(t, "no leave", w.call(t, t.Context(), "Write", args{"file_path": "f", "content": "new\n"}), "error: f cannot be written: permission denied")
}

// Guarantee 8.
func TestTheServersOwnFilesAreReachedByNoTool(t *testing.T) {
	dir := tree(t, map[string]string{
		"hitchpost.db": "x SECRET\n", "hitchpost.db-wal": "x SECRET\n", "hitchpost.toml": "x SECRET\n", "notes": "x\n", "sub/": "",
		"soft": "-> hitchpost.db", "alias": "-> sub", "back": "-> hitchpost.toml",
	})
	must(t, os.Link(filepath.Join(dir, "hitchpost.db"), filepath.Join(dir, "sub/hard")))
	linked := filepath.Join(tree(t, map[string]string{"l": "-> " + dir}), "l") // the same by another path
	w, err := Open([]string{dir, filepath.Join(dir, "sub")}, filepath.Join(dir, "hitchpost.db"), filepath.Join(linked, "hitchpost.db-wal"),
		filepath.Join(dir, "hitchpost.db-shm"), filepath.Join(dir, "hitchpost.toml"), filepath.Join(linked, "sub", "token"))
	must(t, err)
	t.Cleanup(func() { must(t, w.Close()) })
	for _, name := range []string{
		"hitchpost.db", "hitchpost.db-wal", "hitchpost.toml", "./sub/../hitchpost.db", filepath.Join(dir, "hitchpost.db"), "soft", "sub/hard", "alias/hard", "back",
		"hitchpost.db-shm", "sub/token", "alias/token", "alias/TOKEN", // these do not exist
	} {
		for tool, a := range map[string]args{
			"Read": {"file_path": name}, "Grep": {"pattern": ".", "path": name}, "Glob": {"pattern": name},
			"Write": {"file_path": name, "content": "x"}, "Edit": {"file_path": name, "old_string": "SECRET", "new_string": "x"},
		} {
			got := w.call(t, t.Context(), tool, a)
			refused := strings.Contains(got, "is one of the server's own files, which no tool may reach")
			if strings.Contains(got, "SECRET") || tool == "Write" && !refused || !refused && !strings.Contains(got, "does not exist") && got != "No file matches.\n" {
				t.Errorf("%s %s: %s", tool, name, got)
			}
		}
	}
	expect(t, "Grep", w.call(t, t.Context(), "Grep", args{"pattern": "x"}), "notes\n")
	expect(t, "Glob", w.call(t, t.Context(), "Glob", args{"pattern": "**"}), "notes\n")
	expect(t, "suggestions", w.call(t, t.Context(), "Read", args{"file_path": "hitchpost.d"}), "error: hitchpost.d does not exist")
	expect(t, "the database", content(t, dir, "hitchpost.db"), "x SECRET\n")

	must(t, os.WriteFile(filepath.Join(dir, "hitchpost.db-shm"), []byte("x SECRET\n"), 0o600)) // it comes later
	must(t, os.Rename(filepath.Join(dir, "notes"), filepath.Join(dir, "hitchpost.toml")))      // it is replaced
	expect(t, "later", w.call(t, t.Context(), "Grep", args{"pattern": "x"}), "No match.\n")
	if _, err := Open([]string{dir}, filepath.Join(dir, "sub")); err == nil {
		t.Error("a directory was hidden")
	}
}

// Guarantee 8: SQLite, say, opens no database beside which a folder has the name of its journal.
func TestNoFolderTakesTheNameOfOneOfTheServersOwnFiles(t *testing.T) {
	dir := tree(t, map[string]string{"sub/": "", "alias": "-> sub"})
	w, err := Open([]string{dir}, filepath.Join(dir, "hitchpost.db-journal"), filepath.Join(dir, "sub", "token"))
	must(t, err)
	t.Cleanup(func() { must(t, w.Close()) })
	for _, name := range []string{"hitchpost.db-journal/x", "Hitchpost.DB-journal/deep/x", "sub/token/x", "alias/token/x"} {
		got := w.call(t, t.Context(), "Write", args{"file_path": name, "content": "x"})
		expect(t, name, got, "error: "+name+" is one of the server's own files, which no tool may reach")
	}
	for _, name := range []string{"hitchpost.db-journal", "Hitchpost.DB-journal", "sub/token"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}

func TestAChangeIsShownAsADiff(t *testing.T) {
	dir := tree(t, map[string]string{"f.txt": "1\n2\n3\n4\n5\n6\n"})
	w := workspace(t, dir)
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"Edit", args{"file_path": "f.txt", "old_string": "5\n", "new_string": "<five>\nand more\n"},
			`{"kind":"tool","renderer":"diff","summary":"+2 −1","text":"--- f.txt\n+++ f.txt\n@@ -2,5 +2,6 @@\n 2\n 3\n 4\n-5\n+\u003cfive\u003e\n+and more\n 6\n","title":"Edit f.txt"}`},
		{"Write", args{"file_path": "new", "content": "a\nb"},
			`{"kind":"tool","renderer":"diff","summary":"+2 −0","text":"--- new\n+++ new\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n","title":"Write new"}`},
		{"Write", args{"file_path": "new", "content": "a\nb"}, `{"kind":"tool","renderer":"text","summary":"nothing to change","title":"Write new"}`},
	} {
		expect(t, c.tool, string(w.run(t, t.Context(), c.tool, c.args).Display), c.want)
	}
}

func TestTheDiffOfALargeChangeIsCutAndSaysSo(t *testing.T) {
	w := workspace(t, t.TempDir())
	for name, text := range map[string]string{
		"lines": strings.Repeat("x\n", 100_000), "long": strings.Repeat("x", 1<<20), "escaped": strings.Repeat(strings.Repeat("\x01", 100)+"\n", 1000),
		"wide": strings.Repeat(strings.Repeat("é", 250)+"\n", 1000),
	} {
		display := string(w.run(t, t.Context(), "Write", args{"file_path": name, "content": text}).Display)
		if display == "" {
			t.Errorf("%s: its hint was too large, and dropped", name)
		}
		if name != "long" && !strings.Contains(display, " more lines]") || name == "long" && !strings.Contains(display, "x…") {
			t.Errorf("%s: …%s", name, display[max(0, len(display)-100):])
		}
	}
	const half = 50_000
	before, after := &strings.Builder{}, &strings.Builder{}
	for i := range half {
		fmt.Fprintf(before, "%05d\n", i%100_000)
		fmt.Fprintf(after, "%05d\n", (i*7919)%100_000)
	}
	w.run(t, t.Context(), "Write", args{"file_path": "worst", "content": before.String()})
	expect(t, "a worst case", w.call(t, t.Context(), "Write", args{"file_path": "worst", "content": after.String()}), fmt.Sprintf("Replaced worst: %d lines.", half))
}
