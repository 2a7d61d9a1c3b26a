// Package web serves the page: a reader of the logs, in a browser. Its sources are in src,
// bundled by build into dist, which is part of the program.
//
// Guarantees:
//
//  1. The page runs only what comes with it, speaks only to its own server, and makes markup
//     only of sanitized text: its Content-Security-Policy says so.
//  2. /, and /s/ with one more segment, are the page. Every file of the bundle has its own
//     path. Everything else is 404.
//  3. A request that the gate does not admit gets 403 and nothing of the page.
//  4. What a browser keeps it asks about each time, and gets 304 for what did not change.
package web
