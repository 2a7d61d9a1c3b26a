package turn

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"hitchpost/store"
	"hitchpost/turn/event"
)

// TestVerifyNamesACallOfAClosedTurnWithoutItsOneResult: guarantee 6, held against a file.
func TestVerifyNamesACallOfAClosedTurnWithoutItsOneResult(t *testing.T) {
	for damage, want := range map[string][]string{
		"": nil,
		`UPDATE events SET event = replace(event, '"id":"c1","content"', '"id":"c9","content"')`: {
			`a result of the call "c9", which owes none`, "the turn has ended, and no result have the calls c1",
		},
		`UPDATE events SET event = replace(event, '"id":"c2"', '"id":"c1"')`: {
			`the call id "c1" stands twice`, `a result of the call "c1", which owes none`,
		},
	} {
		w := newWorld(t)
		w.play(`model call:c1:par:{} call:c2:par:{}
			model "done"
			wake go
			idle
			model call:c3:ask:{}
			wake and
			parked c3`)
		w.stop()
		if damage != "" {
			db, err := sql.Open("sqlite", w.path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(damage); err != nil {
				t.Fatal(err)
			}
			db.Close()
		}
		r, err := store.Verify(ctx, w.path, event.CheckCalls)
		if err != nil || len(want) != len(r.Problems) {
			t.Errorf("behind %q: %q, %v", damage, r.Problems, err)
		}
		for _, problem := range want {
			if !slices.ContainsFunc(r.Problems, func(found string) bool {
				return strings.Contains(found, `session "s1", seq `) && strings.Contains(found, problem)
			}) {
				t.Errorf("behind %q: %q, want %q", damage, r.Problems, problem)
			}
		}
		w.start() // for its end
	}
}
