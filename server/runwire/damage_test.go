package runwire

import (
	"strings"
	"testing"

	"hitchpost/server/protocol"
)

// A session whose log is damaged keeps no other from being served, and says what is wrong.
//
// guarantee 5
func TestADamagedSessionKeepsTheServerFromNothing(t *testing.T) {
	w := newWorld(t, settings{})
	p := w.join("secret-all")
	runs := map[string]string{}
	for _, id := range []string{"bad", "good"} {
		w.create(id, "me")
		w.model.Replies <- []string{ask}
		p.say(protocol.RunCreate{SessionID: id, Input: "hi"})
		runs[id] = p.of(protocol.TypeRunInterrupted).Payload.RunID
	}
	w.stop()
	w.sql(`UPDATE events SET event = 'x' || event WHERE session = (SELECT key FROM sessions WHERE id = 'bad')
		AND type = 'approval/requested'`)
	w.start()
	p = w.join("secret-all")
	if f := p.of(protocol.TypeRunInterrupted); f.Payload.RunID != runs["good"] {
		t.Errorf("the open run is told by %s", f.line)
	}
	refused := func(f protocol.ClientPayload) {
		t.Helper()
		p.say(f)
		got := p.of(protocol.TypeRunError)
		if got.Payload.Code != protocol.CodeInternal || !strings.Contains(got.line, "damaged") || !strings.Contains(got.line, "hitchpost verify") {
			t.Errorf("refused with %s", got.line)
		}
	}
	refused(protocol.RunCreate{SessionID: "bad", Input: "more"})
	refused(protocol.RunSubscribe{RunID: runs["bad"]})
	p.say(protocol.ToolApprove{ToolCallID: "c1"})
	p.of(protocol.TypeRunOutput)
}
