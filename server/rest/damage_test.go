package rest

import (
	"context"
	"database/sql"
	"net/http"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"hitchpost/server/protocol"
)

// damage changes the file by hand, as a bad disk would, between two lives of the server.
func (w *world) damage(statements ...string) {
	w.t.Helper()
	w.stop()
	db, err := sql.Open("sqlite", w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range statements {
		if r, err := db.ExecContext(context.Background(), s); err != nil {
			w.t.Fatal(err)
		} else if n, err := r.RowsAffected(); n != 1 || err != nil {
			w.t.Fatalf("%s: changed %d rows, %v", s, n, err)
		}
	}
	if err := db.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.start()
}

const (
	ofSession   = " WHERE session = (SELECT key FROM sessions WHERE id = 'bad')"
	badDigest   = `UPDATE sessions SET digest = '[' WHERE id = 'bad'`
	noDigest    = `UPDATE sessions SET digest = NULL WHERE id = 'bad'`
	badNewest   = `UPDATE events SET event = 'x' || event` + ofSession + ` AND seq = (SELECT max(seq) FROM events` + ofSession + `)`
	badTurnEnd  = `UPDATE events SET event = replace(event, '"status":"completed"', '"status":[]')` + ofSession + ` AND type = 'turn/end'`
	badMessages = `UPDATE events SET event = replace(event, '"payload":', '"paxload":')` + ofSession + ` AND type = 'assistant/message'`
)

// guarantee 9
func TestADamagedSessionHidesNoOther(t *testing.T) {
	for _, c := range []struct {
		name    string
		damages []string
	}{
		{"its newest event", []string{badNewest}},
		{"its digest and a payload that the digest is made of", []string{badDigest, badTurnEnd}},
		{"a payload where no digest is stored", []string{noDigest, badTurnEnd}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, settings{})
			w.parked("good")
			w.session("bad")
			w.outcome("bad", "hi", "yes").want(t, http.StatusOK)
			w.damage(c.damages...)
			list := parse[[]protocol.Session](t, w.ask(http.StatusOK, "GET", "/sessions", ""))
			if len(list) != 2 {
				t.Fatalf("the list has %+v", list)
			}
			for _, x := range list {
				switch {
				case x.ID == "good" && x.Status == protocol.StatusRequiresAction:
				case x.ID == "bad" && x.Status == protocol.StatusFailed && x.LastError != nil && x.LastSeq > 0 &&
					x.LastError.Code == protocol.CodeInternal && strings.Contains(x.LastError.Message, "damaged"):
				default:
					t.Errorf("listed as %+v", x)
				}
			}
			if x := parse[protocol.Session](t, w.ask(http.StatusOK, "GET", "/sessions/bad", "")); x.LastError == nil {
				t.Errorf("shown as %+v", x)
			}
			if got := parse[[]protocol.Approval](t, w.ask(http.StatusOK, "GET", "/approvals", "")); len(got) != 1 || got[0].SessionID != "good" {
				t.Errorf("the approvals are %+v", got)
			}
			w.ask(http.StatusOK, "GET", "/search?q=hi", "")
			w.ask(http.StatusAccepted, "POST", "/approvals/c1/approve", "")
			w.as("all", "POST", "/sessions/bad/runs", `{"input":"more"}`).refused(t, http.StatusInternalServerError, `"bad"`)
		})
	}
}

// guarantee 9
func TestADamagedSessionSaysWhatIsWrongWhenItIsOpened(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("bad")
	run := parse[protocol.RunOutcome](t, w.outcome("bad", "hi")).RunID
	w.damage(badNewest)
	for _, path := range []string{
		"/sessions/bad/messages", "/sessions/bad/messages?limit=3", "/sessions/bad/events", "/sessions/bad/inbox",
		"/sessions/bad/policy", "/sessions/bad/usage", "/runs/" + run, "/runs/" + run + "/events",
	} {
		got := w.as("all", "GET", path, "")
		got.refused(t, http.StatusInternalServerError, "hitchpost verify")
		got.refused(t, http.StatusInternalServerError, `"bad"`)
		got.refused(t, http.StatusInternalServerError, "damaged")
	}
}

// What does not need the event that is damaged is shown.
//
// guarantee 9
func TestAnEventThatIsDamagedAmongOthersFailsWhatNeedsItByName(t *testing.T) {
	w := newWorld(t, settings{})
	w.session("bad")
	run := parse[protocol.RunOutcome](t, w.outcome("bad", "hi")).RunID
	w.damage(badMessages)
	w.ask(http.StatusOK, "GET", "/sessions/bad/inbox", "")
	w.ask(http.StatusOK, "GET", "/sessions/bad/events", "")
	w.ask(http.StatusOK, "GET", "/runs/"+run, "")
	for _, asked := range []string{
		"GET /sessions/bad/messages", "GET /sessions/bad/messages?limit=100", "GET /sessions/bad/usage", "GET /runs/" + run + "/events",
		"POST /sessions/bad/compact", "POST /sessions/bad/fork",
	} {
		method, path, _ := strings.Cut(asked, " ")
		got := w.as("all", method, path, "")
		got.refused(t, http.StatusInternalServerError, "hitchpost verify")
	}
}

// The digest is a copy of what the log says.
//
// guarantee 9
func TestADigestThatIsDamagedIsReadFromTheLogInstead(t *testing.T) {
	w := newWorld(t, settings{})
	w.parked("bad")
	before := w.ask(http.StatusOK, "GET", "/sessions", "")
	w.damage(badDigest)
	if got := w.ask(http.StatusOK, "GET", "/sessions", ""); got.body != before.body {
		t.Errorf("listed as %s, was %s", got.body, before.body)
	}
	w.ask(http.StatusAccepted, "POST", "/approvals/c1/approve", "")
}
