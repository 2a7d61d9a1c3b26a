package turn

import (
	"testing"

	"hitchpost/turn/tool"
)

// TestACallKeepsItsToolWhenItLeavesTheRoster: an MCP server may take a tool back while
// a call of it waits for a person.
func TestACallKeepsItsToolWhenItLeavesTheRoster(t *testing.T) {
	w := newWorld(t)
	w.play(`model call:c1:ask:{}
		model call:c2:ask:{}
		model "done"
		wake go
		parked c1`)
	none, err := tool.NewSet(nil)
	if err != nil {
		t.Fatal(err)
	}
	w.cfg.Tools = func() *tool.Set { return none }
	w.host.Reload(w.cfg)
	w.play(`approve c1
		idle
		ran c1 1
		ran c2 0`)
	checkInvariants(t, w.log())
}
