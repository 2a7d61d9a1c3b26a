// Package agentsocket speaks the Agent Socket v1: one WebSocket per agent, on which
// everything the server says about a session is its log, event by event. PROTOCOL.md
// beside this file is the wire in our words.
//
// Where things are: door.go decides who comes in, frame.go what a client frame is,
// handle.go what it does, subscribe.go which events go out, conn.go is the life of a
// connection, server.go who is connected to which agent.
//
// Guarantees:
//
//  1. Every sentence of PROTOCOL.md is kept on the wire.
//  2. Whoever may not come in learns nothing and changes nothing: a wrong token, one
//     for another agent, an unknown, a foreign and a deleted session get one answer.
//  3. A client frame is decoded whole or refused whole, with one bad_frame that says
//     what was wrong. A refused frame has no effect.
//  4. Frames of one connection take effect in order, also while a replay drains or
//     waits. Once an end has begun none of them has an effect any more.
//  5. Nothing of a replaced subscription is queued after the new one was handled.
//  6. A connection never holds up an agent, a log or another connection.
package agentsocket
