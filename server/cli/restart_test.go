package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"hitchpost/server/client"
	"hitchpost/server/wiretest"
	"hitchpost/turn/event"
)

const testToken = "the token of the test"

// startServer runs `hitchpost serve` in the current folder and waits until it answers.
func startServer(t *testing.T, url string) *exec.Cmd {
	t.Helper()
	server := exec.Command("hitchpost", "serve")
	server.Env = append(os.Environ(), "HITCHPOST_TEST_EXAMPLE="+os.DevNull)
	var log safeBuffer
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	for deadline := time.Now().Add(patience); ; {
		a, err := client.Dial(t.Context(), url, testToken, "probe", client.Options{})
		if err == nil {
			a.Close()
			return server
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not answer: %v\n%s", err, log.String())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// serverFolder moves into a fresh folder with a configuration and gives its address.
func serverFolder(t *testing.T) (url string) {
	t.Helper()
	address := wiretest.Address(t)
	t.Chdir(t.TempDir())
	text := fmt.Sprintf("listen = %q\ntokens = [{name = \"test\", token = %q}]\n", address, testToken)
	if err := os.WriteFile("hitchpost.toml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("hello.txt", []byte("Hello, reader.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return "http://" + address
}

func waitFor(t *testing.T, out *safeBuffer, text string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(out.String(), text); {
		if time.Now().After(deadline) {
			t.Fatalf("%q did not come: %s", text, out.String())
		}
		time.Sleep(time.Millisecond)
	}
}

func TestSendShowsARealReadOfARealFile(t *testing.T) {
	startServer(t, serverFolder(t))
	code, stdout, stderr := call(t, nil, "send", "main", "read hello.txt")
	if code != 0 || !strings.Contains(stdout, "Hello, reader.") || !strings.Contains(stderr, `→ Read {"file_path":"hello.txt"}`) {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// guarantee 4
func TestAChatOverAKilledServerShowsEachPieceOfTheLogOnce(t *testing.T) {
	url := serverFolder(t)
	server := startServer(t, url)
	input, keyboard := io.Pipe()
	var stdout, stderr safeBuffer
	code := make(chan int, 1)
	go func() {
		code <- Main([]string{"chat", "main"}, Program{Stdin: input, Stdout: &stdout, Stderr: &stderr})
	}()
	fmt.Fprintln(keyboard, "think 2000")
	waitFor(t, &stdout, "Thought 10 of 2000.")
	server.Process.Kill()
	server.Wait()
	startServer(t, url)
	waitFor(t, &stdout, "left the turn open")
	fmt.Fprintln(keyboard, "read hello.txt")
	waitFor(t, &stdout, "← Read: ")
	keyboard.Close()
	select {
	case got := <-code:
		if got != 0 {
			t.Errorf("exit %d: %s", got, stderr.String())
		}
	case <-time.After(patience):
		t.Fatalf("the chat did not end: %s\n%s", stdout.String(), stderr.String())
	}
	want, got := streamed(t, url), answersOf(stdout.String())
	if got != want {
		t.Errorf("the chat showed\n%s\nand the log has\n%s", got, want)
	}
}

// A text that waits for the next step when the server dies reached the disk without
// its sender knowing; sent again it must bring the turn back to life.
func TestSendOverAKilledServerEndsThoughItsTextWaitedInATurnOfSomebodyElse(t *testing.T) {
	url := serverFolder(t)
	server := startServer(t, url)
	a, err := client.Dial(t.Context(), url, testToken, "main", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Inject("think 2000", true, ""); err != nil {
		t.Fatal(err)
	}
	a.Subscribe(0)
	for m, err := range a.Messages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := m.(client.Event); ok && e.Type == event.AssistantChunkType {
			break
		}
	}
	var stdout, stderr safeBuffer
	code := make(chan int, 1)
	go func() {
		code <- Main([]string{"send", "main", "read hello.txt"}, Program{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
	}()
	waitFor(t, &stdout, "Thought 100 of 2000.") // long after the text was queued
	server.Process.Kill()
	server.Wait()
	startServer(t, url)
	select {
	case got := <-code:
		if got != 0 || !strings.Contains(stdout.String(), "Hello, reader.") {
			t.Errorf("exit %d: %s\n%s", got, stdout.String(), stderr.String())
		}
	case <-time.After(patience):
		t.Fatalf("send did not end: %s\n%s", stdout.String(), stderr.String())
	}
}

// streamed joins every piece of an answer in the log of main, without line ends.
func streamed(t *testing.T, url string) string {
	t.Helper()
	a, err := client.Dial(t.Context(), url, testToken, "main", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.Subscribe(0)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var all strings.Builder
	for m, err := range a.Messages(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		e, ok := m.(client.Event)
		if !ok {
			continue
		}
		if e.Type == event.AssistantChunkType {
			var chunk event.AssistantChunk
			if err := json.Unmarshal(e.Payload, &chunk); err != nil {
				t.Fatal(err)
			}
			all.WriteString(chunk.Text)
		}
		if e.Seq == a.Hello().LastSeq {
			break
		}
	}
	return strings.ReplaceAll(all.String(), "\n", "")
}

// answersOf takes the notes and the line ends out of what a chat showed.
func answersOf(shown string) string {
	var all strings.Builder
	for line := range strings.Lines(shown) {
		if !strings.HasPrefix(line, "→") && !strings.HasPrefix(line, "←") && !strings.HasPrefix(line, "(") {
			all.WriteString(strings.TrimSuffix(line, "\n"))
		}
	}
	return all.String()
}
