package mcp

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hitchpost/turn/event"
	"hitchpost/turn/tool"
)

const npmModules = "testdata/npm/node_modules"

// real is a server from npm, as its lock file pins it. The tests with one are
// skipped where it is not installed.
func real(t *testing.T, name, script string, args ...string) ServerConfig {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat(npmModules); err != nil {
		t.Skip("the npm servers are not installed: run npm ci in turn/tool/mcp/testdata/npm")
	}
	return ServerConfig{Name: name, Command: append([]string{node, script}, args...)}
}

func everything(t *testing.T, args ...string) ServerConfig {
	return real(t, "everything", npmModules+"/@modelcontextprotocol/server-everything/dist/index.js", args...)
}

// TestARealServerListsAnswersAndFails: the acceptance of the mount, against
// server-everything over stdio and over streamable HTTP.
func TestARealServerListsAnswersAndFails(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(*testing.T) ServerConfig{
		"stdio": func(t *testing.T) ServerConfig { return everything(t, "stdio") },
		"http":  everythingOverHTTP,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := mount(t, nil, make(t)).ready()
			if _, err := tool.NewSet(w.Tools()); err != nil {
				t.Fatal(err)
			}
			echo := w.tool("mcp__everything__echo")
			if echo.Mutating || !echo.Parallel || !echo.Repeatable || echo.Description == "" {
				t.Errorf("%+v", echo)
			}
			if got := w.text(w.call("mcp__everything__echo", `{"message":"a<b> \u2028 漢"}`)); got != "Echo: a<b> \u2028 漢" {
				t.Errorf("%q", got)
			}
			r := w.call("mcp__everything__get-structured-content", `{"location":"Chicago"}`)
			if !strings.HasPrefix(string(r.Content), `{"temperature":`) {
				t.Errorf("%+v %s", r, r.Content)
			}
			if got := w.text(w.call("mcp__everything__get-tiny-image", `{}`)); !strings.Contains(got, "\n[image image/png ") {
				t.Errorf("%q", got)
			}
			if r := w.call("mcp__everything__get-sum", `{"a":"one","b":2}`); !strings.Contains(r.Error, "a: must be a number") {
				t.Errorf("our own check of arguments: %+v", r)
			}
			// The Runner's check would refuse this, so it is sent past it.
			if r := w.tool("mcp__everything__get-sum").Run(t.Context(), callOf(`{"a":"one"}`)); r.Error == "" {
				t.Errorf("the server's check of arguments: %+v", r)
			}
			var heard []string
			r = w.callIn(t.Context(), "mcp__everything__trigger-long-running-operation", `{"duration":0.2,"steps":2}`, func(s string) { heard = append(heard, s) })
			if r.Error != "" || !slices.Equal(heard, []string{"1/2\n", "2/2\n"}) {
				t.Errorf("%+v, heard %q", r, heard)
			}
		})
	}
}

// everythingOverHTTP runs the server on a free port.
func everythingOverHTTP(t *testing.T) ServerConfig {
	config := everything(t, "streamableHttp")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, config.Command[0], config.Command[1:]...)
	cmd.Env = append(os.Environ(), "PORT="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	// It is not up yet, mostly: the mount tries again.
	return ServerConfig{Name: "everything", URL: "http://127.0.0.1:" + port + "/mcp", Timeout: time.Minute}
}

// TestARealServerThatTakesTooLongTimesOutAndIsThereForTheNextCall: guarantees 5 and 6.
func TestARealServerThatTakesTooLongTimesOutAndIsThereForTheNextCall(t *testing.T) {
	t.Parallel()
	w := mount(t, nil, everything(t, "stdio")).ready()
	ctx, timeUp := context.WithCancelCause(context.Background())
	call := callOf(`{"duration":60,"steps":60}`)
	call.Progress = func(string) { timeUp(errTimeout) }
	r := w.tool("mcp__everything__trigger-long-running-operation").Run(ctx, call)
	if r.Error != "mcp timeout after 30s" || r.Cause != string(event.CodeToolTimeout) {
		t.Errorf("%+v", r)
	}
	if got := w.text(w.call("mcp__everything__echo", `{"message":"again"}`)); got != "Echo: again" {
		t.Errorf("%q", got)
	}
}

// TestARealServerKilledInMidCallIsAnErrorAndComesBack: guarantees 5 and 7.
func TestARealServerKilledInMidCallIsAnErrorAndComesBack(t *testing.T) {
	t.Parallel()
	w := mount(t, nil, everything(t, "stdio")).ready()
	pid := w.conn().link.(*process).cmd.Process.Pid
	begun := make(chan struct{}, 100)
	done := make(chan tool.Result)
	go func() {
		done <- w.callIn(context.Background(), "mcp__everything__trigger-long-running-operation", `{"duration":20,"steps":100}`,
			func(string) { begun <- struct{}{} })
	}()
	<-begun
	killGroup(pid)
	want := "mcp server everything was lost during the call, whose outcome is unknown: its process ended: signal: killed"
	if r := <-done; r.Error != want || r.Cause != string(event.CodeMCP) {
		t.Errorf("%+v", r)
	}
	if got := w.text(w.call("mcp__everything__echo", `{"message":"again"}`)); got != "Echo: again" {
		t.Errorf("%q", got)
	}
	w.Close()
	if w.alive(strconv.Itoa(pid)) {
		t.Error("the killed process is still there")
	}
}

// TestARealServersListChangedRegistersAndRemoves: guarantee 8, against a server of
// the TypeScript SDK.
func TestARealServersListChangedRegistersAndRemoves(t *testing.T) {
	t.Parallel()
	w := mount(t, nil, real(t, "changing", "testdata/npm/changing.mjs"))
	w.changed()
	w.call("mcp__changing__add", `{}`)
	w.changed()
	if got := w.text(w.call("mcp__changing__added", `{}`)); got != "here" {
		t.Errorf("%q", got)
	}
	w.call("mcp__changing__remove", `{}`)
	w.changed()
	if got := w.names(); !slices.Equal(got, []string{"mcp__changing__add", "mcp__changing__remove"}) {
		t.Errorf("%q", got)
	}
}

// TestTheRealFilesystemServerReadsItsFolderAndRefusesOthers: the server of the
// configuration's example.
func TestTheRealFilesystemServerReadsItsFolderAndRefusesOthers(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := mount(t, nil, real(t, "files", npmModules+"/@modelcontextprotocol/server-filesystem/dist/index.js", dir)).ready()
	r := w.call("mcp__files__read_text_file", `{"path":`+quote(filepath.Join(dir, "a.txt"))+`}`)
	if !strings.Contains(string(r.Content), "hello") {
		t.Errorf("%+v %s", r, r.Content)
	}
	if r := w.call("mcp__files__read_text_file", `{"path":"/etc/passwd"}`); !strings.Contains(r.Error, "denied") {
		t.Errorf("%+v", r)
	}
	if write := w.tool("mcp__files__write_file"); !write.Mutating || !write.Asks() {
		t.Errorf("%+v", write)
	}
}
