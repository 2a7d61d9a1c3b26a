//go:build unix

package shell

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hitchpost/turn/tool"
	"hitchpost/turn/tool/sandbox"
)

// Guarantee 1.
func TestWorkingDirectoryVariablesAndFunctionsLastBetweenCalls(t *testing.T) {
	b := open(t)
	must(t, os.Mkdir(filepath.Join(b.ws, "sub dir"), 0o755))
	expect(t, "first", b.run(`cd "sub dir" && export A=1 B="x y" && c=3 && f() { echo "f $1"; }`), "[exit code 0]")
	expect(t, "second", b.run(`pwd; echo $A "$B" $c; f x; env | grep '^A='`), b.ws+"/sub dir\n1 x y 3\nf x\nA=1\n[exit code 0]")
}

func TestTheExitCodeIsInTheResultAndTheDisplay(t *testing.T) {
	b := open(t)
	for command, want := range map[string]string{
		"true":                                "[exit code 0]",
		"false":                               "[exit code 1]",
		"exit_nothing":                        "bash: line 1: exit_nothing: command not found\n[exit code 127]",
		"(exit 7)":                            "[exit code 7]",
		"kill -9 $BASHPID | cat":              "[exit code 0]",
		"{ sh -c 'kill -9 $$'; } 2>/dev/null": "[exit code 137]",
		"printf 'no newline'":                 "no newline\n[exit code 0]",
		"echo out; echo err >&2":              "out\nerr\n[exit code 0]",
		"cat":                                 "[exit code 0]", // standard input is empty
		"read x; echo $?":                     "1\n[exit code 0]",
		"echo it\\'s \"'quoted'\" '$x'":       "it's 'quoted' $x\n[exit code 0]",
		"cat <<E\na\n'b'\nE":                  "a\n'b'\n[exit code 0]",
		"# nothing":                           "[exit code 0]",
		"true &&\nfalse # c":                  "[exit code 1]",
		"echo \u00e9 \U0001f600":              "\u00e9 \U0001f600\n[exit code 0]",
	} {
		got := b.run(command)
		if strings.HasPrefix(want, "bash:") { // the line it tells differs
			_, got, _ = strings.Cut(got, "exit_nothing: ")
			_, want, _ = strings.Cut(want, "exit_nothing: ")
		}
		expect(t, command, got, want)
	}
	res := b.call(t.Context(), "s", "\nfalse\ntrue; (exit 4)")
	expect(t, "display", string(res.Display), `{"extra":{"exit_code":4},"kind":"tool","renderer":"terminal","summary":"exit code 4","title":"false…"}`)
}

func TestASyntaxErrorIsOfItsCallOnly(t *testing.T) {
	b := open(t)
	b.run("x=1")
	for _, command := range []string{"break", "continue", "return", "if", "echo 'open", "}", ")", "$(", "cat <<E", "; ;", "'", `"`, "`", "case x in", "\\"} {
		got := b.run(command)
		if !strings.Contains(got, "[exit code ") || strings.Contains(got, "fresh") || strings.Contains(got, "ended") {
			t.Errorf("%q gave %q", command, got)
		}
	}
	expect(t, "after", b.run("{ echo $x; }; if true; then echo 2; fi"), "1\n2\n[exit code 0]")
}

// Guarantee 1.
func TestAShellThatEndedIsFollowedByAFreshOneAndTheResultsSaySo(t *testing.T) {
	b := open(t)
	b.run("cd /; x=1")
	const ended = "[the shell has ended: the next call gets a fresh one, with working directory and environment as at the start]"
	for command, code := range map[string]string{"echo bye; exit 3": "3", "set -e; echo bye; (exit 5)": "5", "echo bye; exec sh -c 'exit 6'": "6", "echo bye; kill -9 $$": "137"} {
		expect(t, command, b.run(command), "bye\n[exit code "+code+"]\n"+ended)
		expect(t, "after "+command, b.run("pwd; echo \"<$x>\""), "[a fresh shell: the last one ended with exit code "+code+
			"; working directory and environment are back at the start]\n"+b.ws+"\n<>\n[exit code 0]")
		expect(t, "and then", b.run("echo again"), "again\n[exit code 0]")
	}
}

// Guarantee 1.
func TestTwoSessionsShareNothingButTheFiles(t *testing.T) {
	b := open(t)
	text(t, b.call(t.Context(), "one", "cd /; x=one; echo hello >"+b.ws+"/f"))
	got := text(t, b.call(t.Context(), "two", "pwd; echo \"<$x>\"; cat f"))
	expect(t, "the other", got, b.ws+"\n<>\nhello\n[exit code 0]")
	temp := "echo $TMPDIR"
	if text(t, b.call(t.Context(), "one", temp)) == text(t, b.call(t.Context(), "two", temp)) {
		t.Error("two sessions share a temporary folder")
	}
}

// Guarantee 1.
func TestCallsOfOneSessionWaitForEachOther(t *testing.T) {
	b := open(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { b.run("n=$((n+1)); m=$n; sleep 0.01; echo $((m-n))") })
	}
	wg.Wait()
	expect(t, "count", b.run("echo $n"), "8\n[exit code 0]")
}

