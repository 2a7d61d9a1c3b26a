package agentsocket

import (
	"encoding/json"
	"testing"

	"hitchpost/turn"
)

// What hello says of the status is never older than its last_seq: else a turn that
// ended in between would run for ever for a client that subscribes from there on.
func TestATurnThatHelloCallsRunningEndsBehindItsLastSeq(t *testing.T) {
	w := newWorld(t, settings{})
	agent, err := w.host.Hold(t.Context(), "a", "me")
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Release()
	c := &conn{server: w.server, agent: agent, agentID: "a"}
	for range 200 {
		w.model.Replies <- []string{"one", wait, "two"}
		if err := agent.Inject(t.Context(), turn.Inject{Text: "go", Wake: true}); err != nil {
			t.Fatal(err)
		}
		<-w.model.Reached
		go func() { w.model.Resume <- struct{}{} }() // the turn ends while hello is made
		for {
			var h struct {
				Status  turn.Status `json:"status"`
				LastSeq int64       `json:"last_seq"`
			}
			frame, err := c.hello(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(frame, &h); err != nil {
				t.Fatal(err)
			}
			if h.Status != turn.Running {
				break
			}
			if end, ok, err := agent.Log().Newest(t.Context(), -1, "turn/end"); err != nil || ok && end.Seq == h.LastSeq {
				t.Fatalf("running, and last_seq %d is the end of the turn (%v)", h.LastSeq, err)
			}
		}
	}
}
