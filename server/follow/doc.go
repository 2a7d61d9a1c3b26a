// Package follow reads one session's log for one reader: from a seq on, first what
// is there, then what comes, for every wire alike.
//
// A Reader is a cursor, not a queue: it holds the rest of one page of events and, when
// that is nearly handed on, the next. Where it takes the next event from (a page of the
// file, or the log's recent events) is decided by the log, which knows its own tip.
//
// Guarantees:
//
//  1. No gap and no duplicate: the next event handed on is the one with the next seq,
//     wherever it is taken from, and the bytes are those that were stored.
//  2. The log's writer never waits for a Reader: what it calls compares integers and
//     wakes somebody else.
//  3. At most as many pages are read at once, over all Readers, as there are Slots.
//     A Reader that must wait gets its slot in order of asking, and holds it for the
//     read alone, not while its page is sent. Who is within the recent events needs none.
//  4. A Reader whose client has not reached the tail, and shown it after a long replay,
//     is never lagged. One whose client has, and is then more than its bound behind for
//     a whole LagPatience, is, also while its owner is blocked in a write.
//     A Reader that is live from the start (FollowLive) counts as such a one at once.
//  5. After Close returns nothing of the Reader runs.
package follow
