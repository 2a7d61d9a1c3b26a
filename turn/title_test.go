package turn

import (
	"context"
	"testing"

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
