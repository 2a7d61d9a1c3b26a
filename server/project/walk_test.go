package project_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"hitchpost/server/project"
	"hitchpost/store"
)

// guarantee 11
func TestWalkingForwardsYieldsTheWholeHistory(t *testing.T) {
	overRandomLogs(t, anyLog, func(t *rapid.T, log *store.Log, events []store.Event) {
		w, err := project.NewWalk(context.Background(), log, int64(len(events)-1))
		if err != nil {
			t.Fatal(err)
		}
		var walked []string
		for more := true; more; {
			var lines [][]byte
			if lines, more, err = w.Next(context.Background()); err != nil {
				t.Fatal(err)
			}
			for _, l := range lines {
				walked = append(walked, string(l))
			}
		}
		sameLines(t, "forwards", walked, page(t, log, -1, 0))
	})
}
