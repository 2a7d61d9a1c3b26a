package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Modes of a Config.
const (
	Auto     = "auto"     // Landlock where the kernel has it, else None
	Landlock = "landlock" // Landlock, or New fails
	None     = "none"     // nothing is kept from a command; its end and its limits hold
)

// maxProcesses is how many processes a command may have at once, if Config does not say.
const maxProcesses = 512

// Config says what commands may reach.
type Config struct {
	Mode      string   // "" = Auto
	Workspace []string // directories to read and write, at least one
	Protected []string // files and directories kept out of reach wherever they lie, there or not
	Network   bool     // whether commands may open sockets
	Processes int      // of one command at once; 0 = 512
}

// Sandbox starts commands by one Config. It does not change once made.
type Sandbox struct {
	spec    spec
	support Support
}

// spec is what a child is told; it goes on the command line, so nothing in it is secret.
type spec struct {
	Landlock  bool
	Network   bool
	Workspace []string // without links
	Protected []string // the same; their last element may be missing
	Processes int

	Argv []string // of one Command from here on
	Dir  string
	Temp string

	RemoveTemp bool // when nothing of the command is left; when the server is gone, in any case
}

// New checks the configuration. The error names everything that is wrong with it.
func New(c Config) (*Sandbox, error) {
	s := &Sandbox{support: Probe()}
	s.spec.Network, s.spec.Processes = c.Network, c.Processes
	if c.Processes == 0 {
		s.spec.Processes = maxProcesses
	}
	var faults []error
	switch c.Mode {
	case "", Auto:
		s.spec.Landlock = s.support.ABI > 0
	case Landlock:
		s.spec.Landlock = true
		if !s.support.holds() {
			faults = append(faults, fmt.Errorf(`sandbox "landlock" does not hold here: %s; "auto" takes what there is`, s.support))
		}
	case None:
	default:
		faults = append(faults, fmt.Errorf("sandbox %q is none of auto, landlock, none", c.Mode))
	}
	if len(c.Workspace) == 0 {
		faults = append(faults, errors.New("the workspace has no directory"))
	}
	for _, path := range c.Workspace {
		real, err := resolve(path)
		if err == nil {
			_, err = os.ReadDir(real)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("workspace %s: %w", path, err))
		}
		s.spec.Workspace = append(s.spec.Workspace, real)
	}
	for _, path := range c.Protected {
		faults = append(faults, s.protect(path))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return s, nil
}

// protect adds a path by where it lies, and by where it leads if it is a link.
func (s *Sandbox) protect(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("protected %s: %w", path, err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("protected %s: its folder does not exist", path)
	}
	if err != nil {
		return fmt.Errorf("protected %s: %w", path, err)
	}
	all := []string{filepath.Join(dir, filepath.Base(abs))}
	if real, err := filepath.EvalSymlinks(all[0]); err == nil && real != all[0] {
		all = append(all, real)
	}
	for _, p := range all {
		for _, w := range s.spec.Workspace {
			if within(p, w) {
				return fmt.Errorf("the workspace %s lies inside %s, which is protected", w, p)
			}
		}
	}
	s.spec.Protected = append(s.spec.Protected, all...)
	return nil
}

// Holds tells whether commands reach no file and no network but what the Config gives
// them, by guarantees 1 to 4.
func (s *Sandbox) Holds() bool { return s.spec.Landlock && s.support.holds() }

// Split are the directories of the workspace that hold something protected. Directly
// in them a command can make, replace and remove nothing (guarantee 2).
func (s *Sandbox) Split() []string {
	if !s.spec.Landlock {
		return nil
	}
	var split []string
	for _, p := range s.spec.Protected {
		for _, w := range s.spec.Workspace {
			for dir := filepath.Dir(p); within(w, dir); dir = filepath.Dir(dir) {
				split = append(split, dir)
				if dir == w {
					break
				}
			}
		}
	}
	slices.Sort(split)
	return slices.Compact(split)
}

// String says in words what holds, for doctor, the log and the page.
func (s *Sandbox) String() string {
	if !s.spec.Landlock {
		return "commands are not contained: " + s.support.whyNot()
	}
	words := []string{s.support.String()}
	if s.spec.Network {
		words = append(words, "the network is open to commands")
	}
	for _, dir := range s.Split() {
		words = append(words, fmt.Sprintf("%s holds protected files, so commands can make, replace and remove nothing "+
			"directly in it, only in its folders; keep the database, the configuration and the tokens elsewhere to lift this", dir))
	}
	return strings.Join(words, "; ")
}

// within tells whether path is dir or lies below it; both are absolute and clean.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// resolve is the absolute path without links.
func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}
