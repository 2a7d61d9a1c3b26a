package turn

import (
	"database/sql"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// digest reads what is stored of s1 and holds it against the log.
func (w *world) digest() Digest {
	w.t.Helper()
	x, err := w.store.Session(ctx, "s1")
	if err != nil || x.Digest == nil {
		w.t.Fatalf("no digest: %+v %v", x, err)
	}
	stored, err := ReadDigest(ctx, w.store, x)
	if err != nil {
		w.t.Fatal(err)
	}
	x.Digest = nil
	folded, err := ReadDigest(ctx, w.store, x)
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := cmp.Diff(folded, stored); diff != "" {
		w.t.Errorf("the stored digest is not what the log says (-log +stored):\n%s", diff)
	}
	return stored
}

// at is when the newest event of the types was logged.
func (w *world) at(types ...string) *time.Time {
	w.t.Helper()
	ev, found, err := w.agent.Log().Newest(ctx, -1, types...)
	if err != nil || !found {
		w.t.Fatalf("no %v: %v", types, err)
	}
	return &ev.At
}

// TestTheDigestTellsWhatListsNeed: guarantee 17. The simulation holds every stored
// digest against its log, behind deaths, too.
func TestTheDigestTellsWhatListsNeed(t *testing.T) {
	w := newWorld(t)
	check := func(when string, want Digest) {
		t.Helper()
		if diff := cmp.Diff(want, w.digest()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	said := []string{string(event.UserMessageType), string(event.ContextInjectedType)}
	w.play(`model call:c1:askpar:{"path":"<a>"} call:c2:askpar:{}
		start hi
		parked c1 c2`)
	asked := w.at(string(event.ApprovalRequestedType))
	pending := []Pending{
		{CallID: "c1", Name: "askpar", Args: json.RawMessage(`{"path":"<a>"}`), At: *asked},
		{CallID: "c2", Name: "askpar", Args: json.RawMessage(`{}`), At: *asked},
	}
	parked := Digest{RunID: w.runID(), Pending: pending, InputAt: w.at(said...)}
	check("parked", parked)
	w.restart()
	check("over a restart", parked)
	w.play(`model "fine"
		deny c1
		steer and this
		approve c2
		ended`)
	check("completed", Digest{InputAt: w.at(said...)})
	w.play(`model fail:provider_error:gone
		start again
		ended`)
	failed := Digest{InputAt: w.at(said...), Error: &event.Error{Code: event.CodeProvider, Message: "gone"}}
	check("failed", failed)
	w.play(`inject it waits
		restart`)
	check("a text that waits is none that was taken", failed)
	w.play(`model @g "hello"
		start
		await g`)
	check("the next one runs", Digest{RunID: w.runID(), InputAt: w.at(said...)})
	w.play("open g\nidle")
	check("completed", Digest{InputAt: w.at(said...)})
}

// TestADigestIsFoldedWhereNoneIsStored: a file from before there were any.
func TestADigestIsFoldedWhereNoneIsStored(t *testing.T) {
	w := newWorld(t)
	w.play(`model call:c1:ask:{}
		start hi
		parked c1`)
	want := w.digest()
	w.stop()
	db, err := sql.Open("sqlite", w.path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE sessions SET digest = NULL"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	w.start()
	x, err := w.store.Session(ctx, "s1")
	if err != nil || x.Digest != nil {
		t.Fatalf("%+v %v", x, err)
	}
	got, err := ReadDigest(ctx, w.store, x)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("folded (-stored +folded), %v:\n%s", err, diff)
	}
	w.play(`model "done"
		approve c1
		ended`)
	w.digest() // stored from then on
}

func TestADigestThatCannotBeReadIsFolded(t *testing.T) {
	w := newWorld(t)
	w.play(`model call:c1:ask:{}
		start hi
		parked c1`)
	want := w.digest()
	for _, digest := range []string{`[]`, `{`, `{"run":7}`, `{"run":"x","pending":[7]}`} {
		got, err := ReadDigest(ctx, w.store, store.Session{ID: "s1", Digest: json.RawMessage(digest)})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s (-stored +folded), %v:\n%s", digest, err, diff)
		}
	}
}
