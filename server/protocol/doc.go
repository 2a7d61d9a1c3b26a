// Package protocol declares the run wire's names once: every frame type, code,
// kind, source, field, queue, mode and status, and the payload of every frame and
// entry. The TypeScript mirror is generated from here.
//
// Guarantees:
//
//  1. A name stands once. Loop codes are declared in turn/event, the transport's
//     codes here, in one flat namespace without collisions; a meaning that both
//     know (config_error) is the same constant.
//  2. A payload knows the type of its frame, so that no frame can pair the wrong two.
//  3. A frame encodes as {"type":…,"seq":…,"payload":{…}} on one line; <, > and &
//     stay as they are, and raw JSON inside it keeps its digits. An unnumbered frame
//     has no member seq.
//  4. Vocabularies are open for readers: a client shows a type, kind, source, field,
//     code, reason, status or queue that it does not know in a documented generic way.
//  5. server/web/src/protocol.gen.ts is what the generator makes of these
//     declarations today, to the byte.
//
// What the protocol text leaves open is decided in PROTOCOL.md.
package protocol

//go:generate go run ./tsgen -o ../web/src/protocol.gen.ts
