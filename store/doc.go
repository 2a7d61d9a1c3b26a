// Package store keeps the logs: one SQLite file of sessions, each an
// append-only sequence of events, with the texts that wait to be read beside
// it. It knows rows, order and durability; no protocol, no model.
//
// Guarantees:
//
//  1. Durable before visible. An event is committed before Tip moves, before a
//     Recent or a watcher shows it and before its append is answered. With
//     durability "full" committed means synced; with "normal" it survives the
//     death of the process, but a power cut may take the newest commits.
//  2. A batch is one transaction: its events, the texts it puts, takes and calms,
//     the input ids it remembers with their notes, and the title, pin and digest it
//     sets, or nothing.
//  3. The seqs of a session are 0, 1, 2, … without a hole, each has one content
//     for ever, and UNIQUE(session, seq) proves it. A batch names the seq it
//     expects, so one behind a failed one fails too.
//  4. Requests commit in the order they were submitted. After the commit the
//     writer first publishes the whole transaction (tips, recent events,
//     watchers), then answers its callers, in order: who is answered can read it.
//     No Log, no row of a session and no search shows an event before that: what
//     one reader was shown, the next one can read too.
//  5. A request that cannot be stored fails alone and by name; when the disk
//     fails, all requests of the transaction do. Nothing of them is published,
//     and the writer goes on: the next append succeeds as soon as the disk
//     allows. A panic never takes the writer down. A cancelled context never
//     interrupts the transaction others share. A file on a full disk is opened and read, as
//     long as SQLite has its 32 KiB beside it.
//  6. A payload is stored byte for byte, <, >, &, \u0000 and U+2028 included. Only
//     these are changed: space between tokens where it holds a newline goes, and
//     half of a surrogate pair, which is no character, becomes \ufffd.
//  7. at is UTC in whole microseconds and never decreases within a session,
//     whatever the clock does; seq alone decides order.
//  8. Reading never waits for a commit, nor a commit for a slow client. A page has
//     at most PageEvents events and PageBytes bytes (but at least one event), and
//     no read transaction outlives the call: however slowly clients drain, the
//     write-ahead log stays under 32 MB, save while a backup runs. Where reads
//     overlap without a break, they pause for the moment in which it is reset.
//  9. Opening a log, its tip, Newest, Structural, Before and ByID cost O(log n) for
//     each event returned; streamed pieces are not scanned.
//  10. A client's input id is remembered as long as the session, from the
//     transaction that took the input; taking it twice is ErrConflict.
//  11. A deleted session is gone at once: its open logs refuse appends and reads with
//     ErrDeleted, and no reader sees a log with a hole. It leaves a tombstone: its id is
//     never given out again. Its rows go later, see 16.
//  12. One process has the file; a second one is refused and told the holder. A
//     file of another application, or of a newer version, is refused untouched.
//     A file whose write-ahead log was lost or is not its own is refused, where
//     that can be told.
//  13. Close commits what was accepted, folds the write-ahead log into the file
//     and lets it go: the one file is the whole state then. Where the disk has no room for
//     that, Close says so: the write-ahead log stays, and the next Open reads it.
//  14. A backup is one consistent moment, verified before it gets its name, and
//     has a log id of its own, since what follows a restore is another life.
//  15. A text can be found from the transaction of its event on, and a title from
//     the batch that set it, by their owner alone and never when the session is deleted.
//     Any text is a query. A streamed piece costs the search nothing.
//  16. Copies, imports and deletions move rows in pieces of at most PageEvents events and
//     PageBytes bytes, or one larger event: no append waits for more than one piece.
//     What is not whole is seen by nobody; what a failure or a crash leaves of it is
//     removed, by the next Open at the latest. The space of what is removed is used again.
//  17. An export is the session at one moment, and its import is the same session
//     again: the same bytes of every event. An import takes nothing that an export
//     would not have written, and names the line.
//
// Locks, where two are held, in this order: Log.submit, then the queue's;
// Log.opening, then Store.gate. Store.mu, Log.mu and the queue's are leaves: no
// other lock is taken under them. A read of rows may wait, under Store.gate, until a
// commit is published: up to that the writer takes no Store.gate, nor may a watcher
// read a row.
package store
