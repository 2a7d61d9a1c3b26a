package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// guarantee 5 of server/protocol
func TestTheCommittedMirrorIsWhatTheGeneratorMakesToday(t *testing.T) {
	want, err := generate("../../../turn/event", "..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../web/src/protocol.gen.ts")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("protocol.gen.ts is stale, run go generate ./server/protocol (-generated +committed):\n%s", diff)
	}
}
