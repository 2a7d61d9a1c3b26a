package runwire

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"hitchpost/server/protocol"
	"hitchpost/store"
	"hitchpost/turn"
	"hitchpost/turn/event"
)

// drive drives one session over both wires at once, and keeps what they send.
type drive struct {
	*world
	eye, hand *peer           // on the run wire: one that watches and approves, one that acts
	agent     *websocket.Conn // on the agent socket, all of it
	stop      chan struct{}
	handled   chan struct{} // has an element a wire once its acts are through
	runs      atomic.Int64  // how many there were; 0 while there may be more
	frames    []received
	events    []string
}

// barrier is a frame that is refused, so its answer stands behind what came before it.
const barrier = `{"type":"barrier"}`

// watch keeps the frames of the run wire until each run has ended there and the session
// is called the end, and approves what waits.
func (d *drive) watch() {
	ended, over := int64(0), false
	for !over || ended < d.runs.Load() { // broadcasts have no order among the frames of runs
		f, err := d.eye.read()
		if err != nil {
			return
		}
		if f.Type == protocol.TypeRunError && f.Seq == 0 {
			continue // the other wire was first
		}
		d.frames = append(d.frames, f)
		over = over || f.Payload.Title == theEnd
		if f.Seq != 0 && f.Type.Terminal() {
			ended++
		}
		for _, call := range f.Payload.Pending {
			d.eye.say(protocol.ToolApprove{ToolCallID: call.ToolCallID, RunID: f.Payload.RunID})
		}
	}
}

const theEnd = "the end"

// tail does the same over the agent socket.
func (d *drive) tail() {
	for {
		_, line, err := d.agent.Read(context.Background())
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
		switch {
		case strings.HasPrefix(string(line), `{"id"`):
			d.events = append(d.events, string(line))
		case strings.Contains(string(line), "barrier"):
			d.handled <- struct{}{}
		}
		if e.Type == event.ApprovalRequestedType {
			d.write(fmt.Sprintf(`{"type":"approve","call_id":%q}`, e.Payload.CallID))
		}
		if e.Payload.Title == theEnd {
			return
		}
	}
}

func (d *drive) write(frame string) {
	d.agent.Write(context.Background(), websocket.MessageText, []byte(frame))
}

// act does something every few milliseconds until it is told to stop.
func (d *drive) act(do func(i int)) {
	for i := 0; ; i++ {
		select {
		case <-d.stop:
			return
		case <-time.After(time.Duration(rand.IntN(15)) * time.Millisecond):
			do(i)
		}
	}
}

func (d *drive) actOnTheRunWire() {
	d.act(func(i int) {
		d.hand.say(protocol.RunCreate{SessionID: "a", Input: fmt.Sprintf("over the run wire %d", i)})
		run := d.object("a").LiveRunID
		if run == "" {
			return
		}
		d.hand.say(protocol.RunInject{RunID: run, Queue: []protocol.Queue{"steer", "next_turn", "follow_up"}[i%3], Input: "and"})
		if i%7 == 0 {
			d.hand.say(protocol.RunCancel{RunID: run, Mode: protocol.Mode([]string{"", "graceful"}[i%2])})
		}
	})
	d.hand.send(barrier)
}

func (d *drive) actOnTheAgentSocket() {
	d.act(func(i int) {
		frame := fmt.Sprintf(`{"type":"inject","text":"over the agent socket %d","wake":true}`, i)
		if i%9 == 8 {
			frame = `{"type":"cancel"}`
		}
		d.write(frame)
	})
	d.write(barrier)
}

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
		w.model.Replies <- reply
	}
	d := &drive{
		world: w, eye: w.join("secret-all"), hand: w.join("secret-all"), agent: w.agentSocket("a"),
		stop: make(chan struct{}), handled: make(chan struct{}, 2),
	}
	var all sync.WaitGroup
	all.Go(d.watch)
	all.Go(d.tail)
	all.Go(func() {
		d.hand.until(func(f received) bool { return strings.Contains(f.Payload.Message, "barrier") })
		d.handled <- struct{}{}
	})
	all.Go(d.actOnTheRunWire)
	all.Go(d.actOnTheAgentSocket)
	for len(d.starts("a")) < 40 {
		time.Sleep(10 * time.Millisecond)
	}
	close(d.stop)
	<-d.handled
	<-d.handled
	w.settle("a")
	d.runs.Store(int64(len(d.starts("a"))))
	w.do("a", func(ctx context.Context, a *turn.Agent) error { return a.Amend(ctx, new(theEnd), nil) })
	all.Wait()
	w.compare("a", d.events, d.frames)
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

// starts returns where each run of a session began.
func (w *world) starts(session string) []store.Event {
	w.t.Helper()
	log, err := w.store.OpenLog(context.Background(), session)
	if err != nil {
		w.t.Fatal(err)
	}
	defer log.Close()
	starts, err := log.Structural(context.Background(), 0, tipOf(log), string(event.TurnStartType))
	if err != nil {
		w.t.Fatal(err)
	}
	return starts
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
	starts := w.starts(session)
	w.t.Logf("%d runs, %d events, %d frames", len(starts), len(events), len(heard))
	for _, start := range starts {
		if got, want := lines(only(start.ID, heard)), text(reference(w.t, log, start.ID, 0)); got != want {
			w.t.Errorf("of run %s came\n%swant\n%s", start.ID, got, want)
		}
	}
}
