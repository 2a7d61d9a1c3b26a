package protocol

import (
	"encoding/json"
	"testing"
	"time"
)

// guarantee 3
func TestANumberedFrameCarriesItsSeqBesideItsType(t *testing.T) {
	got := string(Encode(RunOutput{RunID: "r", FinalOutput: "a<b && c>d"}, 41))
	want := `{"type":"run.output","seq":41,"payload":{"run_id":"r","final_output":"a<b && c>d"}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// guarantee 3
func TestAnUnnumberedFrameHasNoMemberSeq(t *testing.T) {
	got := string(Encode(RunError{SessionID: "s", Code: CodeSessionBusy, Message: "a run is going"}, 0))
	want := `{"type":"run.error","payload":{"session_id":"s","code":"session_busy","message":"a run is going"}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// guarantee 3
func TestRawJSONInAFrameKeepsItsDigits(t *testing.T) {
	got := string(Encode(RunDiagnostic{RunID: "r", Type: "retry", Details: json.RawMessage(`{"n":1e400,"m":1.0}`)}, 2))
	want := `{"type":"run.diagnostic","seq":2,"payload":{"run_id":"r","type":"retry","details":{"n":1e400,"m":1.0}}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOnlyOutputErrorAndCancelledAreTerminal(t *testing.T) {
	terminal := map[ServerType]bool{TypeRunOutput: true, TypeRunError: true, TypeRunCancelled: true}
	for _, n := range names(t, ".") {
		if n.typ == "ServerType" && ServerType(n.value).Terminal() != terminal[ServerType(n.value)] {
			t.Errorf("%s: terminal is %v", n.value, ServerType(n.value).Terminal())
		}
	}
}

func TestMomentsAreWrittenAsTheLogWritesThem(t *testing.T) {
	at := time.Date(2026, 8, 18, 6, 10, 11, 120000, time.FixedZone("", 7200))
	if got, want := Time(at), "2026-08-18T04:10:11.000120Z"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
