// Package project makes the run wire's frames and entries from the events of a
// session: pure functions of a prefix of its log. No clock, no memory of
// connections, no configuration; only open.go reads a log.
//
// Guarantees:
//
//  1. One encoder makes every entry. The bytes in a frame are those over REST, save for
//     the view members on_path and compacted, which stand last.
//  2. Frames of a prefix of a log are a prefix of its frames: nothing that comes later
//     changes what was sent. So a replay is, byte for byte, what was live, and a restart
//     changes nothing.
//  3. A frame inside a run carries the seq of its event, once; where one event makes
//     several frames only the last does, so a cursor never splits a group. Outside a run
//     no frame has a seq.
//  4. run.started precedes every other frame of its run. A run that has ended has exactly
//     one terminal frame, nothing of the run follows it, and it is numbered.
//  5. Every event that makes an entry makes one run.entry, at most one event an entry, and
//     an entry's id and seq are its event's.
//  6. parent_id is the entry before it on its branch; session/branched moves the branch.
//  7. A delta names the entry it belongs to by an id that the log fixes beforehand. Where
//     it cannot (a log written elsewhere, whose messages have other ids), no delta is made.
//  8. A fork's copied events make no frames and their turns are no runs of the fork; their
//     entries are those of the source.
//  9. An unknown event type makes no frame; an unknown or ill-typed member of a known
//     payload makes no difference to the others.
//  10. A projector can start anywhere: behind any seq it knows what it would know had it
//     folded the whole log, at the cost of the structural events of the run it stands in.
//     Streamed pieces never change what a later event makes.
//  11. A page of history costs what its entries cost, however long the log is. Walking
//     backwards page by page yields each entry once, also while the log grows; only the
//     view members differ from one moment to another.
package project
