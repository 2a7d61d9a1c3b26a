// Package wsconn is the life of one WebSocket connection, whatever is spoken over
// it: bounded reads, writes collected into few system calls, pings, one cause to
// end, and the farewell.
//
// Two goroutines can serve a connection. The reader reads a message, hands it to
// the Handler and reads the next; there is one as long as the connection lives. The pump is
// the only one that writes to the socket. It is started by Kick and ends when
// nothing is left to write, so an idle connection has one goroutine, no timer and
// less than a KiB of buffers. Everybody else writes into memory: the answer to a
// client's ping, a frame sent from the reader, and the farewell all go the pump's way.
//
// Guarantees:
//
//  1. The first cause to end a connection is its cause; later ones change nothing.
//  2. Once an end has begun no further message reaches the Handler, and frames that
//     wait are dropped. The farewell is the last data frame; a close frame with the
//     code of the cause follows it.
//  3. Kick, End and Ping never block, so the writer of a log may call them.
//  4. A message of MaxMessage bytes passes. A longer one is read to its end without
//     being kept and reported as ErrTooLarge; beyond HardLimit it ends the connection.
//  5. A message once begun is complete within MessageTimeout, or the connection ends.
//  6. A peer that takes not one byte for WriteStall ends its connection and holds up
//     nobody else. A peer that is still being written to is not judged by its pongs.
//  7. Handler.Ended is called once, last, when both goroutines are done with the
//     Handler. Group.Shutdown returns after the last of these calls,
//     and after whoever came in by Group.Enter has left.
//  8. A frame of more than 64 KiB is not copied: connections that are sent the same bytes
//     hold them once.
package wsconn
