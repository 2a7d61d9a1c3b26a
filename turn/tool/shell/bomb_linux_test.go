package shell

import (
	"fmt"
	"strings"
	"testing"

	"hitchpost/turn/tool/sandbox"
)

func few(c *sandbox.Config, _ *Options) { c.Processes = 60 }

// A bomb that ends by itself if nothing else ends it: 2^10 processes at most.
const bomb = `f() { [ $1 -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & }; sleep %s; }; f 9`

func TestAForkBombIsKilledAndTheServerGoesOn(t *testing.T) {
	for mode, word := range map[string]string{sandbox.None: "1006.1", sandbox.Auto: "1006.2"} {
		b := open(t, few, func(c *sandbox.Config, _ *Options) { c.Mode = mode })
		got := b.run(fmt.Sprintf(bomb, word))
		if !strings.HasPrefix(got, "error: it had ") || !strings.Contains(got, " processes at once and was killed: at most 60 are allowed") {
			t.Errorf("the bomb gave %q", got)
		}
		if left := processes(t, word); len(left) > 0 {
			t.Errorf("left over: %d", len(left))
		}
		if got := b.run("echo next"); !strings.HasPrefix(got, "[a fresh shell: it had ") || !strings.HasSuffix(got, "next\n[exit code 0]") {
			t.Errorf("the next call gave %q", got)
		}
	}
}

func TestProcessesThatComeSlowlyAreCountedToo(t *testing.T) {
	b := open(t, few)
	got := b.run("while :; do sleep 1007.5 & sleep 0.01; done")
	var n int // more than it may have, by as many as came between two looks
	if _, err := fmt.Sscanf(got, "error: it had %d processes at once and was killed", &n); err != nil || n <= 60 {
		t.Errorf("got %q, %v", got, err)
	}
	if left := processes(t, "1007.5"); len(left) > 0 {
		t.Errorf("left over: %d", len(left))
	}
}

func TestCommandsLeaveNoCoreAndAreBounded(t *testing.T) {
	b := open(t)
	expect(t, "core", b.run("ulimit -c"), "0\n[exit code 0]")
	if got := b.run("ulimit -u"); strings.Contains(got, "unlimited") {
		t.Errorf("processes: %s", got)
	}
}
