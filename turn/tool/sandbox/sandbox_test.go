package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestNewTellsOfEverythingThatIsWrongAtOnce(t *testing.T) {
	dir := folder(t)
	_, err := New(Config{Mode: "docker", Workspace: []string{dir, filepath.Join(dir, "nowhere")}, Protected: []string{filepath.Join(dir, "no/db"), dir}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`sandbox "docker" is none of auto, landlock, none`,
		"workspace " + filepath.Join(dir, "nowhere") + ": ",
		"protected " + filepath.Join(dir, "no/db") + ": its folder does not exist",
		"the workspace " + dir + " lies inside " + dir + ", which is protected",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
	if _, err := New(Config{Mode: None}); err == nil || err.Error() != "the workspace has no directory" {
		t.Errorf("no workspace: %v", err)
	}
}

func TestModeNoneHoldsNothingAndSaysSo(t *testing.T) {
	s, err := New(Config{Mode: None, Workspace: []string{t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Holds() || s.Split() != nil || !strings.HasPrefix(s.String(), "commands are not contained: ") {
		t.Errorf("%v %v %q", s.Holds(), s.Split(), s)
	}
}

// Guarantee 2: the folders with the price are named.
func TestTheFoldersThatHoldSomethingProtectedAreNamed(t *testing.T) {
	if Probe().ABI == 0 {
		t.Skip(Probe())
	}
	dir := folder(t)
	for _, d := range []string{"ws/a/b", "ws/c", "out"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../c/real.db", filepath.Join(dir, "ws/a/linked.db")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ws/c/real.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(dir, "ws")
	for protected, want := range map[string]string{
		"out/db": "", "ws/db": "ws", "ws/a/b/db": "ws ws/a ws/a/b", "ws/a/linked.db": "ws ws/a ws/c", "ws/a": "ws",
	} {
		s, err := New(Config{Workspace: []string{ws}, Protected: []string{filepath.Join(dir, protected)}})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(strings.Join(s.Split(), " "), dir+"/", "")
		if got != want {
			t.Errorf("%s: %q, want %q", protected, got, want)
		}
		if strings.Contains(s.String(), "holds protected files") != (want != "") {
			t.Errorf("%s: %s", protected, s)
		}
	}
}

func TestSupportIsToldInWords(t *testing.T) {
	for want, s := range map[string]Support{
		"nothing": {Reason: "nothing"},
		"Landlock 7 holds files, emptying of files, sockets, TCP once more, signals":                                                                         {ABI: 7, Filter: true},
		"Landlock 2 holds files, sockets; it does not hold emptying of files (needs Linux 6.2), TCP once more (needs Linux 6.7), signals (needs Linux 6.12)": {ABI: 2, Filter: true},
	} {
		if s.String() != want {
			t.Errorf("got %q\nwant %q", s, want)
		}
	}
	for _, s := range []Support{{}, {ABI: 2, Filter: true}, {ABI: 7}} {
		if s.holds() {
			t.Errorf("%+v holds", s)
		}
	}
	t.Log(Probe())
}
