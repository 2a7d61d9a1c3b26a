// Package rest serves /api/v1 and the streams of server-sent events under it: what the
// run wire does and shows, a request at a time. It is a projection of the same logs,
// through the same doors.
//
// Where things are: route.go is what a route is, routes.go the table of them, server.go
// the way every request goes, body.go and query.go what it may say, refusal.go how it is
// answered when it is refused; then one file a resource. openapi.go makes the document
// from the table.
//
// Guarantees:
//
//  1. Whoever shows no token in force learns nothing and changes nothing. A session, run,
//     call or text that is another owner's, or that the token does not reach, is
//     answered byte for byte like one that never was.
//  2. A refused request has no effect; its answer is {"error":{"code","message"}} with the
//     code of its status, and says what was wrong.
//  3. GET and HEAD change nothing.
//  4. What is answered is on the disk.
//  5. The entries of a history are the bytes of the run wire's frames, save for the view
//     members. Pages by before_id give each entry once, also while a run appends.
//  6. A stream has every frame of its run behind the cursor, in order, each once,
//     and ends after the terminal one. It reads the log at its client's pace, holds a page
//     of it at most, and holds up nobody.
//  7. A stream or a request that waits ends with its client, with its token, with its
//     session, and with the server; Wait returns when the last request has ended.
//  8. The OpenAPI document has every route, and each route every status it answers.
//  9. A session whose log is damaged hides no other: a list shows it as failed, with what
//     is wrong as its last error, and whoever opens it is told that.
//
// Who may do what (auth.Verbs), as on the agent socket: watch reads; inject makes
// sessions and runs, steers and stops them, moves the leaf, forks (with watch) and
// withdraws texts; approve decides calls; admin changes what a session is: title, pin,
// policy, models, compaction, deletion. Prefer: wait shows an outcome and so needs
// watch too.
package rest
