package project_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hitchpost/server/project"
	"hitchpost/store"
	"hitchpost/turn/event"
)

// page is project.History as text.
func page(t fatal, log *store.Log, before int64, limit int) (out []string) {
	t.Helper()
	lines, err := project.History(context.Background(), log, before, limit)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		out = append(out, string(l))
	}
	return out
}

// oldest is the seq of the first entry of a page.
func oldest(t fatal, page []string) int64 {
	t.Helper()
	var e struct{ Seq int64 }
	if err := json.Unmarshal([]byte(page[0]), &e); err != nil {
		t.Fatal(err)
	}
	return e.Seq
}

// walk reads a log backwards page by page and returns the entries oldest first. between
// is called after each page.
func walk(t fatal, log *store.Log, limit int, between func()) (all []string) {
	t.Helper()
	for before := int64(-1); ; {
		p := page(t, log, before, limit)
		if len(p) > limit {
			t.Fatal("a page of", len(p), "entries, the limit is", limit)
		}
		all = append(slices.Clone(p), all...)
		if len(p) < limit {
			return all
		}
		before = oldest(t, p)
		between()
	}
}

// bare leaves the view members out, which tell of a moment.
func bare(entries []string) (out []string) {
	for _, e := range entries {
		head, _, _ := strings.Cut(e, `,"on_path":`)
		out = append(out, head)
	}
	return out
}

// guarantee 11
func TestWalkingBackwardsYieldsEachEntryOnceWhateverThePageSize(t *testing.T) {
	overRandomLogs(t, anyLog, func(t *rapid.T, log *store.Log, events []store.Event) {
		whole := page(t, log, -1, 0)
		sameLines(t, "the whole history and the entries one by one", bare(whole), bare(history(t, log)))
		size := rapid.IntRange(1, len(whole)+1).Draw(t, "page size")
		for _, limit := range []int{1, 2, size, len(whole) + 1} { // over the logs, each size comes
			sameLines(t, "pages", walk(t, log, limit, func() {}), whole)
		}
		before := rapid.Int64Range(0, int64(len(events)+1)).Draw(t, "before")
		var want []string
		for i, ev := range entriesOf(events) {
			if ev.Seq < before {
				want = append(want, whole[i])
			}
		}
		sameLines(t, "all before a seq", page(t, log, before, 0), want)
	})
}

// guarantee 11: the log grows between the pages, by branches and checkpoints too.
func TestWalkingBackwardsIsUndisturbedByALogThatGrows(t *testing.T) {
	overRandomLogs(t, lived, func(t *rapid.T, log *store.Log, events []store.Event) {
		before := bare(page(t, log, -1, 0))
		limit := rapid.IntRange(1, len(before)+1).Draw(t, "limit")
		got := walk(t, log, limit, func() {
			tip, _ := log.Tip()
			p := rapid.SampledFrom([]event.Payload{
				event.UserMessage{Text: "more"}, event.SessionBranched{}, event.SessionCompacted{UptoSeq: tip}, event.TurnStart{},
			}).Draw(t, "growth")
			raw, err := event.Encode(p)
			if err != nil {
				t.Fatal(err)
			}
			more := store.Batch{From: tip + 1, Events: []store.NewEvent{{Type: string(p.EventType()), Payload: raw}}}
			if _, err := log.Append(context.Background(), more); err != nil {
				t.Fatal(err)
			}
		})
		sameLines(t, "entries", bare(got), before)
	})
}

// The view is what its words say: on_path, the leaf descends from the entry, or is it;
// compacted, the newest checkpoint on the path stands for it.
func TestTheViewOfAnEntryFollowsFromTheParentsAlone(t *testing.T) {
	overRandomLogs(t, lived, func(t *rapid.T, log *store.Log, events []store.Event) {
		type entry struct {
			ID        string
			Seq       int64
			Parent    string `json:"parent_id"`
			Kind      string
			OnPath    bool `json:"on_path"`
			Compacted bool
			Payload   struct {
				UptoSeq int64 `json:"upto_seq"`
			}
		}
		byID, leaf := map[string]entry{}, ""
		var all []entry
		for _, line := range page(t, log, -1, 0) {
			var e entry
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			all, byID[e.ID] = append(all, e), e
		}
		for _, ev := range events {
			if project.MakesEntry(ev) {
				leaf = ev.ID
			}
			var moved event.SessionBranched
			if event.Type(ev.Type) == event.SessionBranchedType && json.Unmarshal(ev.Payload, &moved) == nil {
				leaf = moved.To
			}
		}
		path, upto := map[string]bool{}, int64(-1)
		for id := leaf; id != ""; id = byID[id].Parent {
			path[id] = true
			if upto < 0 && byID[id].Kind == "compaction" {
				upto = byID[id].Payload.UptoSeq
			}
		}
		for _, e := range all {
			if e.OnPath != path[e.ID] || e.Compacted != (path[e.ID] && e.Seq <= upto) {
				t.Fatalf("%+v; on the path from %s: %v, checkpoint up to %d", e, leaf, path[e.ID], upto)
			}
		}
	})
}

func TestAPageOfALogWithoutEntriesIsEmpty(t *testing.T) {
	s := begin()
	for range 1000 { // more than one reading goes over them
		s.add(event.TurnStart{Agent: "default"})
		s.add(event.TurnEnd{Status: event.Empty})
	}
	log := s.write(t, library(t), session)
	defer log.Close()
	for _, limit := range []int{0, 1, 100} {
		if got := page(t, log, -1, limit); len(got) != 0 {
			t.Errorf("limit %d: %v", limit, got)
		}
	}
}
