package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"

	"hitchpost/store"
)

const (
	benchOwner = "bench"
	benchLong  = "long"
	benchSmall = "small"
	eventText  = 250 // characters of an event's text: an event has about 350 bytes
	producers  = 64
	perBatch   = 64
	batches    = 50
)

// benchEvent is what the load test appends.
var benchEvent = store.NewEvent{
	Type: "bench/event", Payload: json.RawMessage(`{"text":"` + strings.Repeat("x", eventText) + `"}`), Streamed: true,
}

// measureAppends fills the database: one producer that appends many at a time, and
// many that wait for each of theirs, in turns.
func (f *figures) measureAppends(ctx context.Context, path string) (err error) {
	st, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	logs := make([]*store.Log, producers)
	for i := range logs {
		if logs[i], err = benchLog(ctx, st, fmt.Sprintf("producer-%d", i)); err != nil {
			return err
		}
		defer logs[i].Close()
	}
	var batched, single []time.Duration
	for range benchRounds {
		took, err := timed(func() error { return appendMany(ctx, logs[0], batches, perBatch) })
		if err != nil {
			return err
		}
		batched = append(batched, took)
		took, err = timed(func() error {
			var all errgroup.Group
			for _, log := range logs {
				all.Go(func() error { return appendMany(ctx, log, batches, 1) })
			}
			return all.Wait()
		})
		if err != nil {
			return err
		}
		single = append(single, took)
	}
	f.BatchedPerSecond = batches * perBatch / median(batched).Seconds()
	f.AppendsPerSecond = batches * producers / median(single).Seconds()
	f.AppendRatio = f.AppendsPerSecond / f.BatchedPerSecond
	return lay(ctx, st)
}

// lay makes the sessions that are read. Each client of the storm has one of its own,
// since an agent's socket has one client.
func lay(ctx context.Context, st *store.Store) error {
	if err := fill(ctx, st, benchLong, benchEvents); err != nil {
		return err
	}
	if err := fill(ctx, st, benchSmall, benchShort); err != nil {
		return err
	}
	for i := range benchClients {
		if err := fill(ctx, st, stormSession(i), benchStorm); err != nil {
			return err
		}
	}
	return nil
}

func stormSession(i int) string { return fmt.Sprintf("storm-%d", i) }

func timed(work func() error) (time.Duration, error) {
	start := time.Now()
	err := work()
	return time.Since(start), err
}

func benchLog(ctx context.Context, st *store.Store, id string) (*store.Log, error) {
	if err := st.Create(ctx, store.Session{ID: id, Owner: benchOwner, Agent: "default"}, []store.NewEvent{benchEvent}); err != nil {
		return nil, err
	}
	return st.OpenLog(ctx, id)
}

// appendMany appends times batches of size events, one after the other.
func appendMany(ctx context.Context, log *store.Log, times, size int) error {
	batch := store.Batch{}
	for range size {
		batch.Events = append(batch.Events, benchEvent)
	}
	for range times {
		tip, _ := log.Tip()
		batch.From = tip + 1
		if _, err := log.Append(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

func fill(ctx context.Context, st *store.Store, id string, events int) error {
	log, err := benchLog(ctx, st, id)
	if err != nil {
		return err
	}
	defer log.Close()
	return appendMany(ctx, log, (events-1)/9, 9) // 9 divides each length less the first event
}

// measureReplays reads from the server at address as its clients do.
func (f *figures) measureReplays(ctx context.Context, address, secret string) error {
	c := benchClient{address: address, secret: secret}
	var raw, replays, storms, long, short []time.Duration
	for range benchRounds {
		took, bytes, err := c.replay(ctx, benchLong, benchEvents)
		if err != nil {
			return err
		}
		replays = append(replays, took)
		if took, err = bareTCP(bytes); err != nil {
			return err
		}
		raw = append(raw, took)
		took, err = timed(func() error { return c.storm(ctx) })
		if err != nil {
			return err
		}
		storms = append(storms, took)
		for range 10 {
			for _, hello := range []struct {
				agent string
				to    *[]time.Duration
			}{{benchLong, &long}, {benchSmall, &short}} {
				took, err := timed(func() error {
					conn, err := c.dial(ctx, hello.agent)
					if err == nil {
						conn.CloseNow()
					}
					return err
				})
				if err != nil {
					return err
				}
				*hello.to = append(*hello.to, took)
			}
		}
	}
	f.ReplayMillis, f.RawReplayMillis = micros(median(replays))/1000, micros(median(raw))/1000
	f.ReplayRatio = f.ReplayMillis / f.RawReplayMillis
	f.AtTipMicros = micros(median(long))
	f.AtTipRatio = f.AtTipMicros / micros(median(short))
	f.StormPerSecond = benchClients * benchStorm / median(storms).Seconds()
	f.StormRatio = f.StormPerSecond / (benchEvents / median(replays).Seconds())
	return nil
}

// benchClient reads an agent's socket as fast as it can, without looking at the events.
type benchClient struct{ address, secret string }

// dial connects and takes hello.
func (c benchClient) dial(ctx context.Context, agent string) (*websocket.Conn, error) {
	u, err := url.JoinPath(c.address, "agents", agent, "ws")
	if err != nil {
		return nil, err
	}
	conn, _, err := websocket.Dial(ctx, u, &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + c.secret}},
	})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(-1)
	_, err = skip(ctx, conn, 1)
	return conn, err
}

// skip reads n frames and returns their bytes.
func skip(ctx context.Context, conn *websocket.Conn, n int) (bytes int64, err error) {
	for range n {
		_, r, err := conn.Reader(ctx)
		if err != nil {
			return bytes, err
		}
		size, err := io.Copy(io.Discard, r)
		bytes += size
		if err != nil {
			return bytes, err
		}
	}
	return bytes, nil
}

// replay reads a session of so many events once.
func (c benchClient) replay(ctx context.Context, agent string, events int) (took time.Duration, bytes int64, err error) {
	conn, err := c.dial(ctx, agent)
	if err != nil {
		return 0, 0, err
	}
	defer conn.CloseNow()
	took, err = timed(func() error {
		if err := conn.Write(ctx, websocket.MessageText, []byte(`{"type":"subscribe","from_seq":0}`)); err != nil {
			return err
		}
		bytes, err = skip(ctx, conn, events)
		return err
	})
	return took, bytes, err
}

// storm reads many sessions at once.
func (c benchClient) storm(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	for i := range benchClients {
		all.Go(func() error {
			_, _, err := c.replay(ctx, stormSession(i), benchStorm)
			return err
		})
	}
	return all.Wait()
}

// bareTCP sends as many bytes over a loopback connection, in writes of 64 KiB.
func bareTCP(bytes int64) (time.Duration, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	sent := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			defer conn.Close()
			block := make([]byte, 64<<10)
			for left := bytes; left > 0 && err == nil; left -= int64(len(block)) {
				_, err = conn.Write(block[:min(int64(len(block)), left)])
			}
		}
		sent <- err
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	took, err := timed(func() error {
		_, err := io.Copy(io.Discard, conn)
		return err
	})
	return took, errors.Join(err, <-sent)
}
