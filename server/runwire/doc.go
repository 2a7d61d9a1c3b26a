// Package runwire speaks the run wire: one WebSocket (GET /ws) on which a person's page
// hears every run of every session of its owner and steers them. What it is sent is
// projected from the logs by package project. PROTOCOL.md beside this file has the
// readings that the wire's text leaves open; those of frames and entries are in
// server/protocol.
//
// Where things are: door.go decides who comes in, frame.go and members.go what a client
// frame is, handle.go what it does, subscribe.go which runs are heard and who opens their
// streams, open.go where a stream begins, stream.go what it sends, gap.go where a slow
// client goes on, hub.go who is told of a change, news.go what is broadcast, outbox.go what
// of it waits for a slow client, shelf.go the large frames that connections share, conn.go
// the life of a connection, server.go the server.
//
// Guarantees:
//
//  1. A connection hears every run of every session that its token reaches, open ones
//     from their start (or the newest window), new ones as they start, whoever started
//     them. It hears of nothing else, and a foreign id is answered as an unknown one is.
//  2. The frames of a run are those of its log, byte for byte, in order, each number once
//     for a stream. run.started precedes all others of its run on every connection.
//  3. run.subscribe replaces this connection's stream of that run: nothing of the old one
//     is queued behind it. Every cursor of a run is served exactly, at the client's pace.
//  4. What a connection is not sent of a live run because it was more than its bound
//     behind for a whole second is announced by one run.gap a hole, right where the hole
//     is. run.started and the terminal frame are never left out. Nobody else is concerned.
//  5. A client frame is carried out or refused, whole, by one unnumbered run.error with
//     the id that was asked for, to this connection alone; success is silent. A token's
//     verbs are asked for at each frame.
//  6. Broadcasts are unnumbered, to the owner's connections that the session reaches, and
//     of each kind the newest of a session is never lost to a connection that lives.
//  7. A connection costs the same however many sessions rest: it holds nothing for them.
//     A stream exists while its run is open or replayed. At most maxReplays of a
//     connection's streams replay at a time, and whoever reads a run's events takes a slot.
//  8. Sources of frames have their turns, a quantum each: no run starves another.
//  9. Neither a log's writer nor an agent waits for a connection.
//  10. A token that is withdrawn or reaches other sessions ends its connections at once,
//     idle or not. Shutdown sends what the logs have and then 1001.
//  11. A large frame of a run is made once for all the connections that follow it, and they
//     hold the same bytes; what is kept for that is bounded, and gone with the last of them.
package runwire
