//go:build unix

package shell

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"hitchpost/turn/tool/sandbox"
)

// shell is one bash and what we hold of it.
type shell struct {
	proc   *sandbox.Process
	script *os.File // its standard input, which it reads its commands from
	output *os.File // its standard output and error
	said   *capture
	status chan string   // records of its descriptor 3
	gone   chan struct{} // closed when nothing is left of it, readers included

	mu  sync.Mutex
	why string // why it was ended by us; "" = it was not
}

// start starts a bash that reads commands from its standard input, by driver.
func (s *Shells) start(temp string) (*shell, error) {
	var theirs, ours []*os.File
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, errors.Join(err, closeAll(theirs), closeAll(ours))
		}
		theirs, ours = append(theirs, w), append(ours, r)
	}
	theirs[0], ours[0] = ours[0], theirs[0] // the script goes the other way
	proc, err := s.box.Start(sandbox.Command{
		Argv: []string{s.bash, "--noprofile", "--norc", "-c", driver}, Env: s.environ(),
		Stdin: theirs[0], Output: theirs[1], Status: theirs[2], Temp: temp,
	})
	err = errors.Join(err, closeAll(theirs))
	if err != nil {
		return nil, errors.Join(err, closeAll(ours))
	}
	sh := &shell{proc: proc, script: ours[0], output: ours[1], said: newCapture(),
		status: make(chan string), gone: make(chan struct{})}
	var readers sync.WaitGroup
	readers.Go(func() { sh.readOutput() })
	readers.Go(func() { sh.readStatus(ours[2]) })
	go func() {
		defer close(sh.gone)
		<-proc.Done()
		sh.drain()
		closeAll(ours) // ends the readers also where something of the shell got away with its files
		readers.Wait()
	}()
	return sh, nil
}

func closeAll(files []*os.File) error {
	var faults []error
	for _, f := range files {
		faults = append(faults, f.Close())
	}
	return errors.Join(faults...)
}

// end kills the shell and all that it started, without waiting for it.
func (sh *shell) end(why string) {
	sh.mu.Lock()
	sh.why = cmp.Or(sh.why, why)
	sh.mu.Unlock()
	sh.proc.Kill()
}

// wait waits until nothing is left of an ended shell, for KillWait at most.
func (sh *shell) wait() bool {
	select {
	case <-sh.gone:
		return true
	case <-time.After(KillWait):
		return false
	}
}

// ending tells whether the shell is no more to be used.
func (sh *shell) ending() bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	select {
	case <-sh.proc.Done():
		return true
	default:
		return sh.why != ""
	}
}

// reason says why the shell is gone.
func (sh *shell) reason() string {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	code, why := sh.proc.End()
	return cmp.Or(sh.why, why, fmt.Sprintf("the last one ended with exit code %d", code))
}

// readStatus hands on each record of the shell; what is too long to be one is none.
func (sh *shell) readStatus(from io.Reader) {
	lines := bufio.NewReaderSize(from, 256)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return
		}
		select {
		case sh.status <- string(line):
		case <-sh.proc.Done():
		}
	}
}

// ended says why the shell was ended by us, "" if it was not.
func (sh *shell) ended() string {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.why
}
