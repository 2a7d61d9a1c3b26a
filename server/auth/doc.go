// Package auth decides who may come in: bearer tokens, what they reach and what
// they may do, and which web pages may talk to the server at all.
//
// Guarantees:
//
//  1. Only the SHA-256 of a token is kept; no message, log line or String shows more.
//  2. Opening a door costs the same work whatever was presented: an unknown token, a
//     known one that does not reach the session, and a good one are compared with
//     every token of the ring, in constant time, with no early exit.
//  3. After Replace returns, every connection that its token no longer opens was told
//     to end: the token is gone, has another name or owner, or does not reach the session.
//  4. Verbs taken from a token that still reaches the session do not end its
//     connections; they are missing from the next frame on. Verbs given likewise. One to all
//     sessions of a token is ended when what it hears changes: the sessions that the token
//     reaches, or watching as such. Its client comes back to what holds now.
//  5. A connection that registers after its token was taken away is refused, so that
//     none slips through between Lookup and Replace.
//  6. A web page of a foreign origin is refused, and so is, on a loopback listener, a
//     host name that a foreign page pointed here (DNS rebinding).
//  7. Ten credentials of one address may fail in any minute; what follows is refused
//     unheard. A right credential costs nothing. Memory is bounded whoever tries.
package auth
