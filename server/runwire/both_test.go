package runwire

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"hitchpost/server/protocol"
	"hitchpost/turn/event"
)

// One session, driven over the agent socket and the run wire at once: what each of
// them is sent is the log, whoever did what.
//
// guarantees 2 and 9
func TestASessionDrivenOverBothWiresAtOnceStaysOne(t *testing.T) {
	w := newWorld(t, settings{})
	w.create("a", "me")
	for i := range 400 {
		reply := []string{"some ", "text ", fmt.Sprint(i)}
		switch i % 4 {
		case 1:
			reply = append(reply, look)
		case 2:
			reply = append(reply, ask)
		}
		w.model.replies <- reply
	}
	eye, hand := w.join("secret-all"), w.join("secret-all")
	agent := w.agentSocket("a")
	stop := make(chan struct{})
	handled := make(chan struct{}, 2) // all frames of a driver
	var heard []received
	var readers, drivers sync.WaitGroup
	readers.Go(func() { // approves what it sees, over the run wire
		open, over := map[string]bool{}, false
		for !over || len(open) > 0 {
			f, err := eye.read()
			if err != nil {
				return
			}
			if f.Type == protocol.TypeRunError && f.Seq == 0 {
				continue // the other wire was first
			}
			heard = append(heard, f)
			over = over || f.Payload.Title == "the end"
			if f.Seq != 0 {
				open[f.Payload.RunID] = true
			}
			if f.Seq != 0 && f.Type.Terminal() {
				delete(open, f.Payload.RunID)
			}
			for _, call := range f.Payload.Pending {
				eye.say(protocol.ToolApprove{ToolCallID: call.ToolCallID, RunID: f.Payload.RunID})
			}
		}
	})
	var events []string
	readers.Go(func() { // and over the agent socket, which is as good
		for {
			_, line, err := agent.Read(context.Background())
			if err != nil {
				return
			}
			var e struct {
				Type    event.Type
				Payload struct {
					CallID string `json:"call_id"`
					Title  string
				}
			}
			json.Unmarshal(line, &e)
			if strings.HasPrefix(string(line), `{"id"`) {
				events = append(events, string(line))
			}
			if strings.Contains(string(line), "barrier") {
				handled <- struct{}{}
			}
			if e.Type == event.ApprovalRequestedType {
				agent.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil, `{"type":"approve","call_id":%q}`, e.Payload.CallID))
			}
			if e.Payload.Title == "the end" {
				return
			}
		}
	})
	readers.Go(func() {
		hand.until(func(f received) bool { return strings.Contains(f.Payload.Message, "barrier") })
		handled <- struct{}{}
	})
	drivers.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				hand.send(`{"type":"barrier"}`)
				return
			case <-time.After(time.Duration(rand.IntN(15)) * time.Millisecond):
			}
			hand.say(protocol.RunCreate{SessionID: "a", Input: fmt.Sprintf("over the run wire %d", i)})
			if run := w.object("a").LiveRunID; run != "" {
				hand.say(protocol.RunInject{RunID: run, Queue: []protocol.Queue{"steer", "next_turn", "follow_up"}[i%3], Input: "and"})
				if i%7 == 0 {
					hand.say(protocol.RunCancel{RunID: run, Mode: protocol.Mode([]string{"", "graceful"}[i%2])})
				}
			}
		}
	})
	drivers.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				agent.Write(context.Background(), websocket.MessageText, []byte(`{"type":"barrier"}`))
				return
			case <-time.After(time.Duration(rand.IntN(15)) * time.Millisecond):
			}
			frame := fmt.Sprintf(`{"type":"inject","text":"over the agent socket %d","wake":true}`, i)
			if i%9 == 8 {
				frame = `{"type":"cancel"}`
			}
			agent.Write(context.Background(), websocket.MessageText, []byte(frame))
		}
	})
	time.Sleep(2 * time.Second)
	close(stop)
	drivers.Wait()
	<-handled
	<-handled
	w.settle("a")
	time.Sleep(100 * time.Millisecond) // broadcasts have no order among the frames of runs
	a, err := w.host.Open(context.Background(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	if err := a.Rename(context.Background(), "the end"); err != nil {
		t.Fatal(err)
	}
	readers.Wait()
	w.compare("a", events, heard)
}

// settle waits until no run is open.
func (w *world) settle(session string) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); w.object(session).LiveRunID != ""; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("a run is still open: %+v", w.object(session))
		}
	}
}

// agentSocket subscribes to a session over the other wire.
func (w *world) agentSocket(session string) *websocket.Conn {
	w.t.Helper()
	address := strings.TrimSuffix(w.address(), "/ws") + "/agents/" + session + "/ws"
	ws, _, err := websocket.Dial(context.Background(), address, &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer secret-all"}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ws.SetReadLimit(-1)
	w.t.Cleanup(func() { ws.CloseNow() })
	if err := ws.Write(context.Background(), websocket.MessageText, []byte(`{"type":"subscribe","from_seq":0}`)); err != nil {
		w.t.Fatal(err)
	}
	return ws
}

// compare holds what both wires sent against the log.
func (w *world) compare(session string, events []string, heard []received) {
	w.t.Helper()
	log := w.log(session)
	for seq := int64(0); seq <= tipOf(log); {
		p, err := log.Page(context.Background(), seq)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, line := range p.Lines {
			if int(seq) < len(events) && events[seq] != string(line) {
				w.t.Fatalf("event %d over the agent socket is %s, in the log %s", seq, events[seq], line)
			}
			seq++
		}
	}
	starts, err := log.Structural(context.Background(), 0, tipOf(log), string(event.TurnStartType))
	if err != nil || len(starts) < 5 {
		w.t.Fatalf("%d runs, %v", len(starts), err)
	}
	w.t.Logf("%d runs, %d events, %d frames", len(starts), len(events), len(heard))
	for _, start := range starts {
		if got, want := lines(only(start.ID, heard)), text(reference(w.t, log, start.ID, 0)); got != want {
			w.t.Errorf("of run %s came\n%swant\n%s", start.ID, got, want)
		}
	}
}
