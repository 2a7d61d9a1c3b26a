package agentsocket

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/coder/websocket"
	_ "modernc.org/sqlite"
)

// An append that no frame waits for fails too: of a streamed piece, of a tool's
// result. No event can tell of it, so the connection does, and the client comes back
// to a hello that says resumable.
func TestATurnThatCannotBeWrittenEndsItsConnectionAsInternal(t *testing.T) {
	w := newWorld(t, settings{})
	p := w.join("a")
	w.model.Replies <- []string{"one ", wait, "two"}
	p.send(subscribeFrom(0), `{"type":"inject","text":"go","wake":true}`)
	p.until("assistant/chunk")
	<-w.model.Reached
	w.sql(`ALTER TABLE events RENAME TO elsewhere`) // what a failing disk would do
	w.model.Resume <- struct{}{}
	if m := p.refusal(CodeInternal); !strings.Contains(m, "could not be written") {
		t.Errorf("message %q", m)
	}
	if frames, code := p.rest(); len(frames) != 0 || code != websocket.StatusInternalError {
		t.Errorf("after internal: frames %q and close code %d", frames, code)
	}
	w.sql(`ALTER TABLE elsewhere RENAME TO events`)
	p = w.dial("a", "secret-all", "hitchpost.v1")
	if hello := p.next(); !strings.Contains(hello, `"status":"resumable"`) {
		t.Errorf("came back to %s", hello)
	}
	p.send(subscribeFrom(0), `{"type":"inject","text":"more","wake":true}`)
	p.until("turn/end")
}

// sql runs a statement on the file, beside the server.
func (w *world) sql(statement string) {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		w.t.Fatal(err)
	}
}