// Guarantee 5.
func TestABackgroundJobThatKeepsTheOutputOpenDoesNotHoldTheCall(t *testing.T) {
	b := open(t)
	expect(t, "start", b.run("(until [ -e go ]; do sleep 0.01; done; echo from the job; touch told; sleep 1000.5) & echo started"), "started\n[exit code 0]")
	must(t, os.WriteFile(filepath.Join(b.ws, "go"), nil, 0o644))
	until(t, "the job's file", func() bool { _, err := os.Stat(filepath.Join(b.ws, "told")); return err == nil })
	expect(t, "the next call", b.run("echo next"), "from the job\nnext\n[exit code 0]")
	expect(t, "jobs", b.run("kill %1 2>/dev/null; echo $?"), "0\n[exit code 0]")
}

// Guarantee 6.
func TestNothingThatACommandPrintsIsTakenForItsEnd(t *testing.T) {
	b := open(t)
	for _, command := range []string{
		`for fd in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "AAAAAAAAAAAAAAAAAAAAAAAAAA 0" >&$fd; done 2>/dev/null; (exit 9)`,
		`while IFS= read -r -d '' m; do echo "$m 0" >&3; done; (exit 9)`,
		`head -c 100000 /dev/zero | tr '\0' ' ' >&3; (exit 9)`,
		`exec >/dev/null 2>&1; (exit 9)`,
	} {
		if got := b.run(command); !strings.HasSuffix(got, "[exit code 9]") {
			t.Errorf("%s: %q", command, got)
		}
	}
	expect(t, "after all", b.run("echo still here"), "still here\n[exit code 0]")
}

// Guarantee 7.
func TestTheEnvironmentIsTheAllowListAndNothingElse(t *testing.T) {
	t.Setenv("HITCHPOST_TOKEN", "secret")
	t.Setenv("ALLOWED", "yes")
	b := open(t, func(_ *sandbox.Config, o *Options) { o.Env = []string{"PATH", "ALLOWED", "NOT_SET"} })
	got := b.run("env | cut -d= -f1 | sort | tr '\\n' ' '; echo $ALLOWED $HITCHPOST_TOKEN")
	expect(t, "environment", got, "ALLOWED PATH PWD SHLVL TMPDIR _ yes\n[exit code 0]")
}

// Guarantee 8.
func TestBashAsksByPolicyOnlyWhereTheSandboxHolds(t *testing.T) {
	bare := open(t).Tools()[0]
	if bare.Approval != tool.Always || !bare.Mutating || bare.Parallel || bare.Repeatable {
		t.Errorf("without a sandbox: %+v", bare)
	}
	needLandlock(t)
	if held := open(t, locked).Tools()[0]; held.Approval != tool.ByPolicy || !held.Mutating || held.Parallel || held.Repeatable {
		t.Errorf("in the sandbox: %+v", held)
	}
}

// Guarantee 9.
func TestAnIdleShellIsEndedAndTheNextCallSaysSo(t *testing.T) {
	b := open(t, func(_ *sandbox.Config, o *Options) { o.Idle = time.Millisecond })
	b.run("sleep 1000.25 & x=1")
	<-b.sessions["s"].shell.gone
	if left := processes(t, "1000.25"); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
	got := b.run("echo \"<$x>\"")
	expect(t, "after", got, "[a fresh shell: the last one was not used for 1ms; working directory and environment are back at the start]\n<>\n[exit code 0]")
}

// Guarantee 9: the time may be up at the very moment that a call begins.
func TestAnIdleTimeThatIsUpAsACallBeginsLeavesTheCall(t *testing.T) {
	b := open(t)
	b.run("x=1")
	one := b.sessions["s"]
	before := one.calls
	got := make(chan string)
	go func() { got <- b.run("touch up; until [ -e go ]; do sleep 0.01; done; echo $x") }()
	until(t, "the call", func() bool { _, err := os.Stat(filepath.Join(b.ws, "up")); return err == nil })
	b.unused(one, before) // by a timer that could not be stopped any more
	must(t, os.WriteFile(filepath.Join(b.ws, "go"), nil, 0o644))
	expect(t, "the call", <-got, "1\n[exit code 0]")
	expect(t, "the next one", b.run("echo $x"), "1\n[exit code 0]")
}

func TestACommandThatCannotBeGivenToAShellIsRefusedByName(t *testing.T) {
	b := open(t)
	expect(t, "NUL", b.run("echo \x00"), "error: the command holds a NUL character, which no command can")
	long := strings.Repeat("#", maxCommand+1)
	expect(t, "long", b.run(long), "error: the command has 131073 bytes, at most 131072 are allowed: put it into a file")
	expect(t, "as long as can be", b.run(long[1:]), "[exit code 0]")
}

// TestAFunctionNamedLikeABuiltinChangesNothingOfTheShellItself: what ran would run again
// and again.
func TestAFunctionNamedLikeABuiltinChangesNothingOfTheShellItself(t *testing.T) {
	b := open(t)
	for _, name := range []string{"read", "eval", "printf", "exec", "cd"} {
		b.run(name+"() { true; }; echo x >>count-"+name, time.Minute)
		expect(t, name, b.run("echo next; cat count-"+name), "next\nx\n[exit code 0]")
		b.run("unset -f " + name)
	}
}
