package mcp

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// process is a server that runs as our child: its messages are lines on its standard
// input and output.
type process struct {
	cmd    *exec.Cmd
	stdin  *stdin
	stdout *stdout
	ended  chan struct{} // closed when nothing of it is left
	exit   error         // how it ended; to be read behind ended

	mu     sync.Mutex
	killed bool // by a signal of ours
	reaped bool // its id may be another's
}

// exitError is how a child ended by itself.
type exitError struct {
	state  string // e.g. "exit status 3"
	killed bool   // it ended because we ended it
}

func (e *exitError) Error() string { return "its process ended: " + e.state }

// startError says that a command cannot be run at all: no waiting mends that.
type startError struct{ cause error }

func (e *startError) Error() string { return "it cannot be started: " + e.cause.Error() }
func (e *startError) Unwrap() error { return e.cause }

// start runs the server's command. The error is a *startError if that cannot be.
func start(cfg ServerConfig, baseEnv []string, w *wire) (*process, error) {
	var files [6]*os.File // of three pipes: first the child's ends, then ours
	var err error
	if files[0], files[3], err = os.Pipe(); err == nil {
		if files[4], files[1], err = os.Pipe(); err == nil {
			files[5], files[2], err = os.Pipe()
		}
	}
	closeAll := func(files []*os.File) {
		for _, f := range files {
			f.Close() // of a nil file it is an error too
		}
	}
	if err != nil {
		closeAll(files[:])
		return nil, err
	}
	cmd := exec.Command(cfg.Command[0], cfg.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[1], files[2]
	cmd.Env = environment(baseEnv, cfg.Env)
	ownGroup(cmd)
	err = cmd.Start()
	closeAll(files[:3])
	if err != nil {
		closeAll(files[3:])
		return nil, &startError{err}
	}
	p := &process{cmd: cmd, stdin: &stdin{file: files[3], patience: cfg.Timeout}, ended: make(chan struct{})}
	p.stdout = &stdout{lines: lines{wire: w, from: bufio.NewReaderSize(files[4], 64<<10)}, file: files[4], done: make(chan struct{})}
	go p.reap(w.output, files[5])
	return p, nil
}

// environment is what of ours the child may see, and what it is given.
func environment(allowed []string, given map[string]string) []string {
	env := []string{}
	for _, name := range allowed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for name, value := range given {
		env = append(env, name+"="+value) // of two, the last counts
	}
	return env
}

// reap waits for the end of the child, kills what it leaves behind, and lets the last
// lines of its output be read.
func (p *process) reap(output *outputLog, stderr *os.File) {
	defer close(p.ended)
	var drained sync.WaitGroup
	drained.Go(func() { output.drain(stderr) })
	_ = p.cmd.Wait() // the state says it all
	p.mu.Lock()
	p.reaped = true
	p.exit = &exitError{p.cmd.ProcessState.String(), p.killed}
	killGroup(p.cmd.Process.Pid) // the id stays the group's while anybody is in it
	p.mu.Unlock()
	select {
	case <-p.stdout.done:
	case <-time.After(cancelGrace): // something outside the group holds it open
	}
	deadline := time.Now().Add(cancelGrace)
	_ = stderr.SetReadDeadline(deadline) // pipes have deadlines
	drained.Wait()
	_ = p.stdout.Close() // closed by the SDK before, mostly
	_ = p.stdin.Close()
	stderr.Close()
}

func (p *process) transport() sdk.Transport {
	return &sdk.IOTransport{Reader: p.stdout, Writer: p.stdin, MaxLineLength: -1} // lines are bounded here
}

// call has nobody wait: the notice that a call was given up is written to the child, or the
// child is told by the end of its input.
func (p *process) call(ctx context.Context) (context.Context, <-chan struct{}) {
	told := make(chan struct{})
	close(told)
	return ctx, told
}

func (p *process) silent() <-chan struct{} { return p.stdout.done }

// hangUp closes the child's input, which tells a server to end; one that goes on gets
// SIGTERM half way to the kill.
func (p *process) hangUp() {
	_ = p.stdin.Close()
	timer := time.NewTimer(stopGrace / 2)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.signal(terminateGroup)
	}
}

func (p *process) kill() { p.signal(killGroup) }

func (p *process) signal(send func(leader int)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		p.killed = true
		send(p.cmd.Process.Pid)
	}
}

func (p *process) wait() error {
	<-p.ended
	return p.exit
}

// stdout is the child's output as the SDK reads it.
type stdout struct {
	lines
	file *os.File
	end  sync.Once
	done chan struct{} // closed when nobody will read on
}

func (s *stdout) Read(p []byte) (int, error) {
	n, err := s.lines.Read(p)
	if err != nil {
		s.end.Do(func() { close(s.done) })
	}
	return n, err
}

func (s *stdout) Close() error {
	s.end.Do(func() { close(s.done) })
	return s.file.Close()
}

// stdin is the child's input as the SDK writes it. A child that does not read holds a
// write up for patience at most; then the connection is useless and breaks.
type stdin struct {
	file     *os.File
	patience time.Duration
}

func (s *stdin) Write(p []byte) (int, error) {
	err := s.file.SetWriteDeadline(time.Now().Add(s.patience))
	if err != nil && !errors.Is(err, os.ErrNoDeadline) { // some systems have none for pipes
		return 0, err
	}
	n, err := s.file.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errors.New("it does not read what it is sent")
	}
	return n, err
}

func (s *stdin) Close() error { return s.file.Close() }
