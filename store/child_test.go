package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// play is what the test binary does as another process: "hold" takes the file
// until its standard input ends; "append" appends to 64 sessions without end and
// prints each append once it is acknowledged.
func play(role, path string) int {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	switch role {
	case "hold":
		s.SetHolder("127.0.0.1:4242")
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
		s.Close()
	case "append":
		var wg sync.WaitGroup
		for i := range producers {
			wg.Go(func() { appendWithoutEnd(ctx, s, fmt.Sprintf("s%d", i)) })
		}
		wg.Wait() // for the kill
	}
	return 0
}

// producers is the number of sessions, or of goroutines that append, of the tests and benchmarks of a busy store.
const producers = 64

func appendWithoutEnd(ctx context.Context, s *Store, id string) {
	if _, err := s.Session(ctx, id); err != nil {
		if err := s.Create(ctx, Session{ID: id}, []NewEvent{event("session/created", `{}`)}); err != nil {
			fmt.Println("error", err)
			return
		}
	}
	l, err := s.OpenLog(ctx, id)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	for {
		batch := Batch{From: next(l), Events: []NewEvent{chunk(strings.Repeat("x", 200)), event("turn/end", `{}`)}}
		events, err := l.Append(ctx, batch)
		if err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println(id, events[len(events)-1].Seq, events[len(events)-1].ID) // one write: lines of two sessions do not mix
	}
}

// other is the test binary as another process.
type other struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(t *testing.T, role, path string) *other {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "HITCHPOST_TEST_ROLE="+role, "HITCHPOST_TEST_FILE="+path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := &other{cmd, in, bufio.NewScanner(out)}
	t.Cleanup(func() {
		o.kill()
	})
	return o
}

// kill ends the process as a crash does, and waits for it.
func (o *other) kill() {
	o.cmd.Process.Kill()
	for o.out.Scan() {
	}
	o.cmd.Wait()
}
