package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	"hitchpost/server/client"
	"hitchpost/turn/event"
)

const (
	readers     = 9
	laggedEvent = 1000

	// 8 MB: more than the buffers of the system hold, less than an answer may have; paced,
	// so that a busy machine of two processors keeps up with who does read.
	laggedTurn = "1000 8000 10"
)

// lagged has ten agents stream at once; the client of one stops reading.
func lagged(ctx context.Context, s *server) error {
	dead, err := deadReader(ctx, s)
	if err != nil {
		return err
	}
	defer dead.CloseNow()
	var wg sync.WaitGroup
	var errs [readers]error
	for i := range readers {
		wg.Go(func() { errs[i] = readTurn(ctx, s, fmt.Sprintf("reader-%d", i)) })
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	code, last, err := drain(ctx, dead)
	if err != nil {
		return err
	}
	fmt.Printf("lagged: %d readers got all %d chunks each; the one that stopped was told %s and closed with %d\n",
		readers, laggedEvent, last, code)
	if code != websocket.StatusTryAgainLater {
		return fmt.Errorf("close code %d, want %d", code, websocket.StatusTryAgainLater)
	}
	return nil
}

func deadReader(ctx context.Context, s *server) (*websocket.Conn, error) {
	conn, _, err := websocket.Dial(ctx, s.url+"/agents/dead/ws", &websocket.DialOptions{
		HTTPHeader: map[string][]string{"Authorization": {"Bearer " + token}},
	})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(-1)
	for _, frame := range []string{`{"type":"subscribe","from_seq":0}`, `{"type":"inject","text":"` + laggedTurn + `","wake":true}`} {
		if err := conn.Write(ctx, websocket.MessageText, []byte(frame)); err != nil {
			return nil, err
		}
	}
	return conn, nil
}

// drain reads what a dead reader had been sent, to the farewell and the close.
func drain(ctx context.Context, conn *websocket.Conn) (websocket.StatusCode, string, error) {
	ctx, done := context.WithTimeout(ctx, 30*time.Second)
	defer done()
	last := ""
	for {
		_, frame, err := conn.Read(ctx)
		if err != nil {
			if code := websocket.CloseStatus(err); code >= 0 {
				return code, last, nil
			}
			return 0, last, err
		}
		last = string(frame[:min(len(frame), 200)])
	}
}

func readTurn(ctx context.Context, s *server, name string) error {
	agent, err := client.Dial(ctx, s.url, token, name, client.Options{})
	if err != nil {
		return err
	}
	defer agent.Close()
	agent.Subscribe(0)
	if _, err := agent.Inject(laggedTurn, true, "go"); err != nil {
		return err
	}
	chunks := 0
	for message, err := range agent.Messages(ctx) {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		switch m := message.(type) {
		case client.Lost:
			return fmt.Errorf("%s lost its connection: %v", name, m.Cause)
		case client.Event:
			switch event.Type(m.Type) {
			case event.AssistantChunkType:
				chunks++
			case event.TurnEndType:
				if chunks != laggedEvent {
					return fmt.Errorf("%s got %d chunks, want %d", name, chunks, laggedEvent)
				}
				return nil
			}
		}
	}
	return nil
}
