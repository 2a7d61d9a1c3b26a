//go:build unix

package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxReport is how many bytes of a reason are kept.
const maxReport = 4 << 10

// Start starts a command. The caller keeps its own ends of the files, and closes them.
func (s *Sandbox) Start(c Command) (*Process, error) {
	if !hooked {
		return nil, errors.New("the program does not call sandbox.Main first in its main")
	}
	if c.Temp != "" {
		return s.start(c, false)
	}
	temp, err := os.MkdirTemp("", "hitchpost-")
	if err != nil {
		return nil, fmt.Errorf("no private folder for temporary files: %w", err)
	}
	c.Temp = temp
	p, err := s.start(c, true)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(temp))
	}
	return p, nil
}

func (s *Sandbox) start(c Command, removeTemp bool) (*Process, error) {
	told := s.spec
	told.Argv, told.Dir, told.Temp, told.RemoveTemp = c.Argv, s.spec.Workspace[0], c.Temp, removeTemp
	entries := s.entries() // before the child looks: what comes in between counts as new
	text, err := json.Marshal(told)
	if err != nil {
		return nil, err
	}
	controlled, control, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer controlled.Close()
	report, reported, err := os.Pipe()
	if err != nil {
		control.Close()
		return nil, err
	}
	defer reported.Close()
	cmd := &exec.Cmd{
		Path: self, Args: []string{os.Args[0], hook, "supervise", string(text)},
		Env: s.environ(c.Env, c.Temp), Dir: "/",
		Stdin: c.Stdin, Stdout: c.Output, Stderr: c.Output,
		ExtraFiles:  []*os.File{c.Status, reported, controlled}, // statusFD, reportFD, controlFD
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},         // out of reach of the terminal's keys
	}
	if err := cmd.Start(); err != nil {
		control.Close()
		report.Close()
		return nil, fmt.Errorf("the sandbox does not start: %w", err)
	}
	p := &Process{box: s, entries: entries, pid: cmd.Process.Pid, control: control, done: make(chan struct{})}
	go p.wait(cmd, report)
	return p, nil
}

// wait ends with the supervisor, which outlives everything that the command started.
func (p *Process) wait(cmd *exec.Cmd, report *os.File) {
	defer close(p.done)
	text, _ := io.ReadAll(io.LimitReader(report, maxReport))
	report.Close()
	p.why = strings.ToValidUTF8(string(text), "\uFFFD")
	err := cmd.Wait()
	p.control.Close()
	p.code = cmd.ProcessState.ExitCode()
	if p.code < 0 { // no command can do this where signals are held
		p.why = cmp.Or(p.why, fmt.Sprintf("its supervisor was killed (%v); what it started may still run", err))
	}
}

// environ adds where temporary files go. Where files are held, home is there too, since
// the real one cannot be read, and PATH leaves out what cannot be reached: a program
// there would hide the one behind it that can.
func (s *Sandbox) environ(env []string, temp string) []string {
	var all []string
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		switch {
		case name == "TMPDIR", s.spec.Landlock && name == "HOME":
			continue
		case s.spec.Landlock && name == "PATH":
			dirs := slices.DeleteFunc(filepath.SplitList(value), func(dir string) bool { return !s.reaches(dir) })
			e = "PATH=" + strings.Join(dirs, string(filepath.ListSeparator))
		}
		all = append(all, e)
	}
	if s.spec.Landlock {
		all = append(all, "HOME="+temp)
	}
	return append(all, "TMPDIR="+temp)
}

// reaches tells whether commands can read a directory.
func (s *Sandbox) reaches(dir string) bool {
	real, err := resolve(dir)
	in := func(root string) bool {
		root, err := resolve(root)
		return err == nil && within(root, real)
	}
	return err == nil && (slices.ContainsFunc(system, in) || slices.ContainsFunc(s.spec.Workspace, in))
}
