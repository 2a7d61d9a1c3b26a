package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"hitchpost/server/client"
	"hitchpost/turn/event"
)

const (
	stormClients = 20
	stormChunks  = 5000
)

// storm has 20 clients of one agent drop and come back at random, each superseding
// another, until each holds the whole log.
func storm(ctx context.Context, s *server) error {
	first, err := client.Dial(ctx, s.url, token, "main", client.Options{})
	if err != nil {
		return err
	}
	if _, err := first.Inject(fmt.Sprintf("%d 40", stormChunks), true, "storm"); err != nil {
		return err
	}
	first.Subscribe(0)
	if _, err := first.Next(ctx); err != nil {
		return err
	}
	first.Close()

	var (
		logs  [stormClients][][]byte
		errs  [stormClients]error
		dials atomic.Int64
		wg    sync.WaitGroup
	)
	for i := range stormClients {
		wg.Go(func() { logs[i], errs[i] = collect(ctx, s, &dials) })
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	chunks := 0
	for seq, line := range logs[0] {
		if bytes.Contains(line, []byte(`"`+string(event.AssistantChunkType)+`"`)) {
			chunks++
		}
		for i := range logs {
			if !bytes.Equal(logs[i][seq], line) {
				return fmt.Errorf("client %d has other bytes at seq %d:\n%s\n%s", i, seq, line, logs[i][seq])
			}
		}
	}
	if chunks != stormChunks {
		return fmt.Errorf("%d chunks in the log, want %d", chunks, stormChunks)
	}
	fmt.Printf("storm: %d clients, %d connections, each ended with the same %d events, no gap and no duplicate; %d chunks\n",
		stormClients, dials.Load(), len(logs[0]), chunks)
	return nil
}

// collect reads the log to the end of the turn, over as many connections as it takes.
func collect(ctx context.Context, s *server, dials *atomic.Int64) ([][]byte, error) {
	var log [][]byte
	for {
		ended, err := stretch(ctx, s, &log, dials)
		if err != nil || ended {
			return log, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(rand.N(100 * time.Millisecond)):
		}
	}
}

// stretch reads on from what is there, for a random while or until another client
// takes the agent.
func stretch(ctx context.Context, s *server, log *[][]byte, dials *atomic.Int64) (ended bool, err error) {
	agent, err := client.Dial(ctx, s.url, token, "main", client.Options{})
	if err != nil {
		return false, superseded(err)
	}
	defer agent.Close()
	dials.Add(1)
	agent.Subscribe(int64(len(*log)))
	for left := rand.N(3000); left > 0; left-- {
		message, err := agent.Next(ctx)
		if err != nil {
			return false, superseded(err)
		}
		ev, ok := message.(client.Event)
		if !ok {
			continue
		}
		if ev.Seq != int64(len(*log)) {
			return false, fmt.Errorf("got seq %d, want %d", ev.Seq, len(*log))
		}
		*log = append(*log, ev.Line)
		if event.Type(ev.Type) == event.TurnEndType {
			return true, nil
		}
	}
	return false, nil
}

// superseded is no fault here: another of the twenty came.
func superseded(err error) error {
	if errors.Is(err, client.ErrSuperseded) {
		return nil
	}
	return err
}
