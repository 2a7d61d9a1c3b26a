//go:build unix

package server_test

import (
	"bufio"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hitchpost/server/protocol"
)

const neighbour = "neighbour-secret-token-0123456789"

// ofRun keeps the lines of the frames of a run.
func ofRun(run string, all []wireFrame) (out []string) {
	for _, f := range all {
		if f.Payload.RunID == run {
			out = append(out, f.raw)
		}
	}
	return out
}

// quiet shows that nothing more is on its way: the answer to a malformed frame stands
// behind what was queued. It returns what came before that.
func (w *runWire) quiet() []wireFrame {
	w.t.Helper()
	w.send(`{"type":"nonsense"}`)
	all := w.until(func(f wireFrame) bool { return f.Payload.Code == protocol.CodeBadFrame })
	return all[:len(all)-1]
}

// TestARunThatThreeDoorsMoveIsHeardOnceByItsOwnersConnectionsAndByNobodyElse: it is
// started over REST, decided over the socket and cancelled over SSE's sibling call; two
// connections of its owner and the stream are sent the same frames, another owner none.
func TestARunThatThreeDoorsMoveIsHeardOnceByItsOwnersConnectionsAndByNobodyElse(t *testing.T) {
	model := newStand(t, func(a *answer) {
		if a.n == 0 {
			a.send(text("let me "), text("see"), call(0, "c1", "Bash", `{"command":"echo seen"}`), finish)
			return
		}
		a.send(text("one "), text("two"))
		a.hold()
	})
	p := reported(t, model, fmt.Sprintf("[[tokens]]\nname = \"neighbour\"\nowner = \"somebody\"\ntoken = %q\n", neighbour))
	s := p.serve()
	one, two, other := s.runWire(secret), s.runWire(secret), s.runWire(neighbour)
	s.ask(secret, "POST", "/api/v1/sessions", `{"id":"main"}`)
	status, body := s.ask(secret, "POST", "/api/v1/sessions/main/runs", `{"input":"go"}`)
	if status != http.StatusCreated {
		t.Fatalf("the run: %d %s", status, body)
	}
	_, run, _ := strings.Cut(body, `"run_id":"`)
	run, _, _ = strings.Cut(run, `"`)
	stream := s.open(secret, "GET", "/api/v1/runs/"+run+"/events", "")
	defer stream.Body.Close()

	first := one.until(func(f wireFrame) bool { return f.Type == protocol.TypeRunInterrupted })
	one.send(fmt.Sprintf(`{"type":"tool.approve","payload":{"tool_call_id":"c1","run_id":%q}}`, run))
	second := two.until(func(f wireFrame) bool { return strings.Contains(f.raw, `"delta":"two"`) })
	if status, body := s.ask(secret, "POST", "/api/v1/runs/"+run+"/cancel", ""); status != http.StatusAccepted {
		t.Fatalf("cancel: %d %s", status, body)
	}
	first = append(first, one.until(over)...)
	second = append(second, two.until(over)...)
	var streamed []string
	for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
		if frame, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			streamed = append(streamed, frame)
		}
	}

	frames := ofRun(run, first)
	if got := frames[len(frames)-1]; !strings.HasPrefix(got, `{"type":"run.cancelled"`) {
		t.Errorf("ended with %s", got)
	}
	if once := slices.Compact(slices.Sorted(slices.Values(frames))); len(once) != len(frames) {
		t.Errorf("of %d frames %d are different", len(frames), len(once))
	}
	if got := ofRun(run, second); !slices.Equal(got, frames) {
		t.Errorf("one connection heard\n%s\nthe other\n%s", strings.Join(frames, "\n"), strings.Join(got, "\n"))
	}
	if !slices.Equal(streamed, frames) {
		t.Errorf("the connections heard\n%s\nthe stream is\n%s", strings.Join(frames, "\n"), strings.Join(streamed, "\n"))
	}
	if more := append(ofRun(run, one.quiet()), ofRun(run, two.quiet())...); len(more) > 0 {
		t.Errorf("behind the end came\n%s", strings.Join(more, "\n"))
	}
	if heard := other.quiet(); len(heard) > 0 {
		t.Errorf("another owner heard %v", heard)
	}
	for _, path := range []string{"/runs/" + run, "/runs/" + run + "/events", "/sessions/main"} {
		if status, _ := s.ask(neighbour, "GET", "/api/v1"+path, ""); status != http.StatusNotFound {
			t.Errorf("another owner asks for %s: %d", path, status)
		}
	}
}
