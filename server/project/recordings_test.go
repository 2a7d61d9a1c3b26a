package project_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hitchpost/server/project"
	"hitchpost/turn/event"
)

const (
	recordings   = "testdata/logs"
	recordedLogs = 40
)

// recorded is what one event of a log made, for the tests of the page's reducer.
type recorded struct {
	Frames []json.RawMessage `json:"frames,omitempty"` // in order; broadcasts too
	Leaf   string            `json:"leaf"`             // behind the event; "" = the root
}

// TestTheRecordedLogsAreWhatIsSentToday keeps the files that the page's reducer is tested
// with: random logs, event by event, with their frames, entries among them.
func TestTheRecordedLogsAreWhatIsSentToday(t *testing.T) {
	if *update {
		if err := os.RemoveAll(recordings); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(recordings, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	for seed := 0; kept < recordedLogs; seed++ {
		s := rapid.Custom(lived).Example(seed)
		if len(s.events) < 12 || shortest(s.log()) > 0 {
			continue // too short to tell anything, or brought in whole: nobody heard it live
		}
		kept++
		file := filepath.Join(recordings, fmt.Sprintf("%02d.json", kept))
		want := record(t, s)
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is stale, run go test ./server/project -run Recorded -update (-made today +file):\n%s", file, diff)
		}
	}
}

// record is a log as lines of JSON, one an event.
func record(t *testing.T, s *script) []byte {
	var out bytes.Buffer
	p := project.New(session)
	var trail project.Trail
	leaf := ""
	for _, ev := range s.log() {
		var r recorded
		for _, f := range p.Next(ev) {
			r.Frames = append(r.Frames, json.RawMessage(f.Line))
		}
		if f, ok := project.Broadcast(session, ev); ok {
			r.Frames = append(r.Frames, json.RawMessage(f.Line))
		}
		if _, ok := trail.Next(ev); ok {
			leaf = ev.ID
		} else if event.Type(ev.Type) == event.SessionBranchedType {
			var b event.SessionBranched
			if err := json.Unmarshal(ev.Payload, &b); err != nil {
				t.Fatal(err)
			}
			leaf = b.To
		}
		r.Leaf = leaf
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes()
}
