package runwire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"hitchpost/server/project"
	"hitchpost/server/protocol"
	"hitchpost/store"
)

// peer is a client that reads and writes raw frames.
type peer struct {
	t  testing.TB
	ws *websocket.Conn
}

func (w *world) address() string {
	return "ws" + strings.TrimPrefix(w.http.URL, "http") + "/ws"
}

// dial opens a socket and says nothing.
func (w *world) dial(header ...string) *peer {
	w.t.Helper()
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	tr := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil && w.set.narrow {
			err = c.(*net.TCPConn).SetReadBuffer(32 << 10)
		}
		return c, err
	}}
	ws, _, err := websocket.Dial(context.Background(), w.address(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: tr}, HTTPHeader: h,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ws.SetReadLimit(-1)
	w.t.Cleanup(func() { ws.CloseNow() })
	return &peer{w.t, ws}
}

func authFrame(secret string) string { return fmt.Sprintf(`{"type":"auth","token":%q}`, secret) }

// join opens a socket, authenticates, and takes auth.ok.
func (w *world) join(secret string) *peer {
	w.t.Helper()
	p := w.dial()
	p.send(authFrame(secret))
	if first := p.next(); first.Type != protocol.TypeAuthOK {
		w.t.Fatalf("the first frame is %s", first.line)
	}
	return p
}

func (p *peer) send(frames ...string) {
	p.t.Helper()
	for _, f := range frames {
		if err := p.ws.Write(context.Background(), websocket.MessageText, []byte(f)); err != nil {
			p.t.Fatal(err)
		}
	}
}

// say sends a frame of a payload.
func (p *peer) say(payload protocol.ClientPayload) {
	p.t.Helper()
	body, err := json.Marshal(payload)
	if err != nil {
		p.t.Fatal(err)
	}
	p.send(fmt.Sprintf(`{"type":%q,"payload":%s}`, payload.ClientType(), body))
}

// received is a frame as a client sees it.
type received struct {
	Type    protocol.ServerType
	Seq     int64
	Payload struct {
		RunID     string `json:"run_id"`
		SessionID string `json:"session_id"`
		LiveRunID string `json:"live_run_id"`
		Code      protocol.Code
		Message   string
		Reason    string
		Resumed   bool
		Dropped   int64
		LastGood  int64 `json:"last_good"`
		Next      int64
		Status    protocol.SessionStatus
		Output    string `json:"final_output"`
		Pending   []protocol.PendingCall
		Count     int                  `json:"pending_count"`
		Items     []protocol.InboxItem `json:"items"`
		Title     string
		Phase     protocol.Phase
		Delta     string
		Agent     string `json:"agent_name"`
		Session   protocol.Session
		Entry     struct {
			ID      string
			Kind    string
			RunID   string `json:"run_id"`
			Payload json.RawMessage
		}
		Owner  string
		Allow  []string
		Agents []string
	}
	line string
}

// next returns the next frame.
func (p *peer) next() received {
	p.t.Helper()
	f, err := p.read()
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

func (p *peer) read() (f received, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	typ, text, err := p.ws.Read(ctx)
	if err != nil {
		return f, err
	}
	if typ != websocket.MessageText {
		return f, fmt.Errorf("a frame of type %v", typ)
	}
	f.line = string(text)
	return f, json.Unmarshal(text, &f)
}

// until reads frames until one that is it, and returns them all.
func (p *peer) until(it func(received) bool) (all []received) {
	p.t.Helper()
	for {
		f, err := p.read()
		if err != nil {
			p.t.Fatalf("%v, behind %d frames: %.2000s", err, len(all), lines(all))
		}
		all = append(all, f)
		if it(f) {
			return all
		}
	}
}

// of reads until a frame of the type, and returns it.
func (p *peer) of(typ protocol.ServerType) received {
	p.t.Helper()
	all := p.until(func(f received) bool { return f.Type == typ })
	return all[len(all)-1]
}

// at tells whether a frame is that of the seq.
func at(seq int64) func(received) bool { return func(f received) bool { return f.Seq == seq } }

// ended tells whether a frame is the terminal one of a run.
func ended(run string) func(received) bool {
	return func(f received) bool { return f.Payload.RunID == run && f.Seq != 0 && f.Type.Terminal() }
}

// toEnd reads until the run ends, and returns the frames of the run.
func (p *peer) toEnd(run string) []received {
	p.t.Helper()
	return only(run, p.until(ended(run)))
}

// only keeps the frames of a run.
func only(run string, all []received) (out []received) {
	for _, f := range all {
		if f.Payload.RunID == run {
			out = append(out, f)
		}
	}
	return out
}

func lines(all []received) string {
	var b strings.Builder
	for _, f := range all {
		b.WriteString(f.line)
		b.WriteByte('\n')
	}
	return b.String()
}

// start creates a run and returns its id, as the connection hears it.
func (p *peer) start(session, input string) string {
	p.t.Helper()
	p.say(protocol.RunCreate{SessionID: session, Input: input})
	all := p.until(func(f received) bool {
		if f.Type == protocol.TypeRunError && f.Seq == 0 {
			p.t.Fatalf("refused: %s", f.line)
		}
		return f.Type == protocol.TypeRunStarted && f.Payload.SessionID == session && !f.Payload.Resumed
	})
	return all[len(all)-1].Payload.RunID
}

// refusal returns the message of the next run.error without a number, which must have that code.
func (p *peer) refusal(code protocol.Code) received {
	p.t.Helper()
	all := p.until(func(f received) bool { return f.Type == protocol.TypeRunError && f.Seq == 0 })
	f := all[len(all)-1]
	if f.Payload.Code != code || f.Payload.Message == "" {
		p.t.Fatalf("want a refusal with code %s, got %s", code, f.line)
	}
	return f
}

// alive shows that the connection is open and has nothing more to say about a run: the
// answer to a malformed frame comes behind what was queued. It returns what came before.
func (p *peer) alive() []received {
	p.t.Helper()
	p.send(`{"type":"nonsense"}`)
	all := p.until(func(f received) bool { return f.Payload.Code == protocol.CodeBadFrame })
	return all[:len(all)-1]
}

// rest returns every frame until the close, its code and reason.
func (p *peer) rest() (all []received, code websocket.StatusCode, reason string) {
	p.t.Helper()
	for {
		f, err := p.read()
		if err != nil {
			var ce websocket.CloseError
			if ok := asClose(err, &ce); ok {
				return all, ce.Code, ce.Reason
			}
			return all, -1, err.Error()
		}
		all = append(all, f)
	}
}

// reference projects a run from its log alone: what a client is sent that was there all
// along. from is the cursor.
func reference(t testing.TB, log *store.Log, run string, from int64) (frames []project.Frame) {
	t.Helper()
	r, err := project.Find(context.Background(), log, run)
	if err != nil {
		t.Fatal(err)
	}
	at := max(from+1, r.First)
	p, err := project.Behind(context.Background(), log, at-1)
	if err != nil {
		t.Fatal(err)
	}
	for at <= r.Last {
		page, err := log.Page(context.Background(), at)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range page.Lines {
			if at > r.Last {
				break
			}
			ev, err := log.Decode(line)
			if err != nil {
				t.Fatal(err)
			}
			frames = append(frames, p.Next(ev)...)
			at++
		}
	}
	return frames
}

func text(frames []project.Frame) string {
	var b strings.Builder
	for _, f := range frames {
		b.Write(f.Line)
		b.WriteByte('\n')
	}
	return b.String()
}

func asClose(err error, ce *websocket.CloseError) bool { return errors.As(err, ce) }
