// Package server puts the parts together: it opens the log, keeps the agents, and
// serves the wires over it. Each wire lives in a package of its own below this one.
//
// Guarantees:
//
//  1. Nothing is served before the log is open and the waiting texts of the last life
//     have begun their turns.
//  2. A reload takes effect whole or not at all.
//  3. Run returns after every connection, agent, tool and goroutine has ended and the
//     log is closed; what was accepted is on the disk, and what was cut is resumable.
//  4. A session that is deleted is gone from every surface: its run was aborted before, its
//     connections, streams and waiting requests end, and so does what its tools held open.
//  5. A request whose body does not come in time is answered, whatever it asks for, and its
//     connection closed: it holds nothing for longer.
package server
