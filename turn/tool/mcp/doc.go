// Package mcp mounts MCP servers as tool sources: each is started or called,
// asked for its tools, and kept connected; each of its tools is a tool.Tool.
//
// Guarantees:
//
//  1. A tool is named mcp__SERVER__TOOL. One whose remote name, size or number is
//     out of bounds, or whose name is taken, is left out with a log line; the rest
//     mounts. Tools is sorted and holds each name once.
//  2. A tool is mutating, serial and not repeatable, unless its annotations call it
//     read-only (then it is none of the three) or idempotent (then it is repeatable).
//     Its approval is the server's.
//  3. A result is the structured content if there is one, null and false included,
//     with all its digits; else the texts, joined by newlines, and for each other
//     item its type in brackets. What the server calls an error is the call's error.
//  4. Arguments reach the server as the model wrote them, digits and all.
//  5. Whatever a server does, a call ends: by its answer, by the timeout ("mcp
//     timeout after Ns"), by the end of its context or of the mount, or by the loss of
//     the connection. Each is a result of the call. A server that is still there is told
//     that a call was given up, before its connection is taken down.
//  6. Behind a timeout the next call has a new connection, and no answer is ever
//     taken for another call's. Calls of others that are under way on the old
//     connection keep it until they end.
//  7. A lost server is connected again, with growing, jittered pauses, or at once
//     when a call needs it. Its tools stay on the roster meanwhile, as they do when
//     a new listing fails.
//  8. list_changed means a new listing. OnChange is called, from one goroutine a
//     server and never after Close, when the roster is another than before.
//  9. Messages, rosters, schemas, texts and what is logged of a server's own output
//     are bounded; output that is no message is passed over.
//  10. A child runs in a process group of its own, with the allowed part of the
//     environment and what the configuration adds. The group is gone when the
//     connection is.
//  11. No configured value of an environment variable, bearer or query of a URL is
//     written to the log or to an error of this package; the bearer goes to the
//     configured host alone.
//  12. After Close no goroutine and no process of a server is left.
package mcp
