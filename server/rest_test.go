package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"hitchpost/server/client"
)

// ask asks a running server over HTTP, with the token unless it is "".
func (s *running) ask(token, method, path, body string, headers ...string) (int, string) {
	s.t.Helper()
	resp := s.open(token, method, path, body, headers...)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func (s *running) open(token, method, path, body string, headers ...string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequest(method, "http://"+s.listen+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp
}

// TestADeletedSessionIsGoneFromEverySurfaceAtOnce: its run is aborted, its agent socket
// closes as unauthorized, its shell ends, and its id stays taken.
func TestADeletedSessionIsGoneFromEverySurfaceAtOnce(t *testing.T) {
	p := newPlace(t, "[approvals]\nenabled = false\n[tools]\nsandbox = \"none\"\n[agents.default]\npolicy = [\"*\"]\n")
	s := p.serve()
	ctx, done := context.WithTimeout(context.Background(), time.Minute)
	defer done()
	agent, err := client.Dial(ctx, "http://"+s.listen, secret, "main", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	if status, body := s.ask(secret, "POST", "/api/v1/sessions/main/runs", `{"input":"run echo $$ > pid; sleep 0"}`, "Prefer", "wait=600"); status != http.StatusOK {
		t.Fatalf("the run: %d %s", status, body)
	}
	if status, body := s.ask(secret, "DELETE", "/api/v1/sessions/main", ""); status != http.StatusNoContent {
		t.Fatalf("delete: %d %s", status, body)
	}
	for _, path := range []string{"", "/messages", "/events"} {
		if status, _ := s.ask(secret, "GET", "/api/v1/sessions/main"+path, ""); status != http.StatusNotFound {
			t.Errorf("GET main%s: %d", path, status)
		}
	}
	for err = error(nil); err == nil; {
		_, err = agent.Next(ctx) // what there was, then how the connection ended
	}
	if !strings.Contains(err.Error(), "unauthorized") {
		t.Errorf("its agent socket ended with %v", err)
	}
	if _, err := client.Dial(ctx, "http://"+s.listen, secret, "main", client.Options{}); err == nil {
		t.Error("the agent socket of a deleted session opens")
	}
	if pid, err := os.ReadFile(filepath.Join(p.dir, "pid")); err == nil {
		p.until("the session's shell has ended", func() bool {
			_, err := os.Stat("/proc/" + strings.TrimSpace(string(pid)))
			return os.IsNotExist(err)
		})
	} else {
		t.Logf("the demo model ran no command here: %v", err)
	}
}

// TestADrainEndsStreamsAndWaitingRequests: nobody hangs, and the exit code is 0.
func TestADrainEndsStreamsAndWaitingRequests(t *testing.T) {
	p := newPlace(t, "[timeouts]\nshutdown = \"100ms\"\n")
	s := p.serve()
	s.ask(secret, "POST", "/api/v1/sessions", `{"id":"main"}`)
	_, body := s.ask(secret, "POST", "/api/v1/sessions/main/runs", `{"input":"think 2000"}`, "Idempotency-Key", "k")
	var run struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(body), &run); err != nil {
		t.Fatal(err)
	}
	stream := s.open(secret, "GET", "/api/v1/runs/"+run.RunID+"/events", "")
	defer stream.Body.Close()
	first, err := bufio.NewReader(stream.Body).ReadString('\n')
	if err != nil || !strings.HasPrefix(first, "id: ") {
		t.Fatalf("the stream begins with %q, %v", first, err)
	}
	waiting := make(chan int, 1)
	go func() {
		status, _ := s.ask(secret, "POST", "/api/v1/sessions/main/runs", `{"input":"think 2000"}`, "Prefer", "wait=600", "Idempotency-Key", "k")
		waiting <- status
	}()
	p.until("the request waits", func() bool {
		_, figures := s.ask("", "GET", "/metrics", "")
		return strings.Contains(figures, "\nhitchpost_rest_streams 2\n")
	})
	began := time.Now()
	if code := s.term(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(began); took > time.Minute { // the request would wait for ten
		t.Errorf("the drain took %s", took)
	}
	if status := <-waiting; status != http.StatusServiceUnavailable {
		t.Errorf("the waiting request was answered %d", status)
	}
	if _, err := io.Copy(io.Discard, stream.Body); err != nil {
		t.Errorf("the stream did not end cleanly: %v", err)
	}
	p.serve()
	if status, body := s.ask(secret, "GET", "/api/v1/runs/"+run.RunID, ""); status != http.StatusOK || !strings.Contains(body, `"status":"resumable"`) {
		t.Errorf("after the restart: %d %s", status, body)
	}
}

// TestAReloadReachesRESTAndItsStreams: a token that is taken away ends what it opened.
func TestAReloadReachesRESTAndItsStreams(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGHUP on Windows")
	}
	p := newPlace(t, "")
	s := p.serve()
	s.ask(secret, "POST", "/api/v1/sessions", `{"id":"main"}`)
	_, body := s.ask(secret, "POST", "/api/v1/sessions/main/runs", `{"input":"think 2000"}`)
	var run struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(body), &run); err != nil {
		t.Fatal(err)
	}
	stream := s.open(secret, "GET", "/api/v1/runs/"+run.RunID+"/events", "")
	defer stream.Body.Close()
	const next = "another-secret-token-0123456789abcdef"
	p.configure("", next)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, stream.Body); err != nil {
		t.Errorf("the stream did not end cleanly: %v", err)
	}
	if status, _ := s.ask(secret, "GET", "/api/v1/sessions", ""); status != http.StatusUnauthorized {
		t.Errorf("the old token: %d", status)
	}
	if status, body := s.ask(next, "POST", "/api/v1/runs/"+run.RunID+"/cancel", ""); status != http.StatusAccepted {
		t.Errorf("the new token: %d %s", status, body)
	}
}

// TestReadyzAndMetricsSayHowTheServerDoes: the figures are there, and hold no secret.
func TestReadyzAndMetricsSayHowTheServerDoes(t *testing.T) {
	p := newPlace(t, "")
	s := p.serve()
	if status, body := s.ask("", "GET", "/readyz", ""); status != http.StatusOK || body != "ready\n" {
		t.Errorf("readyz: %d %s", status, body)
	}
	s.ask(secret, "POST", "/api/v1/sessions", `{"id":"main"}`)
	status, figures := s.ask("", "GET", "/metrics", "")
	if status != http.StatusOK || strings.Contains(figures, secret) {
		t.Fatalf("metrics: %d", status)
	}
	for _, name := range []string{
		"hitchpost_connections", "hitchpost_agents", "hitchpost_turns_running", "hitchpost_appends_total", "hitchpost_events_total",
		"hitchpost_commits_total", "hitchpost_commit_failures_total", "hitchpost_replay_slots_taken", "hitchpost_rest_streams",
		`hitchpost_rest_answers_total{status="2xx"}`, "process_resident_memory_bytes", "go_goroutines",
	} {
		if !strings.Contains(figures, "\n"+name+" ") && !strings.HasPrefix(figures, name+" ") {
			t.Errorf("metrics lack %s:\n%.2000s", name, figures)
		}
	}
	if !strings.Contains(figures, "\nhitchpost_events_total 1\n") || !strings.Contains(figures, fmt.Sprintf("\nhitchpost_rest_answers_total{status=%q} 1\n", "2xx")) {
		t.Errorf("the counts are wrong:\n%.1500s", figures)
	}
	if status, _ := s.ask("", "GET", "/api/v1/../healthz", ""); status == http.StatusOK {
		t.Error("a path was mended")
	}
}
