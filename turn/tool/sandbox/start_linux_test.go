package sandbox

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// start runs a command of /bin/sh and returns its output, exit code and reason.
func start(t *testing.T, s *Sandbox, argv ...string) (string, int, string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Start(Command{Argv: argv, Env: []string{"PATH=/home/none/bin:/usr/bin:/bin", "HOME=/root", "A=1"}, Stdin: null, Output: w, Status: null})
	w.Close()
	null.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	code, reason := p.End()
	return string(out), code, reason
}

func box(t *testing.T, c Config) *Sandbox {
	t.Helper()
	c.Workspace = append(c.Workspace, folder(t))
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestACommandThatCannotBeginSaysWhy(t *testing.T) {
	for _, mode := range []string{None, Auto} {
		_, code, reason := start(t, box(t, Config{Mode: mode}), "/nowhere/sh")
		if code != exitNotRun || reason != "the sandbox does not start: exec /nowhere/sh: no such file or directory" {
			t.Errorf("%s: code %d, reason %q", mode, code, reason)
		}
	}
}

// Guarantee 6.
func TestTheTemporaryFolderGoesWithTheCommand(t *testing.T) {
	for _, mode := range []string{None, Auto} {
		out, code, reason := start(t, box(t, Config{Mode: mode}), "/bin/sh", "-c", `touch "$TMPDIR/x" && echo "$TMPDIR"; exit 5`)
		if code != 5 || reason != "" {
			t.Errorf("%s: code %d, reason %q", mode, code, reason)
		}
		if temp := strings.TrimSpace(out); !filepath.IsAbs(temp) {
			t.Errorf("%s: TMPDIR is %q", mode, temp)
		} else if _, err := os.Stat(temp); !os.IsNotExist(err) {
			t.Errorf("%s: %s is left: %v", mode, temp, err)
		}
	}
}

// Guarantee 6.
func TestPathKeepsOnlyWhatCanBeReached(t *testing.T) {
	if Probe().ABI == 0 {
		t.Skip(Probe())
	}
	const command = `echo "$PATH $A"; [ "$HOME" = "$TMPDIR" ]`
	if out, code, _ := start(t, box(t, Config{}), "/bin/sh", "-c", command); out != "/usr/bin:/bin 1\n" || code != 0 {
		t.Errorf("code %d, %q", code, out)
	}
	if out, code, _ := start(t, box(t, Config{Mode: None}), "/bin/sh", "-c", command); out != "/home/none/bin:/usr/bin:/bin 1\n" || code != 1 {
		t.Errorf("mode none: code %d, %q", code, out)
	}
}

// Guarantee 7: the command's own end is that of what it left behind.
func TestWhatACommandLeavesBehindEndsWithIt(t *testing.T) {
	if out, code, _ := start(t, box(t, Config{Mode: None}), "/bin/sh", "-c", "sleep 1010.5 & (setsid sleep 1010.5 &); echo done"); out != "done\n" || code != 0 {
		t.Errorf("code %d, %q", code, out)
	}
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if line, err := os.ReadFile(name); err == nil && strings.Contains(string(line), "1010.5") {
			t.Errorf("%s is left", name)
		}
	}
}

// Guarantee 7: files of a name that could mislead.
func TestAProcessIsFoundWhateverItsName(t *testing.T) {
	s := box(t, Config{Mode: None})
	script := filepath.Join(s.spec.Workspace[0], ") Z 1 (")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nsleep 1011.5\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, code, _ := start(t, s, "/bin/sh", "-c", "(setsid './) Z 1 (' & ) ; sleep 0.2"); code != 0 {
		t.Errorf("code %d", code)
	}
}

func TestStartRefusesInAProgramThatDoesNotCallMain(t *testing.T) {
	hooked = false
	defer func() { hooked = true }()
	_, err := box(t, Config{Mode: None}).Start(Command{Argv: []string{"/bin/sh"}})
	if err == nil || err.Error() != "the program does not call sandbox.Main first in its main" {
		t.Errorf("error %v", err)
	}
}
