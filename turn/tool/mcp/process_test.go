package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hitchpost/turn/tool"
)

func callOf(args string) tool.Call { return tool.Call{Args: json.RawMessage(args)} }

// TestNothingOfAServerIsLeftWhenItIsClosed: guarantees 10 and 12.
func TestNothingOfAServerIsLeftWhenItIsClosed(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	pids := []string{w.text(w.call("mcp__stub__pid", `{}`)), w.text(w.call("mcp__stub__child", `{}`))}
	for _, pid := range pids {
		if !w.alive(pid) {
			t.Fatalf("%s does not run", pid)
		}
	}
	w.Close()
	if w.alive(pids[0]) {
		t.Error("the server still runs")
	}
	waitFor(t, "the server's child is gone", func() bool { return !w.alive(pids[1]) })
	if r := w.call("mcp__stub__pid", `{}`); r.Error != "cancelled" {
		t.Errorf("a call behind Close: %+v", r)
	}
}

// TestTheChildrenOfAServerThatCrashesAreGone: guarantee 10.
func TestTheChildrenOfAServerThatCrashesAreGone(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	child := w.text(w.call("mcp__stub__child", `{}`))
	w.call("mcp__stub__exit", `{"code":1}`)
	waitFor(t, "its child is gone", func() bool { return !w.alive(child) })
}

// TestAServerThatDoesNotEndWhenToldToIsKilled: guarantee 12.
func TestAServerThatDoesNotEndWhenToldToIsKilled(t *testing.T) {
	t.Parallel()
	w := mount(t, nil)
	stubborn := w.stub("stub", nil)
	stubborn.Command = []string{"sh", "-c", `trap "" TERM; "$0"; sleep 1000`, stubborn.Command[0]}
	w = mount(t, nil, stubborn).ready()
	pid := w.text(w.call("mcp__stub__pid", `{}`))
	w.Close()
	waitFor(t, "it is gone", func() bool { return !w.alive(pid) })
}

// TestCloseEndsACallThatIsUnderWay: guarantee 12.
func TestCloseEndsACallThatIsUnderWay(t *testing.T) {
	t.Parallel()
	w := mount(t, nil).ready()
	done := make(chan tool.Result)
	go func() { done <- w.call("mcp__stub__sleep", `{"ms":600000}`) }()
	waitFor(t, "the call is under way", func() bool { return w.noted("call sleep") })
	w.Close()
	if r := <-done; r.Error != "cancelled" {
		t.Errorf("%+v", r)
	}
}

// TestAChildSeesTheAllowedEnvironmentAndWhatItIsGiven: guarantee 10.
func TestAChildSeesTheAllowedEnvironmentAndWhatItIsGiven(t *testing.T) {
	t.Setenv("HITCHPOST_TEST_HIDDEN", "not for tools")
	w := mount(t, map[string]string{"GIVEN": "to it"}).ready()
	env := strings.Split(w.text(w.call("mcp__stub__env", `{}`)), "\n")
	if !slices.Contains(env, "GIVEN=to it") {
		t.Errorf("what is configured is missing: %q", env)
	}
	for _, line := range env {
		name, _, _ := strings.Cut(line, "=")
		if !slices.Contains([]string{"PATH", "GIVEN", stubEnv, "STUB_NOTES"}, name) {
			t.Errorf("%s reached the child", name)
		}
	}
}

// TestStandardErrorReachesTheLogWithoutSecretsAndBounded: guarantees 9 and 11.
func TestStandardErrorReachesTheLogWithoutSecretsAndBounded(t *testing.T) {
	t.Parallel()
	w := mount(t, map[string]string{"TOKEN": "sk-very-secret-1"}).ready()
	text := "hello there\nthe token is sk-very-secret-1.\n" + strings.Repeat("y", 10_000) + "sk-very-secret-1\n"
	w.call("mcp__stub__stderr", `{"text":`+quote(text)+`}`)
	waitFor(t, "the log shows it", func() bool { return strings.Contains(w.log.String(), "the token is [secret].") })
	for range 5 {
		w.call("mcp__stub__stderr", `{"text":`+quote(strings.Repeat("flood\n", 10_000))+`}`)
	}
	w.Close()
	log := w.log.String()
	if strings.Contains(log, "sk-very-secret") {
		t.Error("a secret is in the log")
	}
	if len(log) > 100_000 {
		t.Errorf("%d bytes are in the log", len(log))
	}
}
