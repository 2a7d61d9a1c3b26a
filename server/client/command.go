package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/coder/websocket"
)

const (
	maxClientFrame = 1 << 20 // bytes (Agent Socket v1, client to server)
	maxUnseen      = 1000    // injects that the log has not shown yet
)

// injection is an inject frame. It is kept until its event is seen.
type injection struct {
	Type string `json:"type"`
	Text string `json:"text"`
	Wake bool   `json:"wake"`
	ID   string `json:"id"`
}

func subscribeFrame(from int64) any {
	return struct {
		Type string `json:"type"`
		From int64  `json:"from_seq"`
	}{"subscribe", from}
}

// Subscribe asks for the events from seq from on, and for those to come. It replaces
// an earlier subscription, and holds over every new connection.
func (a *Agent) Subscribe(from int64) {
	a.wire.Lock()
	defer a.wire.Unlock()
	a.mu.Lock()
	a.sub = subscription{on: true, number: a.sub.number + 1, asked: from, next: from, awaiting: true}
	conn := a.conn
	a.mu.Unlock()
	if conn != nil {
		writeFrame(a.life, conn, subscribeFrame(from)) // a fault is the reader's to find; the next connection asks again
	}
}

// Inject sends a text into the agent's inbox; with wake it starts or resumes a turn.
// The text's event carries id as its input_id; "" makes one, which is returned. It
// may be called without a connection: the text goes out when there is one.
func (a *Agent) Inject(text string, wake bool, id string) (string, error) {
	if id == "" {
		var raw [16]byte
		rand.Read(raw[:]) // never fails
		id = hex.EncodeToString(raw[:])
	}
	in := injection{"inject", text, wake, id}
	if _, err := encode(in); err != nil {
		return "", err
	}
	a.wire.Lock()
	defer a.wire.Unlock()
	a.mu.Lock()
	if a.life.Err() != nil {
		a.mu.Unlock()
		return "", context.Cause(a.life)
	}
	if len(a.sent) >= maxUnseen {
		a.mu.Unlock()
		return "", fmt.Errorf("%d texts are on their way already; wait until the log shows some", maxUnseen)
	}
	a.sent = append(a.sent, in)
	conn := a.conn
	a.mu.Unlock()
	if conn != nil {
		writeFrame(a.life, conn, in) // if this fails, the next connection sends it
	}
	return id, nil
}

// Forget gives up sending an inject again, after the server refused it.
func (a *Agent) Forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(id)
}

func (a *Agent) forget(id string) {
	a.sent = slices.DeleteFunc(a.sent, func(in injection) bool { return in.ID == id })
}

// Unseen lists the ids of the injects that the log has not shown yet, oldest first.
func (a *Agent) Unseen() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var ids []string
	for _, in := range a.sent {
		ids = append(ids, in.ID)
	}
	return ids
}

// Cancel asks the running turn to stop. reason may be "".
func (a *Agent) Cancel(ctx context.Context, reason string) error {
	return a.command(ctx, struct {
		Type   string `json:"type"`
		Reason string `json:"reason,omitempty"`
	}{"cancel", reason})
}

// Approve lets a parked call run.
func (a *Agent) Approve(ctx context.Context, callID string) error {
	return a.command(ctx, struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
	}{"approve", callID})
}

// Deny refuses a parked call. reason may be "".
func (a *Agent) Deny(ctx context.Context, callID, reason string) error {
	return a.command(ctx, struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Reason string `json:"reason,omitempty"`
	}{"deny", callID, reason})
}

// SetModel repoints a role at a provider/model, from the agent's next step on.
func (a *Agent) SetModel(ctx context.Context, role, model string) error {
	return a.command(ctx, struct {
		Type  string `json:"type"`
		Role  string `json:"role"`
		Model string `json:"model"`
	}{"set_model", role, model})
}

// SetPolicy replaces the agent's allow list; an empty list denies every tool.
func (a *Agent) SetPolicy(ctx context.Context, patterns []string) error {
	if patterns == nil {
		patterns = []string{}
	}
	return a.command(ctx, struct {
		Type     string   `json:"type"`
		Patterns []string `json:"patterns"`
	}{"set_policy", patterns})
}

// command waits for a connection and sends a frame over it, once. After an error the
// frame may or may not have arrived. The server's answer, if there is any, comes as
// an event or as Refused.
func (a *Agent) command(ctx context.Context, frame any) error {
	if _, err := encode(frame); err != nil {
		return err
	}
	for {
		a.mu.Lock()
		up := a.up
		a.mu.Unlock()
		select {
		case <-up:
		case <-a.life.Done():
			return context.Cause(a.life)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		a.wire.Lock()
		a.mu.Lock()
		conn := a.conn
		a.mu.Unlock()
		if conn == nil { // lost again meanwhile
			a.wire.Unlock()
			continue
		}
		err := writeFrame(a.life, conn, frame)
		a.wire.Unlock()
		return err
	}
}

func encode(frame any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(frame); err != nil {
		return nil, fmt.Errorf("encode a frame: %w", err)
	}
	raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if len(raw) > maxClientFrame {
		return nil, fmt.Errorf("too long: a frame has at most %d bytes, this one %d", maxClientFrame, len(raw))
	}
	return raw, nil
}

func writeFrame(ctx context.Context, conn *websocket.Conn, frame any) error {
	raw, err := encode(frame)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := conn.Write(ctx, websocket.MessageText, raw); err != nil {
		return fmt.Errorf("the frame may not have arrived: %w", err)
	}
	return nil
}
