package agentsocket

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/coder/websocket"
	_ "modernc.org/sqlite"
)

// A damaged log is no secret of the server's log: its client is told what to do.
func TestASessionWhoseLogIsDamagedIsRefusedWithWhatIsWrong(t *testing.T) {
	w := newWorld(t, settings{})
	w.join("s1")
	w.stop()
	db, err := sql.Open("sqlite", w.path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE events SET event = 'x' || event"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	w.start()
	p := w.dial("s1", "secret-all")
	if message := p.refusal(CodeInternal); !strings.Contains(message, "damaged") || !strings.Contains(message, "hitchpost verify") {
		t.Errorf("refused with %q", message)
	}
	if _, code := p.rest(); code != websocket.StatusInternalError {
		t.Errorf("closed with %d", code)
	}
	w.join("s2")
}
