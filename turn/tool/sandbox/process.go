package sandbox

import "os"

// Command is what to run. Its own end, by whatever way, is the end of everything
// that it started.
type Command struct {
	Argv   []string // the program's absolute path first
	Env    []string // all of its environment; TMPDIR is added, and HOME moved, by guarantee 6
	Stdin  *os.File
	Output *os.File // its standard output and its standard error
	Status *os.File // is its descriptor 3
	Temp   string   // folder for temporary files, for the caller to remove while it lives; "" = one that goes with the command
}

// Process is a command that was started.
type Process struct {
	box     *Sandbox
	entries string   // of the box's split folders when it started
	pid     int      // of its supervisor
	control *os.File // a byte = kill; its end, which is the server's, too
	done    chan struct{}
	code    int
	why     string
}

// Done is closed when nothing of the command is left.
func (p *Process) Done() <-chan struct{} { return p.done }

// Kill kills the command and everything that it started. It does not wait; Done does.
func (p *Process) Kill() { _, _ = p.control.Write([]byte{0}) } // fails when the command has ended

// End is how the command ended, once Done is closed: its exit code, 128 and the number
// of the signal if one ended it. The reason is not "" when the sandbox ended it, or
// could not begin it.
func (p *Process) End() (code int, reason string) { return p.code, p.why }

// Stale tells whether folders of Split have other entries than when the command started,
// so that a fresh one would reach more (guarantee 2).
func (p *Process) Stale() bool { return p.box.entries() != p.entries }

// Alone tells whether nothing runs any more that the command started.
func (p *Process) Alone() bool { return len(descendants(p.pid)) == 1 }

// Supervisor is the id of the process that holds all of the command's together.
func (p *Process) Supervisor() int { return p.pid }
