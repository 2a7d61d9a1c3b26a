// Package client is the Go client of the agent socket (Agent Socket v1): one Agent is
// one session's log as it was and as it grows, and the frames that steer it.
//
//	agent, err := client.Dial(ctx, "http://127.0.0.1:7420", token, "main", client.Options{})
//	defer agent.Close()
//	agent.Subscribe(0)
//	id, err := agent.Inject("hello", true, "")
//	for {
//		message, err := agent.Next(ctx)
//		…
//	}
//
// Guarantees:
//
//  1. After Subscribe(n), Next returns the events from n on, each once, in order and
//     without a hole, over any number of lost connections. A hole that the server
//     announces (replay_truncated) is a Truncated before the first event after it; one
//     that it does not announce ends the Agent with ErrGap.
//  2. Events of an earlier subscription never come after a later Subscribe returned.
//  3. A lost connection is made again, whatever ended it: the network, lagged, a
//     restart. The waits double from MinWait to MaxWait, with jitter, and start over
//     only at a hello that an `internal` does not follow.
//  4. After superseded and unauthorized it is not made again: Next says so.
//  5. A cursor is never used on another log: a new log_id, or a log that ends before
//     what was read, ends the Agent with ErrAnotherLog.
//  6. An inject is sent again over each new connection until its event is seen, by its
//     id, so that it takes effect once. Other commands are sent once or fail.
//  7. An Agent has one goroutine of its own, which has ended when Close returns.
//     It reads ahead by one message: a reader that is slow is, for the server, a slow
//     client. A frame of the server may have 64 MiB.
package client
