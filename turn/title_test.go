package turn

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// TestTheRowOfASessionHasTheTitleOfItsLog: the two are one transaction.
func TestTheRowOfASessionHasTheTitleOfItsLog(t *testing.T) {
	w := newWorld(t)
	w.define(func(d *Definition) { d.Models[RoleTitler] = "demo/namer" })
	w.play(`model "ok"
		model-of namer "Weather today"
		wake Weather?
		logged session/titled`)
	row, err := w.store.Session(context.Background(), "s1")
	if err != nil || row.Title != "Weather today" {
		t.Errorf("the row's title is %q (%v)", row.Title, err)
	}
	for _, req := range w.model.asked() {
		if req.Model == "namer" && (len(req.Tools) > 0 || len(req.Messages) != 1 || req.Messages[0].Text != "Weather?") {
			t.Errorf("the titler was asked %+v, want the first text and no tools", req)
		}
	}
}

// TestATitleGivenMeanwhileIsKept: the titler answers too late. Guarantee 11.
func TestATitleGivenMeanwhileIsKept(t *testing.T) {
	w := newWorld(t)
	w.define(func(d *Definition) { d.Models[RoleTitler] = "demo/namer" })
	w.play(`model "ok"
		model-of namer @g "Weather"
		wake Weather?
		await g`)
	if err := w.agent.do(context.Background(), func() error { w.agent.emit(event.SessionTitled{Title: "Mine"}); return nil }); err != nil {
		t.Fatal(err)
	}
	w.play("open g")
	w.within(func(a *Agent) bool { return !a.titling })
	if log := w.log(); count(log, event.SessionTitledType) != 1 {
		t.Errorf("titled twice:\n%s", render(log))
	}
}

// TestATitleIsOneLineWhereverItComesFrom: of a person, of a text, of the titler. A list of
// sessions has one line for each.
func TestATitleIsOneLineWhereverItComesFrom(t *testing.T) {
	w := newWorld(t)
	const wild, tame = "\r\n Plans\tfor\u2028the \x1b[31mred\x00 barn\u0085\n", "Plans for the [31mred barn"
	title := func(id string) string {
		t.Helper()
		x, err := w.store.Session(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return x.Title
	}
	made, err := w.host.CreateSession(ctx, store.Session{Owner: "me", Title: wild})
	if err != nil || made.Title != tame {
		t.Errorf("created with %q, %v", made.Title, err)
	}
	for range 2 {
		w.model.add("", []act{{text: "ok"}})
	}
	if err := w.agent.Inject(ctx, Inject{Text: " \x00\x1b", Wake: true}); err != nil {
		t.Fatal(err)
	}
	w.play("idle")
	if n := count(w.log(), event.SessionTitledType); n != 0 {
		t.Errorf("a text that nothing is seen of has made %d titles", n)
	}
	if err := w.agent.Inject(ctx, Inject{Text: wild, Wake: true}); err != nil {
		t.Fatal(err)
	}
	w.play("idle")
	if got := title("s1"); got != tame {
		t.Errorf("of the first text: %q", got)
	}
	if err := w.agent.Amend(ctx, new(wild+strings.Repeat("\n", 200)+"!"), nil); err != nil {
		t.Errorf("what surrounds a title counts for its length: %v", err)
	}
	if got := title("s1"); got != tame+" !" {
		t.Errorf("renamed to %q", got)
	}
	var invalid *InvalidError
	if err := w.agent.Amend(ctx, new(" \x00\n"), nil); !errors.As(err, &invalid) {
		t.Errorf("a title of nothing: %v", err)
	}
	w.define(func(d *Definition) { d.Models[RoleTitler] = "demo/namer" })
	w.model.add("namer", []act{{text: wild}})
	w.model.add("", []act{{text: "ok"}})
	other := w.hold("s2")
	defer other.Release()
	if err := other.Inject(ctx, Inject{Text: "hi", Wake: true}); err != nil {
		t.Fatal(err)
	}
	<-other.atRest()
	w.wait(func(State) bool { return title("s2") != "" })
	if got := title("s2"); got != tame {
		t.Errorf("of the titler: %q", got)
	}
}
