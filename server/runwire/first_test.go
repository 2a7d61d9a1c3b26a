package runwire

import (
	"testing"

	"hitchpost/server/protocol"
)

func TestASecondConnectionSeesEverythingOnceAndNobodyElseAnything(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	one, two, other := w.join("secret-all"), w.join("secret-all"), w.join("secret-other")
	w.model.replies <- []string{"hel", "lo"}
	run := one.start("a", "hi")
	want := text(reference(t, w.log("a"), run, 0))
	_ = want
	rest := one.toEnd(run)
	if len(rest) == 0 {
		t.Error("nothing came")
	}
	all := two.toEnd(run)
	want = text(reference(t, w.log("a"), run, 0))
	if got := lines(all); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, f := range append(other.alive(), two.alive()...) {
		if f.Payload.RunID != "" {
			t.Errorf("more came: %s", f.line)
		}
	}
	_ = protocol.TypeAuthOK
}
