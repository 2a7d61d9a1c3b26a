package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// guarantee 2, 3
func TestABatchGetsConsecutiveSeqsAndReadsBackAsItWasAnswered(t *testing.T) {
	l := session(t, open(t, Options{}), "s1")
	got := add(t, l, event("turn/start", `{"agent":"default"}`), chunk("hel"), chunk("lo"))
	lines := all(t, l)
	if len(lines) != 4 {
		t.Fatalf("the log has %d events, want 4", len(lines))
	}
	for i, e := range got {
		if e.Seq != int64(i+1) || lines[i+1] != string(e.Line) {
			t.Errorf("event %d: seq %d, stored %s, answered %s", i, e.Seq, lines[i+1], e.Line)
		}
		want := fmt.Sprintf(`{"id":%q,"session_id":"s1","seq":%d,"at":%q,"type":%q,"payload":%s}`,
			e.ID, e.Seq, e.At.Format(atFormat), e.Type, e.Payload)
		if string(e.Line) != want {
			t.Errorf("envelope is\n%s, want\n%s", e.Line, want)
		}
	}
	newest, ok, err := l.Newest(context.Background(), -1, "turn/start", "session/created")
	if err != nil || !ok || newest.Seq != 1 {
		t.Errorf("Newest = %v %v %v, want seq 1", newest.Seq, ok, err)
	}
	e, ok, err := l.ByID(context.Background(), got[0].ID)
	if err != nil || !ok || string(e.Line) != string(got[0].Line) || !e.At.Equal(got[0].At) {
		t.Errorf("ByID = %s %v %v", e.Line, ok, err)
	}
	s, err := l.Structural(context.Background(), 0, 100)
	if err != nil || len(s) != 2 || s[0].Seq != 0 || s[1].Seq != 1 {
		t.Errorf("Structural = %v %v, want seqs 0 and 1", s, err)
	}
	p, err := l.Streamed(context.Background(), 0, 100)
	if err != nil || len(p) != 2 || !strings.Contains(string(p[1].Payload), "lo") {
		t.Errorf("Streamed = %v %v, want two chunks", p, err)
	}
}
