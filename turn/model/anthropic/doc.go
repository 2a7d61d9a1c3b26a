// Package anthropic speaks the Messages wire, as Anthropic and the servers that took it
// over serve it.
//
// It keeps the guarantees of packages model and httpstream, and these:
//
//  1. A reply is complete once message_stop came behind a message_start; whatever ends
//     before that is truncated, and no call of it is returned.
//  2. A message_stop and no block is an empty reply.
//  3. Every call's Args is a JSON object with its digits as they came; whatever else is
//     no object, or was cut at the answer limit, is {} with an ArgsError.
//  4. The request's bytes are a pure function of the Request and the Config.
//  5. Any history that the projection gives makes a request of the form that the wire
//     asks for: roles take turns, results stand first in the message behind their calls,
//     no text is blank, and every id of a call is well formed and there once.
//  6. Thinking goes back to the wire block for block, at the place where it stood.
//  7. A ping holds off no limit.
package anthropic
