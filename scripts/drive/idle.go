package main

import (
	"context"
	"fmt"
	"time"

	"github.com/coder/websocket"
)

const idleConnections = 1000

// idle opens subscribed connections that nothing is said on, each of an agent of its own.
func idle(ctx context.Context, s *server) error {
	var open []*websocket.Conn // a connection that nobody refers to is closed by its finalizer
	defer func() {
		for _, conn := range open {
			conn.CloseNow()
		}
	}()
	first, err := quiet(ctx, s, "first")
	if err != nil {
		return err
	}
	open = append(open, first)
	before, err := s.rss()
	if err != nil {
		return err
	}
	for i := range idleConnections {
		conn, err := quiet(ctx, s, fmt.Sprintf("idle-%d", i))
		if err != nil {
			return err
		}
		open = append(open, conn)
	}
	select { // the runtime gives memory back by itself, after a while
	case <-time.After(10 * time.Second):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	after, err := s.rss()
	if err != nil {
		return err
	}
	fmt.Printf("idle: RSS %.1f MiB with 1 connection, %.1f MiB with %d more: %.1f KiB each\n",
		float64(before)/(1<<20), float64(after)/(1<<20), idleConnections, float64(after-before)/1024/idleConnections)
	return nil
}

// quiet opens a connection, subscribes, and leaves it be.
func quiet(ctx context.Context, s *server, name string) (*websocket.Conn, error) {
	conn, _, err := websocket.Dial(ctx, s.url+"/agents/"+name+"/ws", &websocket.DialOptions{
		HTTPHeader: map[string][]string{"Authorization": {"Bearer " + token}},
	})
	if err != nil {
		return nil, err
	}
	if _, _, err := conn.Read(ctx); err != nil { // hello
		return nil, err
	}
	if err := conn.Write(ctx, websocket.MessageText, []byte(`{"type":"subscribe","from_seq":0}`)); err != nil {
		return nil, err
	}
	_, _, err = conn.Read(ctx) // session/created
	return conn, err
}
